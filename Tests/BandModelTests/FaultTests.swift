import BandModel
import BandProfile
import Testing

/// What a script does to a stream of 100 records in 7 notifications.
@Suite struct FaultTests {
    func notifications(_ faults: String) throws -> [[UInt8]] {
        var band = try band(faults: faults)
        _ = band.sendFrom(1)
        return band.nextNotifications(max: 100)
    }

    /// First seq of each notification; 0 = END, nil = a framing fault, -1 = empty.
    func shape(_ faults: String) throws -> [Int?] {
        try notifications(faults).map { bytes in
            if bytes.isEmpty { return -1 }
            return switch try? HistoryNotification(decoding: bytes) {
            case .samples(_, let records): Int(records[0].seq)
            case .end: 0
            case nil: nil
            }
        }
    }

    @Test(
        arguments: [
            ("", [1, 16, 31, 46, 61, 76, 91, 0]),
            ("drop@2", [1, 31, 46, 61, 76, 91, 0]),
            ("duplicate@2", [1, 16, 16, 31, 46, 61, 76, 91, 0]),
            ("bad-version@2", [1, nil, 31, 46, 61, 76, 91, 0]),
            ("badkind@7", [1, 16, 31, 46, 61, 76, nil, 0]),
            ("badorder@1", [nil, 16, 31, 46, 61, 76, 91, 0]),
            ("reorder@2", [1, 31, 16, 46, 61, 76, 91, 0]),
            ("reorder@7", [1, 16, 31, 46, 61, 76, 0, 91]),
            ("empty@2", [1, -1, 16, 31, 46, 61, 76, 91, 0]),
            ("disconnect@3", [1, 16]),
            ("stall@3", [1, 16]),
            ("noend", [1, 16, 31, 46, 61, 76, 91]),
            ("lateend@1", [1, 16, 31, 46, 61, 76, 91]),
            ("overwrite@2:5", [1, 21, 36, 51, 66, 81, 96, 0]),
            ("reformat@3:4", [1, 16]),
            ("rollback@3:20", [1, 16]),
            ("unreadable=40", [1, 16, nil, 46, 61, 76, 91, 0]),
            ("absent=40", [1, 16, 31, 41, 56, 71, 86, 0]),
            ("absent=100", [1, 16, 31, 46, 61, 76, 91, 0]),
        ] as [(String, [Int?])])
    func aFaultShapesTheStream(script: String, expected: [Int?]) throws {
        #expect(try shape(script) == expected)
    }

    @Test func aTruncatedNotificationIsShorterButNotEmpty() throws {
        let bytes = try notifications("truncate@2")[1]
        #expect((1..<244).contains(bytes.count))
    }

    @Test func aLateEndComesWithinTheNextStream() throws {
        var band = try band(faults: "lateend@1")
        _ = band.sendFrom(1)
        _ = band.nextNotifications(max: 100)
        #expect(band.sendFrom(61) == nil)
        let (records, ends) = try band.drain()
        #expect(records.map(\.seq) == Array(61...100))
        #expect(ends.count == 2)
    }

    @Test func aLateEndComesAlsoBeforeTheEndOfAnEmptyStream() throws {
        var band = try band(faults: "lateend@1")
        _ = band.sendFrom(1)
        _ = band.nextNotifications(max: 100)
        _ = band.sendFrom(101)
        #expect(try band.drain().ends.count == 2)
    }

    @Test func aStalledStreamEndsOnlyByAbort() throws {
        var band = try band(faults: "stall@3")
        _ = band.sendFrom(1)
        _ = band.nextNotifications(max: 100)
        #expect(band.sendFrom(31) == .busy)
        band.ack(Ack.encode(30))
        #expect(band.nextNotifications(max: 100).isEmpty)
        #expect(band.writeControlPoint([0x02]) == nil)
        #expect(try band.drain().ends.map(\.lastSeq) == [30])
        _ = band.sendFrom(31)
        #expect(try band.drain().records.count == 70)
    }

    @Test func aLostAckChangesNothing() throws {
        var band = try band(faults: "lostack@1")
        _ = band.sendFrom(1)
        _ = try band.drain()
        #expect(band.ack(Ack.encode(50)) == .lost)
        #expect(band.info().oldestSeq == 1)
        #expect(band.ack(Ack.encode(50)) == .honoured(freed: 50))
    }

    @Test func aRingFaultChangesTheRing() throws {
        var reformatted = try band(faults: "reformat@3:4")
        let ring = reformatted.ring
        _ = reformatted.sendFrom(1)
        _ = try reformatted.drain()
        #expect(reformatted.ring != ring)
        #expect(reformatted.info().newestSeq == 4)

        var rolledBack = try band(faults: "rollback@3:20")
        _ = rolledBack.sendFrom(1)
        _ = try rolledBack.drain()
        #expect(rolledBack.ring == ring)
        #expect(rolledBack.info().newestSeq == 90)
        #expect(rolledBack.everRecordedCount == 110)
    }

    @Test(arguments: [
        ("badtype=9", ContentFault.unknownType), ("badms=9", .milliseconds), ("badoffset=9", .offset),
        ("badvalue=9", .value), ("badvalue@9", .value),
    ])
    func aContentFaultStaysWithItsRecord(script: String, fault: ContentFault) throws {
        var band = try band(faults: script)
        for _ in 0..<2 {
            _ = band.sendFrom(1)
            let records = try band.drain().records
            #expect(records.map(\.contentFault) == (1...100).map { $0 == 9 ? fault : nil })
        }
        #expect(band.everRecorded[8].record.contentFault == fault)
    }

    @Test func chancesFollowFromTheSeed() throws {
        let script = "drop:0.1,duplicate:0.1,truncate:0.1,reorder:0.1"
        #expect(try notifications(script) == notifications(script))
        #expect(try notifications(script) != notifications(""))
    }

    /// A gateway that asks again from the first missing seq gets everything, whatever the air does.
    @Test(arguments: UInt64(1)...40) func faultsOfTheAirLoseNothingForAGatewayThatAsksAgain(seed: UInt64)
        throws
    {
        let script =
            "drop:0.05,duplicate:0.05,truncate:0.05,badversion:0.02,badkind:0.02,badorder:0.02,"
            + "reorder:0.05,empty:0.05,disconnect:0.01,stall:0.02,noend:0.3,lateend:0.3,lostack:0.3"
        var band = try band(records: 2_000, window: 8, faults: script) { $0.seed = seed }
        var next: UInt32 = 1
        var known: [HistoryRecord] = []
        for round in 0... {
            try #require(round < 10_000, "seed \(seed): no progress at \(next)")
            if !band.isLinked {
                band.linkUp(mtu: 247)
                band.enableNotifications(true)
            }
            _ = band.writeControlPoint([0x02])
            _ = band.sendFrom(next)
            while true {
                let some = band.nextNotifications(max: 3)
                if some.isEmpty { break }
                for bytes in some {
                    guard case .samples(_, let records)? = try? HistoryNotification(decoding: bytes) else {
                        continue
                    }
                    for record in records where record.seq == next {
                        known.append(record)
                        next += 1
                    }
                }
                band.ack(Ack.encode(next - 1))
            }
            if next > 2_000 { break }
        }
        #expect(known == band.everRecorded.map(\.record), "seed \(seed)")
    }
}
