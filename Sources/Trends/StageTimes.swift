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
