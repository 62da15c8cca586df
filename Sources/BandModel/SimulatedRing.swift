import BandProfile

/// One format of a band's ring: which records it holds, and everything that it ever held.
struct SimulatedRing: Codable, Equatable, Sendable {
    let id: UInt32
    let formatCount: UInt16
    var oldest: UInt32 = 1
    var newest: UInt32 = 0
    /// Acks above this are ignored. Band History Profile 1, "Ack".
    var everSent: UInt32 = 0
    var generation: UInt32 = 0
    /// What the ring can hold now, ascending in seq; overwritten and freed ones stay, for the truth.
    var segments: [RecordSegment] = []
    /// Rolled back: measured once, then forgotten by the band.
    var forgotten: [RecordSegment] = []

    init(id: UInt32, formatCount: UInt16) {
        self.id = id
        self.formatCount = formatCount
    }

    var isEmpty: Bool { oldest > newest }

    /// Adds records that end at `now`, as one segment or by stretching the last one.
    mutating func append(
        _ count: UInt32, until now: Int64, interval: Int64, clock: SimulatedClock, offsetQuarterHours: Int8,
        isLifelike: Bool = false
    ) {
        guard count > 0 else { return }
        let latest = segments.last.map { $0.start + Int64($0.count) * $0.interval }
        if let last = segments.last, let latest, last.clock == clock, last.generation == generation,
            last.interval == interval, last.offsetQuarterHours == offsetQuarterHours,
            abs(latest + Int64(count) * interval - now) <= 2 * interval
        {
            segments[segments.count - 1].count += count
        } else {
            // Time never runs backwards within a ring, also when records were made faster than the clock.
            let start = max(now - Int64(count) * interval, latest ?? .min)
            segments.append(
                RecordSegment(
                    firstSeq: newest + 1, count: count, start: start, interval: interval, clock: clock,
                    generation: generation, offsetQuarterHours: offsetQuarterHours, isLifelike: isLifelike))
        }
        newest += count
    }

    /// Forgets every record above `seq` but keeps the ring id: what a band with a lost flash page may do.
    mutating func rollBack(to seq: UInt32) {
        guard seq < newest else { return }
        while let last = segments.last, last.end > seq + 1 {
            segments.removeLast()
            let kept = last.firstSeq > seq ? 0 : seq + 1 - last.firstSeq
            var lost = last
            lost.firstSeq += kept
            lost.start += Int64(kept) * last.interval
            lost.count -= kept
            forgotten.append(lost)
            if kept > 0 {
                var rest = last
                rest.count = kept
                segments.append(rest)
            }
        }
        newest = seq
        oldest = min(oldest, newest + 1)
        everSent = min(everSent, newest)
        generation += 1
    }

    /// The segment that holds `seq`, which must be 1...newest.
    func segmentIndex(of seq: UInt32) -> Int {
        var low = 0
        var high = segments.count - 1
        while low < high {
            let middle = (low + high) / 2
            if seq < segments[middle].end { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
