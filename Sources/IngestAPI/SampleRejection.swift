/// Why one sample can't be taken. All but `consent_missing` are permanent.
public enum RejectionCode: String, Codable, CaseIterable, Sendable {
    case unknownType = "unknown_type"
    case valueOutOfRange = "value_out_of_range"
    case badTime = "bad_time"
    case badField = "bad_field"
    /// Held by the gateway until consent.
    case consentMissing = "consent_missing"
}

/// A sample's refusal. The message names the field and never its value.
public struct SampleRejection: Error, Equatable, Sendable {
    public var code: RejectionCode
    public var message: String
    /// The sample's seq, where it could be read at all.
    public var seq: UInt32?

    public init(_ code: RejectionCode, _ message: String, seq: UInt32? = nil) {
        self.code = code
        self.message = message
        self.seq = seq
    }
}
