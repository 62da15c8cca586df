import IngestAPI

/// What `GET /v1/samples` asks for.
public struct SampleQuery: Equatable, Sendable {
    public enum Subject: Equatable, Sendable {
        case device(String)
        case person(String)
    }

    public var subject: Subject
    public var type: APISampleType?
    /// Inclusive.
    public var from: APITime?
    /// Exclusive.
    public var to: APITime?
    /// 1 to 1,000.
    public var limit: Int
    /// The last sample of the page before.
    public var after: SamplePosition?

    public init(
        subject: Subject, type: APISampleType? = nil, from: APITime? = nil, to: APITime? = nil,
        limit: Int = IngestAPI.maxSamplesPerPage, after: SamplePosition? = nil
    ) {
        self.subject = subject
        self.type = type
        self.from = from
        self.to = to
        self.limit = limit
        self.after = after
    }
}

/// A place in the order of samples: time, device, ring, seq, and the type where a band repeats a seq.
public struct SamplePosition: Equatable, Sendable {
    public var recordedAt: APITime
    public var device: String
    public var ring: String
    public var seq: UInt32
    public var type: APISampleType

    public init(recordedAt: APITime, device: String, ring: String, seq: UInt32, type: APISampleType) {
        self.recordedAt = recordedAt
        self.device = device
        self.ring = ring
        self.seq = seq
        self.type = type
    }

    public init(of stored: StoredSample) {
        self.init(
            recordedAt: stored.sample.recordedAt, device: stored.deviceID, ring: stored.ring,
            seq: stored.sample.seq, type: stored.sample.type)
    }

    /// Opaque to clients; made of characters that need no escape in a URL.
    public var cursor: String {
        "\(recordedAt.milliseconds)~\(ring)~\(seq)~\(type.rawValue)~\(device)"
    }

    public init?(cursor: String) {
        let parts = cursor.split(separator: "~", omittingEmptySubsequences: false)
        guard parts.count == 5, let milliseconds = Int64(parts[0]), IngestAPI.isRing(parts[1]),
            let seq = UInt32(parts[2]), let type = APISampleType(rawValue: String(parts[3])),
            IngestAPI.isDeviceID(parts[4])
        else { return nil }
        self.init(
            recordedAt: APITime(milliseconds: milliseconds), device: String(parts[4]), ring: String(parts[1]),
            seq: seq, type: type)
    }
}
