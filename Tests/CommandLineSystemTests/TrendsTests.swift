import BandProfile
import Foundation
import GatewayModel
import Testing

/// `bandferry trends`, from records of the last two hours: what they come to is known.
@Suite struct TrendsTests {
    /// Where the records were measured: the offset of the zone is theirs.
    private static let place = ["--days", "2", "--tz", "Asia/Kolkata"]

    private func filled() async throws -> StateFixture {
        let fixture = try StateFixture()
        // From a full hour of UTC on, so that no record lies on another day there than the first.
        let hour = UInt32(Date().timeIntervalSince1970) / 3600
        try await fixture.fill(people: true, start: (hour - 1) * 3600)
        return fixture
    }

    private func lists(_ fixture: StateFixture, _ arguments: [String]) async throws -> [[String: Any]] {
        let ending = try await fixture.bandferry.run(["--json", "trends"] + Self.place + arguments)
        #expect(ending.status == 0, "\(ending.errors)")
        let json = try JSONSerialization.jsonObject(with: Data(ending.output.utf8))
        return try #require(json as? [[String: Any]])
    }

    /// The sum of a figure over the buckets of one list.
    private func sum(_ figure: String, _ list: [String: Any]) throws -> Int {
        let buckets = try #require(list["buckets"] as? [[String: Any]])
        return buckets.compactMap { $0[figure] as? Int }.reduce(0, +)
    }

    @Test func everyTypeOfEveryBandIsShownUnlessOneIsNamed() async throws {
        let fixture = try await filled()
        let all = try await lists(fixture, [])
        #expect(all.compactMap { $0["type"] as? String } == ["heart_rate", "steps", "spo2", "sleep_stage"])
        #expect(
            all.allSatisfy {
                $0["device_id"] as? String == "band_F0F1F2F3F4F5" && $0["tz"] as? String == "Asia/Kolkata"
            })
        #expect(try all.map { try sum("count", $0) } == [20, 20, 0, 0])
        #expect(all.allSatisfy { ($0["buckets"] as? [Any])?.count == 2 })
        // The odd numbers from 11 to 49 are steps.
        #expect(try sum("sum", all[1]) == 600)
        let text = try await fixture.bandferry.run(["trends", "--type", "steps"] + Self.place).output
        #expect(text.hasPrefix("F0:F1:F2:F3:F4:F5 (Anna): steps\n") && text.contains("600"))
        #expect(!text.contains("heart"))
    }

    @Test func whatAPersonDidIsWhatTheyDidWhileTheyWoreTheBand() async throws {
        let fixture = try await filled()
        let ben = try await lists(fixture, ["--person", "Ben", "--type", "steps"])
        #expect(ben.first?["person"] as? String == "p_b")
        #expect(try sum("sum", try #require(ben.first)) == 200)
        let anna = try await lists(fixture, ["--person", "Anna Berg", "--type", "steps"])
        #expect(try sum("sum", try #require(anna.first)) == 400)
        // Record 30 is nobody's.
        let heart = try await lists(fixture, ["--person", "p_b", "--type", "heart_rate"])
        #expect(try sum("count", try #require(heart.first)) == 9)
    }

    @Test func hoursAreShownWhenAskedFor() async throws {
        let hours = try await lists(
            try await filled(), ["--hours", "--device", "F0:F1:F2:F3:F4:F5", "--type", "steps"])
        let list = try #require(hours.first)
        #expect(list["bucket"] as? String == "hour")
        #expect((list["buckets"] as? [[String: Any]])?.count == 48)
        #expect(try sum("sum", list) == 600)
    }

    /// A zone in which it is the hour after noon now, so that the day has begun and has not ended.
    private struct Noon {
        private let now = Int(Date().timeIntervalSince1970)
        private var offset: Int { 12 - now / 3600 % 24 }
        /// Signs are the other way round in these names.
        var zone: String { "Etc/GMT\(offset > 0 ? "-" : "+")\(abs(offset))" }

        /// Seconds since 1970.
        func hour(_ hour: Int) -> Int { (now / 3600 - 12 + hour) * 3600 }

        /// Stage records, by the hour of today; the clock of the fixture is a second slow.
        func stages(from seq: UInt32, _ stages: [(hour: Int, stage: Int16)]) -> [HistoryRecord] {
            stages.enumerated().map { index, entry in
                HistoryRecord(
                    seq: seq + UInt32(index), seconds: UInt32(hour(entry.hour) - 1),
                    offsetQuarterHours: Int8(offset * 4), type: 4, value: entry.stage)
            }
        }

        func sleep(in fixture: StateFixture) async throws -> String {
            let ending = try await fixture.bandferry.run(
                "--json", "trends", "--type", "sleep_stage", "--days", "1", "--tz", zone)
            #expect(ending.status == 0, "\(ending.errors)")
            return ending.output
        }
    }

    @Test func aSleepThatBeganDaysAgoIsReadFromItsBeginning() async throws {
        let noon = Noon()
        // Light for four days, with a record every three hours, until one o'clock of today.
        let light = stride(from: -95, to: 1, by: 3).map { (hour: $0, stage: Int16(1)) }
        let fixture = try StateFixture()
        try await fixture.keep(
            noon.stages(from: 11, light + [(hour: 1, stage: 4)]), readAt: UInt32(noon.hour(-95)))
        let output = try await noon.sleep(in: fixture)
        #expect(output.contains(#""light":5760,"#), "\(noon.zone): \(output)")
    }

    @Test func aStageEndsWhereAGapBegins() async throws {
        let noon = Noon()
        func time(_ hour: Int) -> Timestamp { Timestamp(milliseconds: Int64(noon.hour(hour)) * 1000) }
        let fixture = try StateFixture()
        try await fixture.keep(noon.stages(from: 11, [(hour: 1, stage: 1)]), readAt: UInt32(noon.hour(0))) {
            store in
            let gap = Gap(
                ring: StateFixture.ring, firstSeq: 12, lastSeq: 12, after: time(2), before: time(4),
                cause: .lostByBand)
            try await store.writeGap(gap, device: StateFixture.device)
        }
        try await fixture.keep(noon.stages(from: 13, [(hour: 4, stage: 4)]), readAt: UInt32(noon.hour(5)))
        let output = try await noon.sleep(in: fixture)
        #expect(output.contains(#""light":60,"#), "\(noon.zone): \(output)")
    }

    @Test(arguments: [
        (["--person", "Dora"], Int32(5), "Known: Anna Berg, Ben"),
        (["--device", "band_X"], 5, "Known: band_"),
        (["--tz", "Mars/Base"], 2, "timedatectl list-timezones"),
        (["--tz", "../../etc/passwd"], 2, "no time zone"),
    ])
    func whatIsNotKnownIsSaid(_ arguments: [String], _ status: Int32, _ words: String) async throws {
        let ending = try await filled().bandferry.run(["trends"] + arguments)
        #expect(ending.status == status && ending.output.isEmpty)
        #expect(ending.errors.contains(words), "\(ending.errors)")
    }
}
