import BandProfile

/// Samples whose time bound touches a border between two wearers: they stay unassigned.
public struct UndecidedRange: Equatable, Sendable {
    public var device: DeviceID
    public var ring: RingID
    public var seqs: ClosedRange<UInt32>
    public var count: Int
    /// When they were recorded, as published.
    public var from: Timestamp
    public var to: Timestamp

    public init(
        device: DeviceID, ring: RingID, seqs: ClosedRange<UInt32>, count: Int, from: Timestamp, to: Timestamp
    ) {
        self.device = device
        self.ring = ring
        self.seqs = seqs
        self.count = count
        self.from = from
        self.to = to
    }
}
