import Conditions

/// What a band that keeps its records for the server has left of its memory.
public struct BandRoom: Equatable, Sendable {
    /// The oldest seq that it may not free yet.
    public var oldestSeq: UInt32
    /// Records that it may not free yet.
    public var kept: UInt32
    /// Records until it overwrites the oldest of them; 0 = it does so already.
    public var left: UInt32
    /// Records that it holds at most.
    public var capacity: UInt32

    /// - Parameters:
    ///   - ackPoint: the highest seq that the band may free; 0 = none.
    ///   - newest: the newest seq that the band was seen to hold.
    ///   - capacity: in records. Band History Profile 1, "Info".
    public init(ackPoint: UInt32, newest: UInt32, capacity: UInt32) {
        oldestSeq = ackPoint == .max ? .max : ackPoint + 1
        kept = newest > ackPoint ? newest - ackPoint : 0
        left = capacity > kept ? capacity - kept : 0
        self.capacity = capacity
    }

    /// Less than a fifth is left: days, for a band that holds weeks.
    public var isScarce: Bool { capacity > 0 && kept > 0 && left < (capacity + 4) / 5 }

    /// Nil while there is room enough.
    public var problem: Problem? {
        guard isScarce else { return nil }
        return Problem(
            left > 0 ? .bandWaitsForServer : .bandWaitsForServerFull,
            ["kept": String(kept), "oldest": String(oldestSeq), "left": String(left)])
    }
}
