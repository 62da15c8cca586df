import GatewayModel
import HTTPClient
import UploadDecisions

/// The server's `Date` as a second clock: only what a server said whose certificate was verified, and said just now.
struct ServerDate {
    /// Date, and when the request was sent and answered on the upload clock, ms.
    typealias Hook = @Sendable (_ date: Timestamp, _ sent: Int64, _ answered: Int64) -> Void

    let clock: any UploadClock
    /// Nil for plain http, where anybody on the way may have said it. Over https the client always verifies.
    private let hook: Hook?

    init(url: String, clock: any UploadClock, hook: @escaping Hook) {
        self.clock = clock
        self.hook = url.lowercased().hasPrefix("https://") ? hook : nil
    }

    var now: Int64 { Int64(clock.monotonic / .milliseconds(1)) }

    func heard(_ response: HTTPResponse, sent: Int64) {
        guard let hook, let date = Self.date(of: response) else { return }
        hook(date, sent, now)
    }

    /// Nil for an answer out of a cache, which tells its age (RFC 9111, section 5.1), and where it is not clear which
    /// date is meant.
    private static func date(of response: HTTPResponse) -> Timestamp? {
        guard response.header("Age") == nil, let text = response.header("Date"),
            response.headers.count(where: { $0.name.lowercased() == "date" }) == 1
        else { return nil }
        return HTTPDate.time(text).map { Timestamp(milliseconds: $0.milliseconds) }
    }
}
