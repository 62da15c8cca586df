/// Whether a storage has room for what it is sent, as far as its last writes tell: a small one may fit where a large one
/// does not.
struct RoomDoubt: Equatable, Sendable {
    /// Proves room for any group of requests: more than one full batch.
    static let proof = 1 << 20
    private static let pauses = (first: Duration.seconds(1), longest: Duration.seconds(60))

    /// Nothing as large was written since as much could not be.
    private var doubted: Int?
    private var pause = Self.pauses.first
    private var nextProof: ContinuousClock.Instant?

    var isDoubtful: Bool { doubted != nil }

    /// So many bytes could not be written. 0 = it did not come to writing, which says nothing about room.
    mutating func failed(_ bytes: Int) {
        guard bytes > 0 else { return }
        // A proof that fails tells nothing new of what requests need.
        if isDoubtful, bytes >= Self.proof { return }
        doubted = max(doubted ?? 0, min(bytes, Self.proof))
    }

    /// So many bytes are durable.
    mutating func wrote(_ bytes: Int) {
        if let doubted, bytes >= doubted { self = RoomDoubt() }
    }

    /// Whether a proof is due. It costs a write of its size: from one to the next it takes longer and longer.
    mutating func mayProve(at now: ContinuousClock.Instant) -> Bool {
        if let nextProof, now < nextProof { return false }
        nextProof = now + pause
        pause = min(pause * 2, Self.pauses.longest)
        return true
    }
}
