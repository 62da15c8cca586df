import Foundation
import GatewayModel
import Store
import Testing

/// What the command line can say with the daemon stopped and no bus at all.
@Suite struct StoppedDaemonTests {
    private func filled(extra: String = "", people: Bool = false) async throws -> StateFixture {
        let fixture = try StateFixture(extra: extra)
        try await fixture.fill(people: people)
        return fixture
    }

    @Test func exportPrintsOneObjectASample() async throws {
        let fixture = try await filled()
        let ending = try await fixture.bandferry.run("export", "--format", "jsonl")
        #expect(ending.status == 0 && ending.errors.isEmpty, "\(ending.errors)")
        let objects = try ending.output.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        #expect(objects.compactMap { $0["seq"] as? Int } == Array(11...50))
        let first = try #require(objects.first)
        #expect(
            Set(first.keys) == [
                "device_id", "ring", "type", "seq", "value", "recorded_at", "tz_offset_min", "version",
                "provenance",
                "band_time_ms", "clock_id", "flags", "time_bound_ms", "time_uncertain", "offset_source",
                "person",
            ])
        #expect(first["type"] as? String == "steps")
        #expect(first["band_time_ms"] as? Int == 1_793_000_011_000)
        #expect(
            first["recorded_at"] as? String == "2026-10-26T07:33:32.000Z", "a second later than the band says"
        )
        #expect(first["tz_offset_min"] as? Int == 330)
        #expect(first["provenance"] as? String == "device")
    }

    @Test func csvHasTheSameRows() async throws {
        let fixture = try await filled()
        let lines = try await fixture.bandferry.run("export", "--format", "csv").output.split(separator: "\n")
        #expect(lines.count == 41)
        #expect(lines[1].hasPrefix("band_F0F1F2F3F4F5,b5e5d00d,steps,11,11,"))
    }

    @Test(arguments: ["F0:F1:F2:F3:F4:F5", "f0:f1:f2:f3:f4:f5", "band_F0F1F2F3F4F5"])
    func aDeviceIsNamedByIdOrAddress(_ name: String) async throws {
        let fixture = try await filled()
        let output = try await fixture.bandferry.run("export", "--format", "csv", "--device", name).output
        #expect(output.split(separator: "\n").count == 41)
    }

    @Test func anUnknownDeviceIsNotFound() async throws {
        let ending = try await filled().bandferry.run("gaps", "--device", "band_X")
        #expect(ending.status == 5)
        #expect(ending.errors.contains("Known: band_F0F1F2F3F4F5"))
        #expect(ending.output.isEmpty)
    }

    @Test func statusShowsTheBandAndThatTheDaemonIsStopped() async throws {
        let fixture = try await filled(
            extra: "[upload]\nurl = https://ingest.example.org\ntoken_file = /etc/bandferry/token")
        let text = try await fixture.bandferry.run("status")
        #expect(text.status == 0)
        #expect(text.output.contains("not running") && text.output.contains("F0:F1:F2:F3:F4:F5 (Anna)"))
        let json = try await fixture.bandferry.run("--json", "status").output
        let status = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        #expect(status["running"] as? Bool == false)
        #expect(status["upload_url"] as? String == "https://ingest.example.org")
        let band = try #require((status["bands"] as? [[String: Any]])?.first)
        #expect(band["stored"] as? Int == 40 && band["pending"] as? Int == 40 && band["gaps"] as? Int == 1)
        #expect(band["next_seq"] as? Int == 51)
    }

    @Test func aDaemonThatIsNotOnTheBusIsSaidToRun() async throws {
        let fixture = try await filled()
        let lock = try StateDirectoryLock.acquire(directory: fixture.state)
        let output = try await fixture.bandferry.run("status").output
        #expect(output.contains(", running,"))
        #expect(output.contains("/usr/share/dbus-1/system.d/org.bandferry.conf"))
        withExtendedLifetime(lock) {}
    }

    @Test func theUploadIsReadFromTheStateDirectory() async throws {
        let fixture = try await filled(
            extra: "[upload]\nurl = https://ingest.example.org\ntoken_file = /etc/bandferry/token")
        let text = try await fixture.bandferry.run("upload", "status")
        #expect(text.status == 0, "\(text.errors)")
        #expect(text.output.contains("bandferryd is not running") && text.output.contains("40 samples"))
        let json = try await fixture.bandferry.run("--json", "upload", "status").output
        #expect(json.hasPrefix(#"{"state":"stopped","url":"https://ingest.example.org","pending":40,"#))
        #expect(try await fixture.bandferry.run("upload", "pause").status == 3)
    }

    @Test func gapsAreListed() async throws {
        let fixture = try await filled()
        let text = try await fixture.bandferry.run("gaps").output
        #expect(
            text.hasPrefix("F0:F1:F2:F3:F4:F5 (Anna)\n")
                && text.contains("10 records, 1 to 10 of ring b5e5d00d"))
        #expect(try await fixture.bandferry.run("gaps", "--all").output == text, "none has healed")
        #expect(try await fixture.bandferry.run("--json", "gaps").output.contains(#""cause":"overwritten""#))
    }

    @Test func whoWoreWhatIsListed() async throws {
        let fixture = try await filled(people: true)
        let persons = try await fixture.bandferry.run("person", "list")
        #expect(persons.status == 0, "\(persons.errors)")
        #expect(persons.output.contains("Anna Berg\n  id     p_a\n  name   shared with the server\n"))
        #expect(persons.output.contains("wears  F0:F1:F2:F3:F4:F5 (Anna)"))
        let json = try await fixture.bandferry.run("--json", "assignments", "F0:F1:F2:F3:F4:F5").output
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        let assignments = try #require(object["assignments"] as? [[String: Any]])
        #expect(assignments.compactMap { $0["person"] as? String } == ["p_b", "p_a"])
        #expect(assignments[0]["to"] as? String == "2026-10-26T07:33:51.000Z")
        #expect(assignments[1]["to"] is NSNull)
        // A second apart, and the clock was read to within 20 ms.
        let undecided = try #require((object["undecided"] as? [[String: Any]])?.first)
        #expect(undecided["first_seq"] as? Int == 30 && undecided["count"] as? Int == 1, "\(undecided)")
        let text = try await fixture.bandferry.run("assignments").output
        #expect(text.contains("Anna Berg (p_a)") && text.contains("until further notice"))
        #expect(text.contains("! F0:F1:F2:F3:F4:F5 (Anna): 1 sample at "))
    }

    @Test func withoutPersonsTheListsSayWhatToDo() async throws {
        let fixture = try await filled()
        #expect(
            try await fixture.bandferry.run("person", "list").output.contains("'bandferry person add NAME'"))
        #expect(try await fixture.bandferry.run("assignments").output.contains("No band is assigned"))
        #expect(try await fixture.bandferry.run("--json", "person", "list").output == "[]\n")
        #expect(try await fixture.bandferry.run("assignments", "band_X").status == 5)
    }

    @Test func readingLeavesTheStateAsItIs() async throws {
        let fixture = try await filled(people: true)
        let database = URL(fileURLWithPath: fixture.state).appendingPathComponent("gateway.db")
        let before = try Data(contentsOf: database)
        for command in [
            ["status"], ["gaps"], ["bands"], ["upload", "status"], ["export", "--format", "csv"],
            ["person", "list"],
            ["assignments"],
        ] {
            #expect(try await fixture.bandferry.run(command).status == 0)
        }
        #expect(try Data(contentsOf: database) == before)
    }

    // MARK: what does not work says why, by its status and its words

    @Test(arguments: [
        ["scan"], ["adopt", "F0:F1:F2:F3:F4:F5"], ["forget", "F0:F1:F2:F3:F4:F5"], ["sync"],
        ["person", "add", "Anna"], ["person", "zone", "Anna", "Europe/Berlin", "--from", "now"],
        ["assign", "F0:F1:F2:F3:F4:F5", "Anna", "--from", "now"],
        ["unassign", "F0:F1:F2:F3:F4:F5", "--from", "now"],
    ])
    func whatNeedsTheDaemonSaysSo(_ command: [String]) async throws {
        let ending = try await filled().bandferry.run(command)
        #expect(ending.status == 3)
        #expect(ending.errors.contains("What to do: "))
        #expect(ending.output.isEmpty)
    }

    @Test(arguments: [["fly"], ["export"], ["adopt", "nobody"], ["recover", "now"], ["status", "now"]])
    func aBadCommandLineIsUsage(_ command: [String]) async throws {
        let ending = try await StateFixture().bandferry.run(command)
        #expect(ending.status == 2)
        #expect(ending.errors.contains("Try 'bandferry help"))
    }

    @Test func withoutAStateDirectoryThereIsNothingToSay() async throws {
        let ending = try await StateFixture().bandferry.run("export", "--format", "csv")
        #expect(ending.status == 5)
        #expect(ending.errors.contains("no state directory"))
    }

    @Test func aBadConfigurationNamesFileLineAndKey() async throws {
        let fixture = try StateFixture(extra: "log_level = loud")
        let ending = try await fixture.bandferry.run("status")
        #expect(ending.status == 1)
        #expect(ending.errors.contains("\(fixture.configuration.path):3: log_level: "))
    }

    @Test func aMissingConfigurationIsAnErrorWhenItIsNamed() async throws {
        var bandferry = try StateFixture().bandferry
        bandferry.configuration = URL(fileURLWithPath: "/nonexistent.conf")
        let ending = try await bandferry.run("status")
        #expect(ending.status == 1)
        #expect(ending.errors.contains("/nonexistent.conf"))
    }

    @Test func helpAndVersionNeedNothing() async throws {
        let bandferry = Bandferry(configuration: URL(fileURLWithPath: "/nonexistent.conf"))
        #expect(try await bandferry.run("help").output.contains("EXIT STATUS"))
        #expect(try await bandferry.run("version").output == "bandferry \(programVersion)\n")
        #expect(
            try await bandferry.run("--json", "version").output == "{\"version\":\"\(programVersion)\"}\n")
    }

    // MARK: recover

    @Test func aSoundDatabaseIsNotRecovered() async throws {
        let fixture = try await filled()
        let ending = try await fixture.bandferry.run("recover", "--start-empty")
        #expect(ending.status == 1)
        #expect(ending.errors.contains("is sound"))
        #expect(
            try await fixture.bandferry.run("export", "--format", "csv").output.split(separator: "\n").count
                == 41)
    }

    @Test func aCorruptDatabaseIsReplacedAndKept() async throws {
        let fixture = try await filled()
        let state = URL(fileURLWithPath: fixture.state)
        var bytes = try Data(contentsOf: state.appendingPathComponent("gateway.db"))
        bytes.replaceSubrange(0..<4096, with: Data(repeating: 0x5a, count: 4096))
        try bytes.write(to: state.appendingPathComponent("gateway.db"))
        #expect(try await fixture.bandferry.run("status").status == 1)
        let ending = try await fixture.bandferry.run("--json", "recover", "--start-empty")
        #expect(ending.status == 0, "\(ending.errors)")
        #expect(
            ending.output == #"{"state_directory":"\#(fixture.state)","kept_as":null,"damaged_tables":null}"#
                + "\n")
        let names = try FileManager.default.contentsOfDirectory(atPath: fixture.state)
        #expect(names.contains { $0.hasPrefix("gateway.db.corrupt-") }, "the damaged one is never deleted")
        #expect(try await fixture.bandferry.run("status").status == 0)
    }

    @Test func recoveryWaitsForTheDaemonToStop() async throws {
        let fixture = try await filled()
        let lock = try StateDirectoryLock.acquire(directory: fixture.state)
        let ending = try await fixture.bandferry.run("recover", "--start-empty")
        #expect(ending.status == 1)
        #expect(ending.errors.contains("Stop the other daemon"))
        withExtendedLifetime(lock) {}
    }
}

private let programVersion = GatewayModel.Bandferry.version
