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

    mutating func add(value: Int) {
        count += 1
        sum += Int64(value)
        min = Swift.min(min ?? value, value)
        max = Swift.max(max ?? value, value)
    }
}

/// The 30 minutes of the lowest mean, as sum and count.
public struct RestingWindow: Hashable, Sendable {
    public var sum: Int64
    public var count: Int

    public init(sum: Int64, count: Int) {
        self.sum = sum
        self.count = count
    }

    /// Compares the means without rounding.
    func isLower(than other: Self) -> Bool { sum * Int64(other.count) < other.sum * Int64(count) }
}

/// Milliseconds per sleep stage.
public struct StageTimes: Hashable, Sendable {
    public var awake: Int64 = 0
    public var light: Int64 = 0
    public var deep: Int64 = 0
    public var rem: Int64 = 0
    public var outOfBed: Int64 = 0

    public init() {}

    public var asleep: Int64 { light + deep + rem }
    public var isZero: Bool { self == StageTimes() }

    public subscript(stage: SleepStage) -> Int64 {
        get {
            switch stage {
            case .awake: awake
            case .light: light
            case .deep: deep
            case .rem: rem
            case .outOfBed: outOfBed
            }
        }
        set {
            switch stage {
            case .awake: awake = newValue
            case .light: light = newValue
            case .deep: deep = newValue
            case .rem: rem = newValue
            case .outOfBed: outOfBed = newValue
            }
        }
    }

    static func += (left: inout Self, right: Self) {
        for stage in SleepStage.allCases { left[stage] += right[stage] }
    }
}

/// The values of a `sleep_stage` sample.
public enum SleepStage: Int, CaseIterable, Sendable {
    case awake = 0
    case light = 1
    case deep = 2
    case rem = 3
    case outOfBed = 4
}
