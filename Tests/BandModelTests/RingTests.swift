import BandModel
import BandProfile
import Foundation
import Testing

@Suite struct RingTests {
    @Test func aFormatDropsTheLinkAndStartsANewRing() throws {
        var band = try band()
        let before = band.info()
        band.format()
        let after = band.info()
        #expect(!band.isLinked)
        #expect(after.ring != before.ring)
        #expect(after.formatCount == before.formatCount + 1)
        #expect(after.isEmpty && after.newestSeq == 0)
        #expect(band.losses.map(\.cause) == [.reformatted])
        #expect(band.everRecordedCount == 100)
    }

    @Test func aFullRingOverwritesItsOldest() throws {
        var band = try band { $0.capacity = 100 }
        band.record(30, now: now + 30_000)
        #expect(band.info().oldestSeq == 31)
        #expect(band.info().newestSeq == 130)
        #expect(band.losses.map(\.firstSeq) == [1])
        #expect(band.losses.map(\.lastSeq) == [30])
    }

    @Test func aRollBackRecordsDifferentSamplesUnderOldSeqs() throws {
        var band = try band()
        let before = band.everRecorded.map(\.record)
        let ring = band.ring
        band.rollBack(to: 60)
        #expect(band.ring == ring)
        #expect(band.info().newestSeq == 60)
        band.record(40, now: now + 100_000)
        band.linkUp(mtu: 247)
        band.enableNotifications(true)
        _ = band.sendFrom(1)
        let after = try band.drain().records
        #expect(Array(after.prefix(60)) == Array(before.prefix(60)))
        #expect(zip(before, after).dropFirst(60).allSatisfy { $0.0.seq == $0.1.seq && $0.0 != $0.1 })
        #expect(band.everRecordedCount == 140)
        #expect(band.losses.map(\.cause) == [.rolledBack])
    }

    @Test func aRolledBackRingIgnoresTheAckOfWhatItForgot() throws {
        var band = try band()
        _ = band.sendFrom(1)
        _ = try band.drain()
        band.rollBack(to: 60)
        #expect(band.ack(Ack.encode(100)) == .ignored)
        #expect(band.info().oldestSeq == 1)
    }

    @Test func bandTimeIsTrueTimePlusOffsetAndDrift() throws {
        let band = try band {
            $0.clockOffsetMilliseconds = -3_600_000
            $0.driftPPM = 100
        }
        #expect(band.clock(now: now).timeMilliseconds == now - 3_600_000)
        // 100 ppm of an hour is 360 ms.
        #expect(band.clock(now: now + 3_600_000).timeMilliseconds == now + 360)
        for sample in band.everRecorded {
            let expected = band.clock(now: sample.trueMilliseconds).timeMilliseconds
            #expect(sample.record.bandTimeMilliseconds == expected)
        }
    }

    @Test func theLastRecordIsNoOlderThanOneIntervalAndNeverFromTheFuture() throws {
        let band = try band { $0.recordIntervalMilliseconds = 60_000 }
        let last = try #require(band.everRecorded.last)
        #expect(last.trueMilliseconds <= now && last.trueMilliseconds > now - 61_000)
    }

    @Test func recordTimesNeverRunBackwards() throws {
        var band = try band()
        for step in 1...50 { band.record(step % 7, now: now + Int64(step) * 900) }
        let times = band.everRecorded.map(\.trueMilliseconds)
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 <= $1 })
    }

    @Test func aClockStepChangesTheClockID() throws {
        var band = try band()
        band.stepClock(by: 5_000, now: now)
        #expect(band.info().clockID == 2)
        #expect(
            band.clock(now: now)
                == BandClock(timeMilliseconds: now + 5_000, clockID: 2, secondsSinceBoot: 100))
    }

    @Test func aBandOutlivesItsEncoding() throws {
        var band = try band(faults: "drop:0.1,lostack:0.5")
        _ = band.sendFrom(1)
        _ = band.nextNotifications(max: 3)
        band.ack(Ack.encode(15))
        band.rollBack(to: 80)
        band.record(10, now: now + 9_000)
        let copy = try JSONDecoder().decode(SimulatedBand.self, from: try JSONEncoder().encode(band))
        #expect(copy.info() == band.info())
        #expect(copy.everRecorded == band.everRecorded)
        #expect(copy.losses == band.losses)
        #expect(copy.everSent == band.everSent)
        #expect(copy.options == band.options)
        #expect(!copy.isLinked)
    }

    @Test func theSameSeedMakesTheSameBandAndAnotherAnother() throws {
        let first = try band()
        #expect(try band().everRecorded == first.everRecorded)
        let other = try band { $0.seed = 8 }
        #expect(other.ring != first.ring)
        #expect(other.everRecorded.map(\.record.value) != first.everRecorded.map(\.record.value))
    }

    /// What somebody sees of the demonstration: figures that a person could have, and not the same of each band.
    @Test(arguments: 1...8) func aLifelikeWearerHasNightsAndDays(_ seed: UInt64) throws {
        let days = 10
        func records(_ seed: UInt64) throws -> [HistoryRecord] {
            try band(records: days * 1_440) {
                $0.seed = seed
                $0.recordIntervalMilliseconds = 60_000
                $0.isLifelike = true
            }.everRecorded.map(\.record)
        }
        func values(_ type: SampleType, _ records: [HistoryRecord]) -> [Int] {
            records.filter { $0.type == type.rawValue }.map { Int($0.value) }
        }
        let mine = try records(seed)
        let rates = values(.heartRate, mine)
        #expect(rates.allSatisfy { (45...150).contains($0) } && Set(rates).count > 30)
        #expect((65...90).contains(rates.reduce(0, +) / rates.count))
        #expect((4_000...12_000).contains(values(.steps, mine).reduce(0, +) / days))
        #expect(values(.spo2, mine).allSatisfy { (930...1_000).contains($0) })
        let stages = values(.sleepStage, mine)
        #expect(Set(stages) == [0, 1, 2, 3, 4])
        // Between a quarter and a half of the day is slept; nobody walks then.
        #expect((25...50).contains(stages.count { $0 < 4 } * 100 / stages.count))
        let night = mine.filter { ($0.bandTimeMilliseconds + 7_200_000) / 3_600_000 % 24 == 3 }
        #expect(
            values(.steps, night).allSatisfy { $0 == 0 } && values(.sleepStage, night).allSatisfy { $0 < 4 })
        #expect(try values(.heartRate, records(seed + 1)) != rates)
    }
}
