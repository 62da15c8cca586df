import BandProfile

/// What a band keeps in flash: everything that outlives a lost link, and a restart of the simulator.
struct BandState: Codable, Equatable, Sendable {
    /// How many events of each kind there were, for faults that strike the Nth.
    struct Counters: Codable, Equatable, Sendable {
        var notifications: UInt64 = 0
        var ends: UInt64 = 0
        var acks: UInt64 = 0
    }

    var options: SimulatedBandOptions
    var ring: SimulatedRing
    var clock: SimulatedClock
    var pastRings: [SimulatedRing] = []
    var losses: [BandLoss] = []
    var counters = Counters()
    /// The latest true time that the band was told.
    var now: Int64

    init(options: SimulatedBandOptions, now: Int64) {
        self.options = options
        self.now = now
        ring = SimulatedRing(id: Self.ringID(seed: options.seed, formatCount: 1), formatCount: 1)
        let span = Int64(options.records) * options.recordIntervalMilliseconds
        clock = SimulatedClock(
            id: 1, offsetMilliseconds: options.clockOffsetMilliseconds, driftPPM: options.driftPPM,
            reference: now,
            bootedAt: now - span)
        let runs = max(1, min(options.clockSteps, options.records - 1) + 1)
        var remaining = options.records
        for run in 0..<runs {
            let count = run == runs - 1 ? remaining : options.records / runs
            remaining -= count
            clock.id = UInt16(truncatingIfNeeded: run + 1)
            let until = now - Int64(remaining) * options.recordIntervalMilliseconds
            // Times under two clock ids are unrelated: earlier runs lie up to about three years off.
            let stray =
                Int64(Mixer.mix(options.seed, 0xc10c, UInt64(run)) % 200_000_000_000) - 100_000_000_000
            clock.offsetMilliseconds = options.clockOffsetMilliseconds + (run == runs - 1 ? 0 : stray)
            clock.bootedAt = until - Int64(count) * options.recordIntervalMilliseconds
            append(count, until: until)
        }
    }

    static func ringID(seed: UInt64, formatCount: UInt16) -> UInt32 {
        max(1, UInt32(truncatingIfNeeded: Mixer.mix(seed, UInt64(formatCount), 0x1216)))
    }

    /// Measures `count` records that end at `until`; the oldest make room when the ring is full.
    mutating func append(_ count: Int, until: Int64) {
        // A ring's seqs end far below the top of u32; nothing that is simulated comes near.
        let room = Int(UInt32.max / 2) - Int(ring.newest)
        let count = UInt32(max(0, min(count, room)))
        ring.append(
            count, until: until, interval: options.recordIntervalMilliseconds, clock: clock,
            offsetQuarterHours: options.offsetQuarterHours ?? HistoryRecord.unknownOffset,
            isLifelike: options.isLifelike)
        let stored = Int(ring.newest) - Int(ring.oldest) + 1
        if stored > options.capacity { raiseOldest(to: ring.oldest + UInt32(stored - options.capacity)) }
    }

    /// Overwrites what lies below `seq`.
    mutating func raiseOldest(to seq: UInt32) {
        let target = min(seq, ring.newest + 1)
        guard target > ring.oldest else { return }
        lose(ring.oldest...(target - 1), cause: .overwritten)
        ring.oldest = target
    }

    mutating func format() {
        if !ring.isEmpty { lose(ring.oldest...ring.newest, cause: .reformatted) }
        pastRings.append(ring)
        let formatCount = ring.formatCount &+ 1
        ring = SimulatedRing(
            id: Self.ringID(seed: options.seed, formatCount: formatCount), formatCount: formatCount)
    }

    mutating func rollBack(to seq: UInt32) {
        guard seq < ring.newest else { return }
        if ring.newest >= ring.oldest { lose(max(seq + 1, ring.oldest)...ring.newest, cause: .rolledBack) }
        ring.rollBack(to: seq)
    }

    mutating func stepClock(by milliseconds: Int64, now: Int64) {
        // Some three thousand years either way: band time is clamped long before.
        let bounded = max(-100_000_000_000_000, min(100_000_000_000_000, milliseconds))
        clock.offsetMilliseconds = clock.bandTime(at: now) - now + bounded
        clock.reference = now
        clock.id &+= 1
    }

    /// What of a stored state does not fit together; nil = it is sound.
    var inconsistency: String? {
        for ring in pastRings + [ring] {
            var next: UInt32 = 1
            for segment in ring.segments {
                guard segment.firstSeq == next, segment.count > 0, segment.count < UInt32.max / 2 - next
                else {
                    return "the segments of ring \(ring.id) do not follow each other"
                }
                next = segment.end
            }
            guard ring.newest == next - 1, (1...next).contains(ring.oldest), ring.everSent <= ring.newest,
                ring.id != 0
            else { return "the seqs of ring \(ring.id) contradict each other" }
            let all = ring.segments + ring.forgotten
            guard
                all.allSatisfy({
                    $0.firstSeq >= 1 && $0.count < UInt32.max / 2 && $0.firstSeq < UInt32.max / 2
                })
            else { return "a segment of ring \(ring.id) is out of range" }
            let times = all.flatMap {
                [$0.start, $0.interval, $0.clock.offsetMilliseconds, $0.clock.reference]
            }
            guard times.allSatisfy({ abs($0) < 1 << 60 }),
                all.allSatisfy({ $0.clock.driftPPM.magnitude < 1e6 })
            else { return "a time of ring \(ring.id) is out of range" }
        }
        return nil
    }

    private mutating func lose(_ range: ClosedRange<UInt32>, cause: BandLoss.Cause) {
        if let last = losses.last, last.ring == ring.id, last.generation == ring.generation,
            last.cause == cause,
            last.lastSeq &+ 1 == range.lowerBound
        {
            losses[losses.count - 1].lastSeq = range.upperBound
            return
        }
        losses.append(
            BandLoss(
                ring: ring.id, generation: ring.generation, firstSeq: range.lowerBound,
                lastSeq: range.upperBound, cause: cause))
    }
}
