import BandProfile

/// What the server knows of one ring of a band.
public struct KnownRing: Equatable, Sendable {
    public var ring: RingID
    /// Nil = no gateway has said so.
    public var completeThrough: UInt32?

    public init(ring: RingID, completeThrough: UInt32?) {
        self.ring = ring
        self.completeThrough = completeThrough
    }
}
