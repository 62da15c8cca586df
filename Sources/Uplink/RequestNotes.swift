import HTTPClient
import IngestAPI
import UploadDecisions

/// What the requests of the upload thread cost, and what the last refused certificate said of itself.
final class RequestNotes {
    private(set) var total = Traffic()
    private(set) var certificates: [CertificateDates] = []

    func count(sent: Int, received: Int) {
        total += Traffic(requests: 1, bytesSent: sent, bytesReceived: received)
    }

    func failed(_ failure: HTTPFailure, sent: Int) {
        count(sent: sent, received: 0)
        guard failure.code == .clock else { return }
        certificates = failure.certificates.map {
            CertificateDates(from: APITime(seconds: $0.notBefore), to: APITime(seconds: $0.notAfter))
        }
    }

    /// The first one, the server's own first, that is not valid at this time.
    func refused(at wall: APITime) -> CertificateDates? {
        certificates.first { wall < $0.from || wall > $0.to } ?? certificates.first
    }
}

extension APITime {
    /// Since 1970. What lies outside the years of RFC 3339 is the nearest that does not.
    fileprivate init(seconds: Int64) {
        let (milliseconds, isTooFar) = seconds.multipliedReportingOverflow(by: 1000)
        self.init(milliseconds: isTooFar ? (seconds < 0 ? .min : .max) : milliseconds)
    }
}
