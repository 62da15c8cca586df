/// What samples add up to, in integers: nothing is rounded before a bucket is made of it.
///
/// Only what the type needs is filled: sums and extremes for `heart_rate`, `spo2` and `steps`, stages for `sleep_stage`.
public struct TrendFigures: Hashable, Sendable {
    public var count = 0
    public var sum: Int64 = 0
    /// Nil when there is no sample.
    public var min: Int?
    public var max: Int?
    /// Heart rate only.
    public var resting: RestingWindow?
    /// Sleep only.
    public var stages = StageTimes()

    public init() {}

    public var isEmpty: Bool { count == 0 && stages.isZero }

    /// Of other samples of the same type, without `resting` and stages.
    mutating func add(_ other: TrendFigures) {
        count += other.count
        sum += other.sum
        min = [min, other.min].compactMap { $0 }.min()
        max = [max, other.max].compactMap { $0 }.max()
    }

    mutating func add(value: Int) {
        count += 1
        sum += Int64(value)
        min = Swift.min(min ?? value, value)
        max = Swift.max(max ?? value, value)
    }
}
