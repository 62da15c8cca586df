import BandProfile
import GatewayModel

/// What the uploader tells the log: constant text and fields, never a value, a token or a full address.
public enum UploadEvent: Equatable, Sendable {
    case batchSettled(
        device: DeviceID, ring: RingID, confirmed: Int, accepted: Int, duplicates: Int, corrected: Int,
        conflicts: Int, rejected: Int, held: Int)
    /// Set aside; the rows stay in the database.
    case quarantined(device: DeviceID, ring: RingID, count: Int, code: String)
    case problemBegan(Problem)
    case problemEnded(code: String)
    case gapsSent(device: DeviceID, count: Int)
    case compressionOff
    /// The token and the samples travel readable for whoever is on the way.
    case notEncrypted

    public enum Level: Sendable { case info, notice, warning }

    public var level: Level {
        switch self {
        case .batchSettled, .gapsSent: .info
        case .problemEnded, .compressionOff: .notice
        case .quarantined, .problemBegan, .notEncrypted: .warning
        }
    }

    public var text: String {
        switch self {
        case .batchSettled: "The server answered a batch."
        case .quarantined:
            "Samples were set aside because the server can't take them; they stay in the database."
        case .problemBegan(let problem): "\(problem.text) \(problem.remedy)"
        case .problemEnded: "The upload works again."
        case .gapsSent: "The server took the gaps of a band."
        case .compressionOff: "The server takes no gzip; batches go up as they are."
        case .notEncrypted:
            "The server's url is plain http to another host: the token and the samples can be read."
        }
    }

    /// Names in the style of the journal's fields.
    public var fields: [(name: String, value: String)] {
        switch self {
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
        case .problemBegan(let problem): [("code", problem.code)]
        case .problemEnded(let code): [("code", code)]
        case .gapsSent(let device, let count): [("device", device.text), ("count", "\(count)")]
        case .compressionOff, .notEncrypted: []
        }
    }
}
