import BandProfile
import GatewayModel
import UploadDecisions

/// What the uploader tells the log: constant text and fields, never a value, a token or a full address.
public enum UploadEvent: Equatable, Sendable {
    /// A run has samples to send, or failed before it came to one. `isRepeat`: the one before it failed.
    case runStarted(syncID: String?, pending: Int?, isRepeat: Bool)
    case runFinished(UploadRun.Report, end: RunEnd, pending: Int?)
    /// `isRepeat`: as the one before it. The code is ingest API 1's, the cause the gateway's own closer one.
    case runFailed(UploadRun.Report, code: String, cause: String, pending: Int?, isRepeat: Bool)
    case batchSettled(
        device: DeviceID, ring: RingID, confirmed: Int, accepted: Int, duplicates: Int, corrected: Int,
        conflicts: Int, rejected: Int, held: Int)
    /// Set aside; the rows stay in the database.
    case quarantined(device: DeviceID, ring: RingID, count: Int, code: String)
    /// History waits; nothing failed.
    case meteredWaitBegan(MeteredWait)
    case meteredWaitEnded
    case problemBegan(Problem)
    case problemEnded(code: String)
    case gapsSent(device: DeviceID, count: Int)
    /// Corrections that wait go above versions that the server has seen.
    case versionsRaised(device: DeviceID, count: Int)
    /// Another gateway said something better, or first.
    case adopted(device: DeviceID, count: Int)
    /// The server said who owns a band, and it is another than before.
    case lease(device: DeviceID, isOurs: Bool)
    /// This token may not own bands.
    case leaseForbidden
    case personSent
    case personRefused
    /// What other gateways said can't be read with this token.
    case readingForbidden
    case compressionOff
    /// The token and the samples travel readable for whoever is on the way.
    case notEncrypted

    public enum Level: Sendable { case debug, info, notice, warning }

    /// Why a run ended that did not fail.
    public enum RunEnd: String, Sendable, CaseIterable {
        /// Nothing is left that may be sent now.
        case idle
        /// History has to wait for another time or connection.
        case metered
        /// A person paused it.
        case paused
        case stopped
    }

    /// The band of which more may be acked now, where it waits for the server.
    public var mayChangeAcks: DeviceID? {
        switch self {
        case .batchSettled(let device, _, _, _, _, _, _, _, _), .quarantined(let device, _, _, _),
            .gapsSent(let device, _):
            device
        case .lease, .leaseForbidden, .runStarted, .runFinished, .runFailed, .meteredWaitBegan,
            .meteredWaitEnded, .problemBegan,
            .problemEnded, .versionsRaised, .adopted, .personSent, .personRefused, .readingForbidden,
            .compressionOff, .notEncrypted:
            nil
        }
    }

    public var level: Level {
        switch self {
        // A week without network is one line, not a thousand.
        case .runStarted(_, _, let isRepeat), .runFailed(_, _, _, _, let isRepeat):
            isRepeat ? .debug : .info
        case .runFinished: .info
        case .batchSettled, .gapsSent, .adopted, .personSent, .meteredWaitBegan, .meteredWaitEnded: .info
        case .problemEnded, .compressionOff, .versionsRaised, .lease: .notice
        case .quarantined, .problemBegan, .notEncrypted, .personRefused, .readingForbidden, .leaseForbidden:
            .warning
        }
    }

    /// What a program finds it by.
    public var name: StaticString {
        switch self {
        case .runStarted: "upload_started"
        case .runFinished: "upload_finished"
        case .runFailed: "upload_failed"
        case .meteredWaitBegan, .meteredWaitEnded, .batchSettled, .quarantined, .problemBegan, .problemEnded,
            .gapsSent, .versionsRaised, .adopted, .lease, .leaseForbidden,
            .personSent, .personRefused, .readingForbidden, .compressionOff, .notEncrypted:
            "upload"
        }
    }

    public var text: String {
        switch self {
        case .runStarted: "The upload begins."
        case .runFinished: "The upload came to its end."
        case .runFailed: "The upload failed; samples are kept and sent later."
        case .batchSettled: "The server answered a batch."
        case .quarantined:
            "Samples were set aside because the server can't take them; they stay in the database."
        case .meteredWaitBegan(.hours):
            "History waits for the end of metered_hours; questions of bands, gaps and status still go."
        case .meteredWaitBegan(.connection):
            "History waits for a connection that is not metered; questions of bands, gaps and status still go."
        case .meteredWaitEnded: "History may go up again."
        case .problemBegan(let problem): "\(problem.text) \(problem.remedy)"
        case .problemEnded: "The upload works again."
        case .gapsSent: "The server took the gaps of a band."
        case .versionsRaised:
            "The server has seen newer corrections of this band; those that wait were renumbered above them."
        case .adopted: "What another gateway said of samples was taken over."
        case .lease(_, true): "This gateway owns the band, says the server."
        case .lease(_, false):
            "Another gateway owns the band, says the server: it is only observed here until that is over."
        case .leaseForbidden: UploadProblem.leaseForbidden.text
        case .personSent: "The server has a person and their zones as they are here."
        case .personRefused: "The server does not take a person and their zones; samples go up all the same."
        case .readingForbidden:
            "The server does not let this token read samples: what other gateways said of them is not seen here."
        case .compressionOff: "The server takes no gzip; batches go up as they are."
        case .notEncrypted:
            "The server's url is plain http to another host: the token and the samples can be read."
        }
    }

    /// Names in the style of the journal's fields.
    public var fields: [(name: String, value: String)] {
        switch self {
        case .runStarted(let syncID, let pending, _):
            Self.fields(syncID: syncID, pending: pending)
        case .runFinished(let report, let end, let pending):
            Self.fields(report, pending) + [("end", end.rawValue)]
        case .runFailed(let report, let code, let cause, let pending, _):
            Self.fields(report, pending) + [("error_code", code), ("cause", cause)]
        case .batchSettled(
            let device, let ring, let confirmed, let accepted, let duplicates, let corrected, let conflicts,
            let rejected, let held):
            [
                ("device", device.text), ("ring", ring.description), ("confirmed", "\(confirmed)"),
                ("accepted", "\(accepted)"), ("duplicates", "\(duplicates)"), ("corrected", "\(corrected)"),
                ("conflicts", "\(conflicts)"), ("rejected", "\(rejected)"), ("held", "\(held)"),
            ]
        case .quarantined(let device, let ring, let count, let code):
            [("device", device.text), ("ring", ring.description), ("count", "\(count)"), ("code", code)]
        case .meteredWaitBegan(.hours(let until)):
            [("until", "\(until / 60):\(until % 60 < 10 ? "0" : "")\(until % 60)")]
        case .problemBegan(let problem): [("code", problem.code)]
        case .problemEnded(let code): [("code", code)]
        case .gapsSent(let device, let count), .versionsRaised(let device, let count),
            .adopted(let device, let count):
            [("device", device.text), ("count", "\(count)")]
        case .lease(let device, _): [("device", device.text)]
        case .meteredWaitBegan(.connection), .meteredWaitEnded, .compressionOff, .notEncrypted, .personSent,
            .personRefused, .readingForbidden, .leaseForbidden:
            []
        }
    }

    private static func fields(syncID: String?, pending: Int?) -> [(name: String, value: String)] {
        [("sync_id", syncID), ("pending", pending.map { "\($0)" })].compactMap { name, value in
            value.map { (name, $0) }
        }
    }

    private static func fields(_ report: UploadRun.Report, _ pending: Int?) -> [(name: String, value: String)]
    {
        fields(syncID: report.syncID, pending: pending) + [
            ("requests", "\(report.traffic.requests)"), ("batches", "\(report.batches)"),
            ("samples", "\(report.samples)"), ("confirmed", "\(report.confirmed)"),
            ("rejected", "\(report.rejected)"), ("held", "\(report.held)"),
            ("bytes_sent", "\(report.traffic.bytesSent)"),
            ("bytes_received", "\(report.traffic.bytesReceived)"),
            ("duration_ms", "\(Int64(report.duration / .milliseconds(1)))"),
        ]
    }
}
