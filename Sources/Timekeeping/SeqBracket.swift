/// The two readings between which a run of a ring's records was measured, by their seqs.
///
/// Within one clock_id the offset is interpolated between the two; where only one of them read the clock, that one
/// holds and the bound widens by `Drift.ppm`; where neither did, the records are placed between their neighbours.
public struct SeqBracket: Equatable, Sendable {
    public var before: ClockPoint?
    public var after: ClockPoint?

    public init(before: ClockPoint?, after: ClockPoint?) {
        self.before = before
        self.after = after
    }

    /// One of the two read this clock.
    public func reads(_ clockID: UInt16) -> Bool { before?.clockID == clockID || after?.clockID == clockID }

    /// `isBroken`: readings showed that this clock does not keep time. `block` (band times of all that the clock timed)
    /// and `neighbours` matter for a clock that neither reading read.
    public func estimate(
        bandTime: Int64, clockID: UInt16, isBroken: Bool = false, block: ClosedRange<Int64>? = nil,
        neighbours: Neighbours = Neighbours()
    ) -> TimeEstimate {
        let first = before?.clockID == clockID ? before : nil
        let second = after?.clockID == clockID ? after : nil
        guard first != nil || second != nil else {
            return unread(bandTime: bandTime, block: block, neighbours: neighbours)
        }
        let estimate = read(bandTime: bandTime, first: first, second: second)
        return isBroken ? squeezed(estimate.time) : estimate
    }

    // MARK: A clock that was read

    /// ms by which a record may be stamped after its moment.
    private static let rounding: Int64 = 60_000

    private func read(bandTime: Int64, first: ClockPoint?, second: ClockPoint?) -> TimeEstimate {
        var low = Int64.min / 4
        var high = Int64.max / 4
        for point in [first, second].compactMap({ $0 }) {
            let reach = point.bound + Drift.limit(over: bandTime - point.bandTime)
            low = max(low, bandTime + point.offset - reach)
            high = min(high, bandTime + point.offset + reach)
        }
        // Nothing is measured after it was read; a band may round its times up to the next minute. Records that were
        // written late may well be older than those before.
        let isImpossible = after.map { low > $0.time + $0.bound + Self.rounding } ?? false
        guard low <= high, !isImpossible else {
            return squeezed(bandTime + interpolated(bandTime, first, second))
        }
        let time = min(max(bandTime + interpolated(bandTime, first, second), low), high)
        return TimeEstimate(
            time: time, bound: TimeEstimate.rounded(max(high - time, time - low)), isUncertain: false)
    }

    /// The offset at a band time.
    private func interpolated(_ bandTime: Int64, _ first: ClockPoint?, _ second: ClockPoint?) -> Int64 {
        guard let first, let second else { return (first ?? second)?.offset ?? 0 }
        let length = second.bandTime - first.bandTime
        let drift = Drift.limit(over: length)
        // A reading that is much vaguer than the other, drift included, adds nothing.
        if second.bound >= first.bound + drift { return first.offset }
        if first.bound >= second.bound + drift { return second.offset }
        let position = bandTime - first.bandTime
        guard length > 0, position > 0 else { return first.offset }
        guard position < length else { return second.offset }
        // A drift of years over years stays far within 64 bits in whole ms and ppm.
        return first.offset + Int64(Double(second.offset - first.offset) * Double(position) / Double(length))
    }

    /// A time that contradicts itself: somewhere between the two readings.
    private func squeezed(_ time: Int64) -> TimeEstimate {
        guard let low = lowest, let high = highest, low <= high else {
            return TimeEstimate(time: min(time, highest ?? time), bound: nil, isUncertain: true)
        }
        let time = min(max(time, low), high)
        return TimeEstimate(
            time: time, bound: TimeEstimate.rounded(max(high - time, time - low)), isUncertain: true)
    }

    private var lowest: Int64? { before.map { $0.time - $0.bound - $0.newestAge } }
    private var highest: Int64? { after.map { $0.time + $0.bound } }

    // MARK: A clock that was never read

    /// 2015-01-01T00:00:00Z, ms: years before Band History Profile 1.
    private static let firstBands: Int64 = 1_420_070_400_000

    /// Where its neighbours in the ring end and begin, ms; each is sure.
    public struct Neighbours: Equatable, Sendable {
        public var notBefore: Int64?
        public var notAfter: Int64?

        public init(notBefore: Int64? = nil, notAfter: Int64? = nil) {
            self.notBefore = notBefore
            self.notAfter = notAfter
        }
    }

    /// The records of one clock are a block of known length that lies somewhere between its neighbours.
    private func unread(
        bandTime: Int64, block: ClosedRange<Int64>?, neighbours: Neighbours
    ) -> TimeEstimate {
        let low = max(lowest ?? .min, neighbours.notBefore ?? .min)
        let high = min(highest ?? .max, neighbours.notAfter ?? .max)
        let block = block ?? bandTime...bandTime
        let band = min(block.lowerBound, bandTime)...max(block.upperBound, bandTime)
        let drift = Drift.limit(over: band.upperBound - band.lowerBound)
        let fromStart = bandTime - band.lowerBound
        let fromEnd = band.upperBound - bandTime
        switch (low > .min, high < .max) {
        case (true, true):
            let earliest = low + fromStart - drift
            let latest = high - fromEnd + drift
            // A block that is longer than its room contradicts itself; the room holds it all the same.
            let estimate =
                earliest <= latest
                ? TimeEstimate(uncertainBetween: earliest, and: latest)
                : TimeEstimate(uncertainBetween: low, and: high)
            return TimeEstimate(
                time: estimate.time, bound: estimate.bound.map(TimeEstimate.rounded), isUncertain: true)
        case (true, false): return TimeEstimate(time: low + fromStart, bound: nil, isUncertain: true)
        // Most likely just before what follows, and no earlier than there were such bands.
        case (false, true):
            let time = high - fromEnd
            return TimeEstimate(
                time: time, bound: TimeEstimate.rounded(max(0, time - Self.firstBands) + drift),
                isUncertain: true)
        // Its own word, which nobody vouches for.
        case (false, false): return TimeEstimate(time: bandTime, bound: nil, isUncertain: true)
        }
    }
}
