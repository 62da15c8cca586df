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
        guard reads(clockID) else {
            return unread(bandTime: bandTime, block: block, neighbours: neighbours)
        }
        let line = ClockLine(self, clockID: clockID)
        guard !isBroken, let estimate = line.estimate(bandTime) else {
            return squeezed(bandTime + line.offset(at: bandTime))
        }
        return estimate
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
