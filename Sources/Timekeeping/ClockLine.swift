/// True time over the time of one clock, as one or two readings of it tell: what a run of records is timed by.
public struct ClockLine: Equatable, Sendable {
    private let first: Point
    /// The same as `first` where only one reading read this clock.
    private let second: Point
    /// Offset at `second` minus offset at `first`, per ms of the band's clock; 0 where the offset is held.
    private let slope: Double
    /// Nothing is measured later than this.
    private let latest: Int64

    private struct Point: Equatable {
        var bandTime: Int64
        var offset: Int64
        var bound: Int64
    }

    /// ms by which a record may be stamped after its moment: a band may round its times up to the next minute.
    private static let rounding: Int64 = 60_000

    /// One of the bracket's readings has to read the clock.
    public init(_ bracket: SeqBracket, clockID: UInt16) {
        func point(_ reading: ClockPoint?) -> Point? {
            guard let reading, reading.clockID == clockID else { return nil }
            return Point(bandTime: reading.bandTime, offset: reading.offset, bound: reading.bound)
        }
        let (before, after) = (point(bracket.before), point(bracket.after))
        first = before ?? after ?? Point(bandTime: 0, offset: 0, bound: 0)
        second = after ?? first
        let length = second.bandTime - first.bandTime
        slope = length > 0 ? Double(second.offset - first.offset) / Double(length) : 0
        latest = bracket.after.map { $0.time + $0.bound + Self.rounding } ?? .max
    }

    /// Nil when the readings contradict the time.
    public func estimate(_ bandTime: Int64) -> TimeEstimate? {
        let (low, high) = range(at: bandTime)
        guard low <= high, isPossible(low) else { return nil }
        let time = min(max(bandTime + offset(at: bandTime), low), high)
        return TimeEstimate(
            time: time, bound: TimeEstimate.rounded(max(high - time, time - low)), isUncertain: false)
    }

    func isPossible(_ low: Int64) -> Bool { low <= latest }

    /// Where both readings, with what the clock may have drifted since, leave room.
    func range(at bandTime: Int64) -> (low: Int64, high: Int64) {
        let firstReach = first.bound + Drift.limit(over: bandTime - first.bandTime)
        let secondReach = second.bound + Drift.limit(over: bandTime - second.bandTime)
        return (
            bandTime + max(first.offset - firstReach, second.offset - secondReach),
            bandTime + min(first.offset + firstReach, second.offset + secondReach)
        )
    }

    /// Interpolated between the readings; outside, the nearest one holds.
    func offset(at bandTime: Int64) -> Int64 {
        let length = second.bandTime - first.bandTime
        let drift = Drift.limit(over: length)
        // A reading that is much vaguer than the other, drift included, adds nothing.
        if second.bound >= first.bound + drift { return first.offset }
        if first.bound >= second.bound + drift { return second.offset }
        let position = bandTime - first.bandTime
        guard length > 0, position > 0 else { return first.offset }
        guard position < length else { return second.offset }
        return first.offset + Int64(slope * Double(position))
    }
}
