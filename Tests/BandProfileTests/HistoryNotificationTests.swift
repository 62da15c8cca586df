import BandProfile
import Testing

/// Band History Profile 1, "History Data, one notification".
struct HistoryNotificationTests {
    static let samples = bytes(
        """
        01 00 0300
        7bd60100 1437e06a fa00 16 01 4800 01 00
        7cd60100 1537e06a 0000 80 02 0e00 03 00
        """)
    static let end = bytes("01 01 0300 7cd60100 02000000 00")

    static func records(_ range: ClosedRange<UInt32>) -> [HistoryRecord] {
        range.map { HistoryRecord(seq: $0, seconds: 1_000 &+ $0, type: 1, value: 60) }
    }

    @Test func samplesAreAHeaderAndSixteenBytesEach() throws {
        let expected = HistoryNotification.samples(
            clockID: 3,
            records: [
                HistoryRecordTests.record,
                HistoryRecord(seq: 120_444, seconds: 1_793_079_061, type: 2, value: 14, flags: 3),
            ])
        #expect(try HistoryNotification(decoding: Self.samples) == expected)
        #expect(expected.encoded == Self.samples)
    }

    @Test func anEndIsThirteenBytes() throws {
        let expected = HistoryNotification.end(
            StreamEnd(lastSeq: 120_444, oldestSeq: 2, status: .complete, clockID: 3))
        #expect(Self.end.count == 13)
        #expect(try HistoryNotification(decoding: Self.end) == expected)
        #expect(expected.encoded == Self.end)
    }

    @Test(arguments: [(UInt8(0), StreamEnd.Status.complete), (1, .aborted), (2, .internalError)])
    func anEndSaysHowTheStreamEnded(raw: UInt8, status: StreamEnd.Status) throws {
        var vector = Self.end
        vector[12] = raw
        guard case .end(let end) = try HistoryNotification(decoding: vector) else {
            Issue.record("not an END")
            return
        }
        #expect(end.status == status)
    }

    /// An END of an empty ring covers nothing; one of a full ring may name the highest number there is.
    @Test(arguments: [UInt32(0), 1, .max])
    func anEndTakesAnySeq(seq: UInt32) throws {
        let end = HistoryNotification.end(StreamEnd(lastSeq: seq, oldestSeq: seq, status: .complete))
        #expect(try HistoryNotification(decoding: end.encoded) == end)
    }

    @Test func everyStrictPrefixOfSamplesIsTruncatedUnlessItIsWholeRecords() {
        for length in 0..<Self.samples.count where length != 20 {
            let found = failure { try HistoryNotification(decoding: Array(Self.samples.prefix(length))) }
            #expect(found?.isTruncated == true, "\(length) bytes")
        }
    }

    @Test(arguments: 0..<13)
    func everyStrictPrefixOfAnEndIsTruncated(length: Int) {
        #expect(
            failure { try HistoryNotification(decoding: Array(Self.end.prefix(length))) }?.isTruncated == true
        )
    }

    @Test func whatFollowsIsRefused() {
        #expect(failure { try HistoryNotification(decoding: Self.end + [0]) } == .trailing(at: 13))
        #expect(failure { try HistoryNotification(decoding: Self.samples + [0]) } != nil)
    }

    @Test(arguments: [UInt8(0), 2, 0x7f, 255])
    func anotherVersionIsRefused(version: UInt8) {
        for vector in [Self.samples, Self.end] {
            let found = failure { try HistoryNotification(decoding: [version] + vector.dropFirst()) }
            #expect(found == .invalid(field: "version", at: 0))
        }
    }

    @Test(arguments: [UInt8(2), 9, 255])
    func anotherKindIsRefused(kind: UInt8) {
        var vector = Self.samples
        vector[1] = kind
        #expect(failure { try HistoryNotification(decoding: vector) } == .invalid(field: "kind", at: 1))
    }

    @Test(arguments: [UInt8(3), 255])
    func anotherStatusIsRefused(status: UInt8) {
        var vector = Self.end
        vector[12] = status
        #expect(failure { try HistoryNotification(decoding: vector) } == .invalid(field: "status", at: 12))
    }

    /// 15 records fill 244 bytes, an ATT MTU of 247; more are refused whatever the MTU.
    @Test(arguments: [(1, true), (14, true), (15, true), (16, false), (31, false)])
    func oneToFifteenRecordsFit(count: Int, isTaken: Bool) {
        let notification = HistoryNotification.samples(clockID: 1, records: Self.records(1...UInt32(count)))
        let encoded = notification.encoded
        if count == 15 { #expect(encoded.count == 244) }
        let decoded = try? HistoryNotification(decoding: encoded)
        #expect(decoded == (isTaken ? notification : nil))
    }

    @Test func noRecordAtAllIsTruncated() {
        #expect(failure { try HistoryNotification(decoding: bytes("01 00 0300")) } == .truncated(at: 4))
    }

    /// The first seq, the second, and where the fault lies.
    @Test(arguments: [
        (UInt32(0), UInt32(1), 4), (7, 7, 20), (7, 9, 20), (8, 7, 20), (7, 0, 20), (UInt32.max, 0, 4),
        (UInt32.max - 1, UInt32.max, 4), (UInt32.max, UInt32.max, 4),
    ])
    func recordsRiseByExactlyOneAndNeverWrap(first: UInt32, second: UInt32, offset: Int) {
        let records = [first, second].map { HistoryRecord(seq: $0, seconds: 1, type: 1, value: 60) }
        let encoded = HistoryNotification.samples(clockID: 1, records: records).encoded
        #expect(failure { try HistoryNotification(decoding: encoded) } == .invalid(field: "seq", at: offset))
    }

    @Test func aJumpIsFoundWhereverItIs() {
        for place in 1..<15 {
            var records = Self.records(100...114)
            records[place].seq += 1
            let encoded = HistoryNotification.samples(clockID: 1, records: records).encoded
            let found = failure { try HistoryNotification(decoding: encoded) }
            #expect(found == .invalid(field: "seq", at: 4 + 16 * place))
        }
    }

    /// The last number has no successor, so no record carries it: nothing above ever has to count past it.
    @Test(arguments: [(UInt32.max, false), (UInt32.max - 1, true), (1, true), (0, false)])
    func seqsLieBetweenOneAndTheLastWithASuccessor(seq: UInt32, isTaken: Bool) {
        let encoded = HistoryNotification.samples(clockID: 1, records: Self.records(seq...seq)).encoded
        #expect(((try? HistoryNotification(decoding: encoded)) != nil) == isTaken)
    }

    @Test func contentFaultsAreNotFramingFaults() throws {
        let record = HistoryRecord(
            seq: 1, seconds: 0, milliseconds: .max, offsetQuarterHours: 99, type: 99, value: .min, flags: 255,
            reserved: 255)
        let notification = HistoryNotification.samples(clockID: .max, records: [record])
        #expect(try HistoryNotification(decoding: notification.encoded) == notification)
    }

    @Test func whateverIsWellFormedComesBackAsItWas() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<1_000 {
            let count = UInt32.random(in: 1...15, using: &random)
            let first = UInt32.random(in: 1...(.max - count), using: &random)
            let records = (first..<first + count).map { seq in
                HistoryRecord(
                    seq: seq, seconds: .random(in: 0 ... .max, using: &random),
                    milliseconds: .random(in: 0 ... .max, using: &random),
                    offsetQuarterHours: .random(in: .min ... .max, using: &random),
                    type: .random(in: 0 ... .max, using: &random),
                    value: .random(in: .min ... .max, using: &random),
                    flags: .random(in: 0 ... .max, using: &random),
                    reserved: .random(in: 0 ... .max, using: &random))
            }
            let clockID = UInt16.random(in: 0 ... .max, using: &random)
            let notification = HistoryNotification.samples(clockID: clockID, records: records)
            #expect(try HistoryNotification(decoding: notification.encoded) == notification, "seed \(seed)")
        }
    }

    /// Whatever decodes encodes to the very same bytes: nothing is read loosely.
    @Test func bytesAreRefusedOrComeBackAsTheyWere() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        var taken = 0
        for _ in 0..<20_000 {
            var raw = Bool.random(using: &random) ? Self.samples : Self.end
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                raw[Int.random(in: 0..<raw.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            if Int.random(in: 0..<4, using: &random) == 0 {
                raw.removeLast(Int.random(in: 0...raw.count, using: &random))
            }
            guard let notification = try? HistoryNotification(decoding: raw) else { continue }
            taken += 1
            #expect(notification.encoded == raw, "seed \(seed)")
        }
        #expect(taken > 100, "seed \(seed)")
    }
}
