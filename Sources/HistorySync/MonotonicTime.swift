/// Milliseconds of a clock that never steps. Only differences mean anything.
public struct MonotonicTime: Comparable, Hashable, Sendable {
    public var milliseconds: Int64

    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    public static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }

    public static func + (time: Self, milliseconds: Int64) -> Self {
        MonotonicTime(milliseconds: time.milliseconds + milliseconds)
    }
}
