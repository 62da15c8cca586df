import BandProfile

/// A run of records measured at a steady pace under one clock. Its records are computed, never stored.
struct RecordSegment: Codable, Equatable, Sendable {
    var firstSeq: UInt32
    var count: UInt32
    /// True time of the first record, before its jitter.
    var start: Int64
    var interval: Int64
    var clock: SimulatedClock
    /// Mixed into every value, so that a rolled back ring records different samples under old seqs.
    var generation: UInt32
    var offsetQuarterHours: Int8
    /// See `SimulatedBandOptions.isLifelike`.
    var isLifelike = false

    /// One past the last seq; a ring never reaches the top of UInt32.
    var end: UInt32 { firstSeq + count }

    func trueTime(_ seq: UInt32, seed: UInt64) -> Int64 {
        let jitter = Mixer.mix(seed, UInt64(seq), 0x7ea1) % UInt64(max(1, interval / 2))
        return start + Int64(seq - firstSeq) * interval + Int64(jitter)
    }

    /// The record under `seq`: all four types in a realistic mix, each with values of its own kind.
    func record(_ seq: UInt32, seed: UInt64) -> HistoryRecord {
        let bandTime = clock.bandTime(at: trueTime(seq, seed: seed))
        let random = Mixer.mix(seed ^ UInt64(generation) << 40, UInt64(seq))
        let noise = Int16(truncatingIfNeeded: random >> 32 & 0xf)
        var (type, value): (SampleType, Int16) =
            switch random & 0xff {
            case 0..<180:
                (.heartRate, 55 + noise + Int16(truncatingIfNeeded: Mixer.mix(seed, UInt64(seq >> 6)) & 0x3f))
            case 180..<226: (.steps, noise * 3)
            case 226..<244: (.spo2, 940 + noise * 3)
            default: (.sleepStage, Int16(truncatingIfNeeded: (random >> 40) % 5))
            }
        if isLifelike {
            // A band that does not know its wearer's offset is taken to be at UTC.
            let offset = offsetQuarterHours == HistoryRecord.unknownOffset ? 0 : Int64(offsetQuarterHours)
            value = LifelikeValues(seed: seed).value(
                type, localTime: trueTime(seq, seed: seed) + offset * 900_000, random: random)
        }
        let worn: UInt8 = random >> 48 & 0x1f == 0 ? 0 : 1
        let lowConfidence: UInt8 = random >> 54 & 0x1f == 0 ? 2 : 0
        return HistoryRecord(
            seq: seq, seconds: UInt32(bandTime / 1000), milliseconds: UInt16(bandTime % 1000),
            offsetQuarterHours: offsetQuarterHours, type: type.rawValue, value: value,
            flags: worn | lowConfidence)
    }
}
