import BandModel
import BandProfile
import Foundation
import Testing

/// SplitMix64, so that a failing seed can be run again.
private struct Random {
    var state: UInt64
    mutating func next(_ bound: Int) -> Int {
        state &+= 0x9e37_79b9_7f4a_7c15
        var value = state
        value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
        return Int((value ^ (value >> 31)) >> 1) % bound
    }
}

@Suite struct RandomLifeTests {
    static let script =
        "drop:0.02,duplicate:0.02,truncate:0.02,badversion:0.02,badkind:0.02,badorder:0.02,reorder:0.03,"
        + "empty:0.02,disconnect:0.01,stall:0.01,overwrite:0.01:40,reformat:0.003:20,rollback:0.01:25,"
        + "clockstep:0.01,noend:0.1,lateend:0.1,lostack:0.1,badvalue:0.01,absent=17,unreadable=33"

    /// Whatever is done to a band, and however often it restarts, it stays within its profile.
    @Test(arguments: UInt64(1)...60) func aBandStaysWithinItsProfile(seed: UInt64) throws {
        var random = Random(state: seed)
        var time = now
        var band = try band(records: random.next(300), window: UInt16(random.next(6)), faults: Self.script) {
            $0.seed = seed
            $0.capacity = 50 + random.next(400)
            $0.clockSteps = random.next(3)
        }
        var recorded = band.everRecordedCount
        for step in 0..<1_500 {
            time += Int64(random.next(3_000))
            let ring = band.ring
            switch random.next(16) {
            case 0: band.linkUp(mtu: [23, 100, 185, 247, 517][random.next(5)])
            case 1: band.enableNotifications(random.next(8) > 0)
            case 2: band.record(random.next(30), now: time)
            case 3 where random.next(20) == 0: band.format()
            case 4 where random.next(10) == 0: band.rollBack(to: UInt32(random.next(400)))
            case 5 where random.next(10) == 0: band.overwrite(random.next(100))
            case 6 where random.next(10) == 0:
                band.stepClock(by: Int64(random.next(1_000_000)) - 500_000, now: time)
            case 7 where random.next(10) == 0:
                band = try JSONDecoder().decode(SimulatedBand.self, from: try JSONEncoder().encode(band))
            case 8: _ = band.writeControlPoint((0..<random.next(7)).map { _ in UInt8(random.next(4)) })
            case 9, 10: _ = band.sendFrom([0, 1, UInt32.max, UInt32(random.next(500))][random.next(4)])
            case 11, 12: band.ack(Ack.encode([0, UInt32.max, UInt32(random.next(500))][random.next(3)]))
            default:
                // A fault may cut the link meanwhile, and its MTU goes with it.
                let most = min(244, max(20, band.mtu - 3))
                for bytes in band.nextNotifications(max: 1 + random.next(20)) {
                    #expect(bytes.count <= most, "seed \(seed), step \(step)")
                }
            }
            let info = band.info()
            #expect(try RingInfo(decoding: info.encoded) == info, "seed \(seed), step \(step)")
            #expect(
                Int(info.newestSeq) - Int(info.oldestSeq) < Int(info.capacity), "seed \(seed), step \(step)")
            #expect(band.everSent <= info.newestSeq, "seed \(seed), step \(step)")
            #expect(band.everRecordedCount >= recorded, "seed \(seed), step \(step)")
            recorded = band.everRecordedCount
            if band.ring != ring {
                #expect(!band.isLinked, "seed \(seed), step \(step): formatted under a link")
            }
        }
        // The truth names every seq that the ring has reached, whatever became of the record.
        let known = Set(band.everRecorded.filter { $0.ring == band.ring }.map(\.record.seq))
        #expect(
            known.isSuperset(of: Array(1...max(1, band.info().newestSeq)).prefix(Int(band.info().newestSeq))),
            "seed \(seed)")
    }

    @Test(arguments: [
        "\"newest\":100", "\"oldest\":1", "\"everSent\":0", "\"count\":100", "\"interval\":1000",
        "\"firstSeq\":1",
    ]) func aStateThatContradictsItselfIsRefused(field: String) throws {
        let text = String(decoding: try JSONEncoder().encode(try band()), as: UTF8.self)
        try #require(text.contains(field))
        let name = field.prefix { $0 != ":" }
        let value = name == "\"interval\"" ? "9000000000000000000" : "3000000000"
        let spoilt = text.replacingOccurrences(
            of: field, with: name + ":" + value)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(SimulatedBand.self, from: Data(spoilt.utf8))
        }
    }
}
