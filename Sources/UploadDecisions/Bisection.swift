/// Finds the sample for which a batch is refused, by the number of samples to send next.
///
/// It remembers counts only. The next try reads the outbox anew, so a row that was corrected meanwhile goes out as it
/// is now, other devices have their turn between two halves, and a lost connection costs nothing.
public struct Bisection: Equatable, Sendable {
    /// The bad sample is among this many at the front of the outbox; 0 = nothing is suspected.
    public private(set) var suspects = 0

    public init() {}

    /// How many samples the next batch may hold.
    public func limit(full: Int) -> Int {
        suspects == 0 ? full : min(full, max(1, suspects / 2))
    }

    /// The first `count` were refused together. For one sample that settles it.
    public mutating func refused(_ count: Int) {
        suspects = count > 1 ? count : 0
    }

    /// The first `count` left the outbox: the bad one is behind them.
    public mutating func passed(_ count: Int) {
        suspects = max(0, suspects - count)
    }
}
