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
        let what =
            left > 0
            ? "Its memory has room for \(left) more; then it overwrites the oldest, which are stored here and nowhere else."
            : "Its memory is full: it overwrites the oldest, which are stored here and nowhere else."
        return Problem(
            code: "band_waits_for_server",
            text: "The band keeps \(kept) records for the server, from seq \(oldestSeq) on. \(what)",
            remedy:
                "'bandferry upload' says what keeps the upload. Nothing is lost while this gateway has its "
                + "storage; with ack = stored the band need not wait for the server.")
    }
}
