/// How long something took, counted by upper bounds. All in microseconds.
public struct Histogram: Equatable, Sendable {
    /// From 1 ms on a good SSD to the half minute of a dying SD card.
    public static let latencyBounds: [Int64] = [
        1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
        10_000_000,
        30_000_000,
    ]

    public let bounds: [Int64]
    /// One for each bound and one for what is above the last.
    public private(set) var counts: [Int64]
    public private(set) var sum: Int64 = 0

    public init(bounds: [Int64] = latencyBounds) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count + 1)
    }

    /// A clock that stepped back makes no negative time.
    public mutating func add(_ microseconds: Int64) {
        let value = max(0, microseconds)
        counts[bounds.firstIndex { value <= $0 } ?? bounds.count] += 1
        sum += value
    }

    public var count: Int64 { counts.reduce(0, +) }
}
