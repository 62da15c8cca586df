import IngestAPI
import SampleChunks

/// SplitMix64: the same numbers from the same seed everywhere.
struct Seeded: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}

extension APISample {
    /// Most often ordinary, now and then as odd as the API lets it be.
    static func random(seq: UInt32, using random: inout Seeded) -> APISample {
        let type = APISampleType.allCases.randomElement(using: &random) ?? .steps
        let isOdd = Int.random(in: 0..<10, using: &random) == 0
        func pick<Value>(_ ordinary: Value, _ odd: [Value], _ random: inout Seeded) -> Value {
            isOdd ? odd.randomElement(using: &random) ?? ordinary : ordinary
        }
        let bandTime = 1_790_000_000_000 + Int64(seq) * 60_000
        return APISample(
            type: type, seq: seq, value: Int.random(in: type.validValues, using: &random),
            recordedAt: pick(
                APITime(milliseconds: bandTime + Int64.random(in: -9...9, using: &random)),
                [.earliest, .latest, APITime(milliseconds: 0)], &random),
            tzOffsetMinutes: pick(330, [nil, -1439, 1439, 0], &random),
            version: pick(1, [APISample.validVersions.upperBound, 7], &random),
            provenance: pick(.device, APIProvenance.allCases, &random),
            bandTimeMilliseconds: pick(bandTime, [.min, .max, 0, -1], &random),
            clockID: pick(3, [0, .max], &random), flags: pick(1, [0, .max], &random),
            timeBoundMilliseconds: pick(
                Int.random(in: 0...99, using: &random), [nil, 0, .max >> 11], &random),
            timeUncertain: pick(false, [true], &random),
            person: pick(.cleared, [.assigned("p"), .assigned("Ängström/1")], &random))
    }
}
