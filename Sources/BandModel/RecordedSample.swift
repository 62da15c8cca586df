import BandProfile

/// One record that a simulated band has ever measured: the truth that tests compare a server with.
public struct RecordedSample: Equatable, Sendable {
    public var ring: RingID
    /// Rises with each roll back of the ring, so that two records under one seq can be told apart.
    public var generation: UInt32
    /// Exactly as the band sends it, content faults included.
    public var record: HistoryRecord
    public var clockID: UInt16
    /// When it was measured, milliseconds since 1970-01-01 by true time.
    public var trueMilliseconds: Int64
}

/// Records that a simulated band no longer has although no ack freed them.
public struct BandLoss: Codable, Equatable, Sendable {
    public enum Cause: String, Codable, Sendable {
        case overwritten
        case reformatted
        case rolledBack = "rolled_back"
    }

    public var ring: UInt32
    public var generation: UInt32
    public var firstSeq: UInt32
    public var lastSeq: UInt32
    public var cause: Cause
}

/// What a band did with an ack.
public enum AckOutcome: Equatable, Sendable {
    /// This many records were freed; 0 for a repeated ack.
    case honoured(freed: Int)
    /// Above the last seq ever sent from this ring.
    case ignored
    /// Lost on the air by the fault script; the band never saw it.
    case lost
    /// Not four bytes.
    case malformed
}
