import CivilTime
import IngestAPI

/// Random batches around a week in which Europe changes its clocks. Few devices, and times that come together, so that
/// sleeps, hours and windows of rest come about, and go again with corrections.
struct TrendWorld {
    static let devices = ["d1", "d2", "d3"]
    static let persons = ["p", "q", "nobody"]
    static let firstDay = CivilDate(year: 2026, month: 3, day: 26)

    /// Of a sample, drawn at random.
    let offsets: [Int?]
    /// Minutes between stage records.
    let stageStep: Int
    /// By seq, over and over.
    let stages: [Int]
    let longestBatch: UInt32

    /// Worlds differ: a wearer at home or all over the earth, sleeps that end and sleeps that go on for days.
    init(_ random: inout SeededRandom) {
        let wide: [Int?] = [60, 120, nil, 330, -720, 840, -210, 1439, -1439]
        let choices: [[Int?]] = [[0], [60, 60, 60, 120], [60, 60, nil], [60, 120, 330, nil], wide]
        offsets = choices.randomElement(using: &random) ?? wide
        stageStep = [37, 37, 110, 250, 280].randomElement(using: &random) ?? 37
        let lives = [
            [1, 2, 3, 1, 0, 2, 0, 0, 3, 1, 2, 4], [1, 2, 3, 1, 2],
            [1, 2, 1, 0, 0, 3, 2, 1, 3, 2, 1, 2, 2, 1],
        ]
        stages = lives.randomElement(using: &random) ?? []
        longestBatch = [4, 12, 60].randomElement(using: &random) ?? 60
    }

    /// Minutes since the first day began in UTC, as an instant.
    private func time(minutes: Int) -> APITime {
        APITime(milliseconds: Self.firstDay.midnight(offsetMinutes: 0) + Int64(minutes) * 60_000)
    }

    func batch(_ random: inout SeededRandom) -> SampleBatch {
        let types: [APISampleType] = [.sleepStage, .sleepStage, .sleepStage, .heartRate, .steps, .spo2]
        let type = types.randomElement(using: &random) ?? .steps
        let first = UInt32.random(in: 1...180, using: &random)
        var samples = (0..<UInt32.random(in: 1...longestBatch, using: &random)).map { number in
            sample(type, first + number, &random)
        }
        if Bool.random(using: &random) { samples.shuffle(using: &random) }
        return IngestServiceTests.batch(
            samples, device: Self.devices.randomElement(using: &random) ?? "",
            ring: Int.random(in: 0..<5, using: &random) == 0 ? "ffffffff" : "0000000a")
    }

    /// What the band gave follows from the seq, so that most of what comes again is a correction.
    private func sample(_ type: APISampleType, _ seq: UInt32, _ random: inout SeededRandom) -> APISample {
        let minutes =
            switch type {
            // A week, and then the same week again, in between.
            case .sleepStage: Int(seq) * stageStep % 10_080 + .random(in: -10...10, using: &random)
            case .heartRate: Int(seq) / 30 * 1500 + Int(seq) % 30 * 2
            case .steps, .spo2: Int(seq) * 40
            }
        let shift = [0, 0, 0, 0, 1, -45, 300, 1440, -2000].randomElement(using: &random) ?? 0
        let isOdd = Int.random(in: 0..<60, using: &random) == 0
        return IngestServiceTests.sample(
            seq, type, value: isOdd ? .random(in: 0...4, using: &random) : value(type, seq),
            at: time(minutes: minutes + shift).milliseconds / 1000,
            version: .random(in: 1...4, using: &random),
            bound: [nil, 0, 500].randomElement(using: &random) ?? nil,
            uncertain: Int.random(in: 0..<25, using: &random) == 0,
            person: [.unchanged, .unchanged, .cleared, .assigned("p"), .assigned("p"), .assigned("q")]
                .randomElement(using: &random) ?? .unchanged,
            offset: offsets.randomElement(using: &random) ?? nil, flags: seq % 11 == 0 ? 0 : 1,
            bandTime: Int64(seq))
    }

    private func value(_ type: APISampleType, _ seq: UInt32) -> Int {
        switch type {
        case .sleepStage: stages[Int(seq) % stages.count]
        case .heartRate: 50 + Int(seq &* 40_503 >> 3) % 60
        case .steps, .spo2: Int(seq &* 40_503 >> 3) % 900
        }
    }

    func gap(_ random: inout SeededRandom) -> APIGap {
        let after = Int.random(in: 0...9000, using: &random)
        let known = Int.random(in: 0..<5, using: &random) > 0
        return APIGap(
            ring: "0000000a", firstSeq: .random(in: 1...6, using: &random), lastSeq: nil,
            after: time(minutes: after),
            before: known ? time(minutes: after + .random(in: 1...600, using: &random)) : nil,
            cause: .overwritten,
            healedAt: Int.random(in: 0..<6, using: &random) == 0 ? time(minutes: 20_000) : nil)
    }
}
