import CivilTime
import FoundationEssentials
import IngestAPI
import Trends

/// A small generator whose seed a failing test prints (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}

/// Some days of somebody who travels, with a band that is not always there. Everything happens at whole minutes.
struct RandomLife {
    static let start: Int64 = 1_792_800_000_000
    static let days = 5
    static let minute: Int64 = 60_000
    static let offsets: [Int?] = [0, 60, 330, 345, -210, -600, 840, 1439, -1439, nil]

    /// `TRENDS_SEED` moves them.
    static let seeds: [UInt64] = {
        let first = ProcessInfo.processInfo.environment["TRENDS_SEED"].flatMap { UInt64($0) } ?? 0
        return (0..<40).map { first + $0 }
    }()

    let seed: UInt64
    private var random: SeededGenerator

    init(seed: UInt64) {
        self.seed = seed
        random = SeededGenerator(seed: seed)
    }

    mutating func samples(_ type: APISampleType) -> [TrendSample] {
        type == .sleepStage ? stages() : values(type)
    }

    /// None, or one whose clocks move now and then, by up to a day.
    mutating func zone() -> ZoneRules? {
        guard chance(0.6) else { return nil }
        let changes = Int.random(in: 0...3, using: &random)
        return ZoneRules(
            name: "Random",
            initialOffsetMinutes: Self.offsets.randomElement(using: &random).flatMap { $0 } ?? 60,
            transitions: (0..<changes).map { _ in
                let minute = Int64.random(in: -1000...Int64(Self.days * 1440 + 1000), using: &random)
                let offset =
                    chance(0.2)
                    ? Int.random(in: -800...840, using: &random)
                    : [0, 30, 60, 120].randomElement(using: &random)
                return ZoneRules.Transition(at: Self.start + minute * Self.minute, offsetMinutes: offset ?? 0)
            })
    }

    mutating func gaps() -> [TrendGap] {
        (0..<Int.random(in: 0...4, using: &random)).map { _ in
            let after =
                Self.start + Int64.random(in: 0..<Int64(Self.days * 1440), using: &random) * Self.minute
            return TrendGap(after: after, before: after + 60 * Self.minute)
        }
    }

    private mutating func values(_ type: APISampleType) -> [TrendSample] {
        var offset = Self.offsets.randomElement(using: &random).flatMap { $0 }
        var minute: Int64 = 0
        var samples: [TrendSample] = []
        while minute < Int64(Self.days * 1440) {
            if chance(0.02) { offset = Self.offsets.randomElement(using: &random).flatMap { $0 } }
            let value = Int.random(in: type == .heartRate ? 45...60 : 0...100, using: &random)
            samples.append(
                TrendSample(
                    recordedAt: Self.start + minute * Self.minute, offsetMinutes: offset, value: value))
            minute +=
                chance(0.03)
                ? Int64.random(in: 30...900, using: &random) : Int64.random(in: 0...6, using: &random)
        }
        return samples
    }

    private mutating func stages() -> [TrendSample] {
        var offset = Self.offsets.randomElement(using: &random).flatMap { $0 }
        var minute: Int64 = 0
        var samples: [TrendSample] = []
        var stage = SleepStage.light
        // Some bands hardly ever say that somebody got up, and some say "awake" most of the day.
        let (risesOften, isAwakeOften) = (chance(0.5), chance(0.5))
        while minute < Int64(Self.days * 1440) {
            if chance(0.05) { offset = Self.offsets.randomElement(using: &random).flatMap { $0 } }
            if !(isAwakeOften && stage == .awake && chance(0.8)) {
                stage = SleepStage.allCases.randomElement(using: &random) ?? .light
                if stage == .outOfBed, !risesOften { stage = .awake }
            }
            samples.append(
                TrendSample(
                    recordedAt: Self.start + minute * Self.minute, offsetMinutes: offset,
                    value: stage.rawValue))
            switch Int.random(in: 0..<20, using: &random) {
            case 0, 1: break
            case 2: minute += Int64.random(in: 235...310, using: &random)
            case 3: minute += Int64.random(in: 300...900, using: &random)
            case 4...8: minute += Int64.random(in: 40...80, using: &random)
            default: minute += Int64.random(in: 1...25, using: &random)
            }
        }
        return samples
    }

    private mutating func chance(_ probability: Double) -> Bool {
        Double.random(in: 0..<1, using: &random) < probability
    }
}
