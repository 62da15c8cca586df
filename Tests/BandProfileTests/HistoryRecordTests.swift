import BandProfile
import Testing

/// Band History Profile 1, "Record, 16 bytes".
struct HistoryRecordTests {
    /// Seq 120443, second 1793079060 (0x6AE03714), 250 ms, +05:30 = 22 quarter hours, heart rate, 72, worn.
    static let vector = bytes("7bd60100 1437e06a fa00 16 01 4800 01 00")
    static let record = HistoryRecord(
        seq: 120_443, seconds: 1_793_079_060, milliseconds: 250, offsetQuarterHours: 22, type: 1, value: 72,
        flags: 1)

    @Test func itIsSixteenLittleEndianBytes() throws {
        #expect(Self.vector.count == BandHistory.recordSize)
        #expect(try HistoryRecord(decoding: Self.vector) == Self.record)
        #expect(Self.record.encoded == Self.vector)
    }

    @Test func offsetAndValueAreSigned() throws {
        let record = try HistoryRecord(decoding: bytes("01000000 00000000 0000 c8 02 feff 03 00"))
        #expect(record.offsetQuarterHours == -56)
        #expect(record.offsetMinutes == -14 * 60)
        #expect(record.value == -2)
        #expect(record.flags == 3)
    }

    @Test func anOffsetThatTheBandDoesNotKnowIsNone() throws {
        let record = try HistoryRecord(decoding: bytes("01000000 00000000 0000 80 01 4800 01 00"))
        #expect(record.offsetQuarterHours == HistoryRecord.unknownOffset)
        #expect(record.offsetMinutes == nil)
        #expect(record.contentFault == nil)
    }

    // Typed, and not in the attribute, where Swift 6.0.3 takes the integers for Int.
    static let bandTimes: [(UInt32, UInt16, Int64)] = [
        (0, 0, 0), (1, 999, 1_999), (1_793_079_060, 250, 1_793_079_060_250),
        (.max, .max, 4_294_967_295_000 + 65_535),
    ]

    @Test(arguments: bandTimes)
    func bandTimeIsSecondsAndMilliseconds(seconds: UInt32, milliseconds: UInt16, expected: Int64) {
        let record = HistoryRecord(seq: 1, seconds: seconds, milliseconds: milliseconds, type: 1, value: 60)
        #expect(record.bandTimeMilliseconds == expected)
    }

    @Test(arguments: 0..<16)
    func everyStrictPrefixIsTruncated(length: Int) {
        #expect(
            failure { try HistoryRecord(decoding: Array(Self.vector.prefix(length))) }
                == .truncated(at: length))
    }

    @Test func whatFollowsItIsRefused() {
        #expect(failure { try HistoryRecord(decoding: Self.vector + [0]) } == .trailing(at: 16))
    }

    /// Content never stops a record from being read: it is only judged.
    @Test func anySixteenBytesAreARecordAndComeBackAsTheyWere() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2_000 {
            let raw = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
            #expect(try HistoryRecord(decoding: raw).encoded == raw, "seed \(seed)")
        }
    }

    struct ContentCase: Sendable, CustomStringConvertible {
        var change: String
        var fault: ContentFault?
        var apply: @Sendable (inout HistoryRecord) -> Void
        var description: String { change }
    }

    static let contentCases: [ContentCase] = [
        ContentCase(change: "0 ms", fault: nil) { $0.milliseconds = 0 },
        ContentCase(change: "999 ms", fault: nil) { $0.milliseconds = 999 },
        ContentCase(change: "1000 ms", fault: .milliseconds) { $0.milliseconds = 1_000 },
        ContentCase(change: "65535 ms", fault: .milliseconds) { $0.milliseconds = .max },
        ContentCase(change: "-14:00", fault: nil) { $0.offsetQuarterHours = -56 },
        ContentCase(change: "+14:00", fault: nil) { $0.offsetQuarterHours = 56 },
        ContentCase(change: "-14:15", fault: .offset) { $0.offsetQuarterHours = -57 },
        ContentCase(change: "+14:15", fault: .offset) { $0.offsetQuarterHours = 57 },
        ContentCase(change: "offset 127", fault: .offset) { $0.offsetQuarterHours = 127 },
        ContentCase(change: "offset -127", fault: .offset) { $0.offsetQuarterHours = -127 },
        ContentCase(change: "offset not known", fault: nil) { $0.offsetQuarterHours = -128 },
        ContentCase(change: "type 0", fault: .unknownType) { $0.type = 0 },
        ContentCase(change: "type 5", fault: .unknownType) { $0.type = 5 },
        ContentCase(change: "type 255", fault: .unknownType) { $0.type = 255 },
        ContentCase(change: "heart rate 0", fault: nil) { $0.value = 0 },
        ContentCase(change: "heart rate -1", fault: .value) { $0.value = -1 },
        ContentCase(change: "heart rate 300", fault: nil) { $0.value = 300 },
        ContentCase(change: "heart rate 301", fault: .value) { $0.value = 301 },
        ContentCase(change: "no steps", fault: nil) { ($0.type, $0.value) = (2, 0) },
        ContentCase(change: "32767 steps", fault: nil) { ($0.type, $0.value) = (2, .max) },
        ContentCase(change: "-1 steps", fault: .value) { ($0.type, $0.value) = (2, -1) },
        ContentCase(change: "100.0 % oxygen", fault: nil) { ($0.type, $0.value) = (3, 1_000) },
        ContentCase(change: "100.1 % oxygen", fault: .value) { ($0.type, $0.value) = (3, 1_001) },
        ContentCase(change: "out of bed", fault: nil) { ($0.type, $0.value) = (4, 4) },
        ContentCase(change: "sleep stage 5", fault: .value) { ($0.type, $0.value) = (4, 5) },
        ContentCase(change: "every flag", fault: nil) { $0.flags = 255 },
        ContentCase(change: "reserved", fault: nil) { $0.reserved = 255 },
    ]

    @Test(arguments: contentCases)
    func contentIsJudgedByTheProfilesRanges(_ content: ContentCase) {
        var record = Self.record
        content.apply(&record)
        #expect(record.contentFault == content.fault)
    }

    @Test(arguments: [
        (SampleType.heartRate, UInt8(1), "heart_rate"), (.steps, 2, "steps"), (.spo2, 3, "spo2"),
        (.sleepStage, 4, "sleep_stage"),
    ])
    func typesHaveTheirNumberAndNameOnTheWire(type: SampleType, number: UInt8, name: String) {
        #expect(type.rawValue == number)
        #expect(type.name == name)
        #expect(SampleType(name: name) == type)
    }

    @Test func anUnknownTypeHasNoName() {
        #expect(SampleType(name: "Heart_Rate") == nil)
        #expect(SampleType(name: "") == nil)
        #expect(SampleType.allCases.count == 4)
    }
}
