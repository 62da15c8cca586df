import GatewayModel
import IngestAPI

/// Times as a clock on the wall shows them, for people who read them in one zone.
public struct LocalTimes: Sendable {
    /// The zone's IANA name.
    public let zone: String
    /// Minutes east of UTC at a moment.
    private let offset: @Sendable (Timestamp) -> Int
    /// Its year is left out of dates.
    private let now: Timestamp

    public init(zone: String, now: Timestamp, offset: @escaping @Sendable (Timestamp) -> Int) {
        self.zone = zone
        self.now = now
        self.offset = offset
    }

    public static func utc(now: Timestamp) -> LocalTimes { LocalTimes(zone: "UTC", now: now) { _ in 0 } }

    /// `3 Oct 14:05 +02:00`, with the year unless it is this one.
    func moment(_ time: Timestamp) -> String { "\(clock(time)) \(Self.text(offset(time)))" }

    /// `3 Oct 14:05 to 9 Oct 08:12 +02:00`: the offset once when it is the same.
    func span(_ from: Timestamp, _ to: Timestamp) -> String {
        offset(from) == offset(to)
            ? "\(clock(from)) to \(moment(to))" : "\(moment(from)) to \(moment(to))"
    }

    /// RFC 3339 in this zone, without what is zero at its end: it can be copied into a command.
    public func stamp(_ time: Timestamp) -> String {
        let local = local(time)
        let fraction = time.milliseconds % 1000 == 0 ? "" : String(local.dropFirst(19).prefix(4))
        let seconds = fraction.isEmpty && time.milliseconds % 60_000 == 0 ? "" : local.dropFirst(16).prefix(3)
        let minutes = offset(time)
        return local.prefix(16) + seconds + fraction + (minutes == 0 ? "Z" : Self.digits(minutes))
    }

    private func clock(_ time: Timestamp) -> String {
        let text = local(time)
        let year = text.prefix(4)
        let names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let month = names[(Int(text.dropFirst(5).prefix(2)) ?? 1) - 1]
        let day = Int(text.dropFirst(8).prefix(2)) ?? 1
        let yearText = year == local(now).prefix(4) ? "" : "\(year) "
        return "\(day) \(month) \(yearText)\(text.dropFirst(11).prefix(5))"
    }

    /// RFC 3339 in UTC of the moment at which UTC clocks show what clocks of the zone show at `time`.
    private func local(_ time: Timestamp) -> String {
        TimeText.exact(Timestamp(milliseconds: time.milliseconds + Int64(offset(time)) * 60_000))
    }

    private static func text(_ minutes: Int) -> String { minutes == 0 ? "UTC" : digits(minutes) }

    private static func digits(_ minutes: Int) -> String {
        let two = { (number: Int) in number < 10 ? "0\(number)" : "\(number)" }
        return "\(minutes < 0 ? "-" : "+")\(two(abs(minutes) / 60)):\(two(abs(minutes) % 60))"
    }
}
