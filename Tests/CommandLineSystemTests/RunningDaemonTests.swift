import BandProfile
import BusTestSupport
import Foundation
import GatewayBus
import GatewayModel
import Locking
import Testing

/// Answers for the daemon, as it is told.
private struct FakeGateway: GatewayCommands {
    var failure: CommandFailure?
    var report = SyncReport(address: StateFixture.address, stored: 42)
    var during: @Sendable () async -> Void = {}
    let changes = Guarded<[String]>([])

    func scan(seconds: Int) async throws -> [SeenBand] {
        if let failure { throw failure }
        return [SeenBand(address: StateFixture.address, name: "Anna", rssi: -60)]
    }

    func adopt(_ request: AdoptRequest, asking person: (any PairingPerson)?) async throws {
        if let failure { throw failure }
    }
    func pair(_ address: BluetoothAddress, asking person: any PairingPerson) async throws {
        if let failure { throw failure }
    }
    func forget(_ address: BluetoothAddress) async throws { if let failure { throw failure } }

    func sync(_ address: BluetoothAddress?, noAck: Bool) async throws -> [SyncReport] {
        await during()
        if let failure { throw failure }
        return [report]
    }

    func addPerson(_ request: AddPersonRequest) async throws -> PersonID {
        if let failure { throw failure }
        return try request.id ?? #require(PersonID("p_00000000000000a1"))
    }

    func removePerson(_ person: String) async throws {
        if let failure { throw failure }
        changes.withLock { $0.append("no \(person)") }
    }

    func setZone(_ zone: String, from: Timestamp, of person: String) async throws {
        if let failure { throw failure }
        changes.withLock { $0.append("\(person) \(zone) \(from.milliseconds)") }
    }

    func removeZone(from: Timestamp, of person: String) async throws {
        changes.withLock { $0.append("\(person) \(from.milliseconds)") }
    }

    func assign(_ request: AssignRequest) async throws {
        if let failure { throw failure }
        let to = request.to.map { "\($0.milliseconds)" } ?? "-"
        changes.withLock { $0.append("\(request.band) \(request.person) \(request.from.milliseconds) \(to)") }
    }

    func unassign(_ band: String, from: Timestamp) async throws {
        changes.withLock { $0.append("\(band) \(from.milliseconds)") }
    }

    func reconcile(_ band: String?, days: Int?, isDryRun: Bool) async throws -> [ReconcileReport] {
        if let failure { throw failure }
        changes.withLock { $0.append("reconcile \(band ?? "-") \(days ?? 0) \(isDryRun)") }
        var report = ReconcileReport(device: StateFixture.device, isMarked: !isDryRun)
        report.days = 31
        report.problem = self.report.problem
        return [report]
    }

    func serverBands() async throws -> [ServerBand] {
        [
            ServerBand(
                device: StateFixture.device, address: StateFixture.address, samples: 4_711,
                lease: BandLease(
                    isOurs: false, holder: "gw_1", until: Timestamp(milliseconds: 1_793_079_060_000)))
        ]
    }

    func replace(_ request: ReplaceRequest) async throws -> [ReplaceReport] {
        if let failure { throw failure }
        changes.withLock { $0.append("replace \(request.bands) \(request.isForced)") }
        var report = ReplaceReport(
            device: StateFixture.device, address: StateFixture.address,
            outcome: request.isForced ? .takenOver : .refused)
        if !request.isForced { report.problem = Problem(code: "lease_held", text: "Held.", remedy: "Wait.") }
        return [report]
    }

    func uploadStatus() async throws -> UploadStatus {
        var status = UploadStatus(state: .waiting, url: "https://ingest.example.org")
        status.pending = 4_711
        return status
    }

    func uploadNow(wait: Duration) async throws -> UploadReport {
        if let failure { throw failure }
        return UploadReport(sent: 12, left: report.problem == nil ? 0 : 3, problem: report.problem)
    }

    func pauseUpload(for time: Duration?) async throws -> UploadPause {
        changes.withLock { $0.append("pause \(time.map { "\($0)" } ?? "-")") }
        let since = Timestamp(milliseconds: 1_793_079_060_000)
        return UploadPause(since: since, until: time.map { _ in Timestamp(milliseconds: 1_793_082_660_000) })
    }

    func resumeUpload() async throws { changes.withLock { $0.append("resume") } }

    func retryUpload(_ band: String?) async throws -> Int {
        if let failure { throw failure }
        changes.withLock { $0.append("retry \(band ?? "-")") }
        return 2
    }
}

private func status(next: UInt32 = 1, syncing: Bool = true) -> GatewayStatus {
    var band = BandStatus(address: StateFixture.address, device: StateFixture.device, mode: .own)
    band.name = "Anna"
    band.syncing = syncing
    band.newestSeq = 100
    band.nextSeq = next
    var status = GatewayStatus(version: "9.9.9", stateDirectory: "/s", running: true)
    status.bands = [band]
    return status
}

/// What the command line says with a daemon on the bus. Each case has a bus of its own.
@Suite(.timeLimit(.minutes(2))) struct RunningDaemonTests {
    private func bandferry(
        _ gateway: FakeGateway = FakeGateway(), deny: String = "", takesName: Bool = true,
        _ body: (Bandferry, GatewayBusService) async throws -> Void
    ) async throws {
        let fixture = try StateFixture()
        let bus = try PrivateBus(deny: deny)
        defer { bus.stop() }
        let service = try await GatewayBusService.open(
            .address(bus.address), commands: gateway, status: status(), interval: .milliseconds(1))
        if takesName { #expect(await service.takeName() == .owned) }
        var program = fixture.bandferry
        program.bus = bus.address
        try await body(program, service)
        await service.close()
    }

    @Test func theDaemonIsAskedFirst() async throws {
        try await bandferry { program, _ in
            let ending = try await program.run("status")
            #expect(ending.status == 0 && ending.output.contains("9.9.9, running"), "\(ending.errors)")
            #expect(try await program.run("--json", "bands").output.contains("F0:F1:F2:F3:F4:F5"))
        }
    }

    @Test func commandsAreDone() async throws {
        try await bandferry { program, _ in
            #expect(try await program.run("scan", "--seconds", "1").output.contains("-60 dBm"))
            #expect(
                try await program.run("adopt", "F0:F1:F2:F3:F4:F5", "--mode", "observe").output.contains(
                    "observe"))
            #expect(try await program.run("forget", "F0:F1:F2:F3:F4:F5").output.contains("are kept"))
            let sync = try await program.run("sync", "F0:F1:F2:F3:F4:F5")
            #expect(sync.status == 0 && sync.output.contains("42 new records"))
            #expect(
                try await program.run("--json", "sync").output.hasPrefix(
                    "[{\"address\":\"F0:F1:F2:F3:F4:F5\""))
        }
    }

    @Test func aBandIsNamedByAddressDeviceIDOrName() async throws {
        try await bandferry { program, _ in
            for name in ["F0:F1:F2:F3:F4:F5", "band_F0F1F2F3F4F5", "Anna"] {
                #expect(try await program.run("sync", name).output.contains("42 new records"))
                #expect(
                    try await program.run("forget", name).output.hasPrefix("F0:F1:F2:F3:F4:F5 is forgotten"))
            }
            let unknown = try await program.run("sync", "Berta")
            #expect(unknown.status == 5 && unknown.errors.contains("Known: band_F0F1F2F3F4F5"))
        }
    }

    @Test func whatIsSaidToTheUploadIsDone() async throws {
        let gateway = FakeGateway()
        try await bandferry(gateway) { program, _ in
            #expect(try await program.run("upload", "status").output.contains("4,711 samples"))
            let now = try await program.run("upload", "now")
            #expect(
                now.status == 0 && now.output == "12 samples went up. Nothing is left.\n", "\(now.errors)")
            let pause = try await program.run("upload", "pause", "--for", "1h")
            #expect(
                pause.output.hasPrefix("The upload is paused until 27 Oct 06:31 UTC, or until 'bandferry"))
            #expect(
                try await program.run("--json", "upload", "pause").output
                    == #"{"since":"2026-10-27T05:31:00.000Z","until":null}"# + "\n")
            #expect(try await program.run("upload", "resume").output == "The upload goes on.\n")
            #expect(try await program.run("upload", "retry").output.hasPrefix("2 samples"))
            #expect(try await program.run("--json", "upload", "retry", "Anna").output == "{\"samples\":2}\n")
        }
        #expect(
            gateway.changes.withLock { $0 } == [
                "pause 3600.0 seconds", "pause -", "resume", "retry -", "retry Anna",
            ])
    }

    @Test func aComparisonSaysWhatItFound() async throws {
        let gateway = FakeGateway()
        try await bandferry(gateway) { program, _ in
            let ending = try await program.run("reconcile", "Anna", "--days", "31", "--dry-run")
            #expect(ending.status == 0, "\(ending.errors)")
            #expect(ending.output == "F0:F1:F2:F3:F4:F5 (Anna): 31 days compared, no difference.\n")
            #expect(
                try await program.run("--json", "reconcile").output.hasPrefix(
                    #"[{"device_id":"band_F0F1F2F3F4F5","days":31,"#))
        }
        #expect(gateway.changes.withLock { $0 } == ["reconcile Anna 31 true", "reconcile - 0 false"])
    }

    @Test func bandsAreListedAndTakenOver() async throws {
        try await bandferry { program, _ in
            let list = try await program.run("replace")
            #expect(
                list.status == 0 && list.output.contains("gw_1 until 2026-10-27 05:31Z"), "\(list.errors)")
            let held = try await program.run("replace", "band_F0F1F2F3F4F5")
            #expect(held.status == 8 && held.output.contains("! Held."))
            let forced = try await program.run("--json", "replace", "band_F0F1F2F3F4F5", "--force")
            #expect(forced.status == 0 && forced.output.contains(#""outcome":"taken_over""#))
        }
    }

    @Test func anUploadThatGotNowhereSaysWhy() async throws {
        let report = SyncReport(
            address: StateFixture.address, stored: 0, problem: Problem(code: "c", text: "No.", remedy: "Try.")
        )
        try await bandferry(FakeGateway(report: report)) { program, _ in
            #expect(try await program.run("reconcile").status == 1)
            let ending = try await program.run("upload", "now")
            #expect(ending.status == 1 && ending.output.contains("What to do: Try."))
        }
    }

    @Test func whatIsSaidOfPersonsIsDone() async throws {
        let gateway = FakeGateway()
        try await bandferry(gateway) { program, _ in
            let added = try await program.run("person", "add", "Anna Berg")
            #expect(added.status == 0, "\(added.errors)")
            #expect(
                added.output.hasPrefix("Anna Berg is p_00000000000000a1; the server only knows the id.\n"))
            #expect(
                try await program.run("--json", "person", "add", "Ben", "--id", "p_7", "--share-name").output
                    == #"{"id":"p_7","name":"Ben","share_name":true,"zones":[]}"# + "\n")
            for line in [
                "person zone Ben Europe/Berlin --from 2026-10-27T05:31Z",
                "person zone Ben --remove --from 2026-10-27T05:31Z",
                "assign F0:F1:F2:F3:F4:F5 Ben --from 2026-10-27T05:31Z --to 2026-10-27T05:32Z",
                "assign F0:F1:F2:F3:F4:F5 Ben --from 2026-10-27T05:31Z",
                "unassign F0:F1:F2:F3:F4:F5 --from 2026-10-27T05:31Z", "person remove Ben",
            ] {
                let ending = try await program.run(line.split(separator: " ").map(String.init))
                #expect(ending.status == 0 && !ending.output.isEmpty, "\(line): \(ending.errors)")
            }
        }
        #expect(
            gateway.changes.withLock { $0 } == [
                "Ben Europe/Berlin 1793079060000", "Ben 1793079060000",
                "F0:F1:F2:F3:F4:F5 Ben 1793079060000 1793079120000",
                "F0:F1:F2:F3:F4:F5 Ben 1793079060000 -", "F0:F1:F2:F3:F4:F5 1793079060000", "no Ben",
            ])
    }

    /// What a script reads, and what the help says of it.
    static let answers = [
        (
            "adopt F0:F1:F2:F3:F4:F5 --mode observe --name Anna",
            #"{"address":"F0:F1:F2:F3:F4:F5","device_id":"band_F0F1F2F3F4F5","name":"Anna","mode":"observe","ack":"stored"}"#
        ),
        (
            "adopt F0:F1:F2:F3:F4:F5 --device-id ward-7",
            #"{"address":"F0:F1:F2:F3:F4:F5","device_id":"ward-7","name":null,"mode":"own","ack":"stored"}"#
        ),
        ("forget Anna", #"{"address":"F0:F1:F2:F3:F4:F5","adopted":false}"#),
        ("upload resume", #"{"paused":null}"#),
        (
            "assign Anna Ben --from 2026-10-27T05:31Z",
            #"{"band":"Anna","person":"Ben","from":"2026-10-27T05:31:00.000Z","to":null}"#
        ),
        (
            "assign Anna Ben --from 2026-10-27T05:31Z --to 2026-10-27T05:32Z",
            #"{"band":"Anna","person":"Ben","from":"2026-10-27T05:31:00.000Z","to":"2026-10-27T05:32:00.000Z"}"#
        ),
        ("unassign Anna --from 2026-10-27T05:31Z", #"{"band":"Anna","from":"2026-10-27T05:31:00.000Z"}"#),
        (
            "person zone Ben Europe/Berlin --from 2026-10-27T05:31Z",
            #"{"person":"Ben","zone":"Europe/Berlin","from":"2026-10-27T05:31:00.000Z"}"#
        ),
        (
            "person zone Ben --remove --from 2026-10-27T05:31Z",
            #"{"person":"Ben","zone":null,"from":"2026-10-27T05:31:00.000Z"}"#
        ),
        ("person remove Ben", #"{"person":"Ben","removed":true}"#),
    ]

    @Test func aCommandThatChangesSomethingAnswersAScript() async throws {
        try await bandferry { program, _ in
            for (line, answer) in Self.answers {
                let ending = try await program.run(["--json"] + line.split(separator: " ").map(String.init))
                #expect(ending.status == 0 && ending.output == answer + "\n", "\(line): \(ending.errors)")
            }
        }
    }

    @Test func pairingNeedsATerminal() async throws {
        try await bandferry { program, _ in
            let ending = try await program.run("pair", "Anna")
            #expect(ending.status == 1 && ending.errors.contains("run it at a terminal"))
        }
    }

    @Test func nowIsTakenFromTheClock() async throws {
        let gateway = FakeGateway()
        let before = Int64(Date().timeIntervalSince1970 * 1000)
        try await bandferry(gateway) { program, _ in
            let ending = try await program.run("unassign", "anna-1", "--from", "now")
            #expect(ending.status == 0, "\(ending.errors)")
        }
        let words = gateway.changes.withLock { $0 }.first?.split(separator: " ") ?? []
        let from = try #require(words.last.flatMap { Int64($0) })
        #expect((before - 1...Int64(Date().timeIntervalSince1970 * 1000)).contains(from))
    }

    @Test(arguments: [
        (CommandFailure.Code.invalidArguments, Int32(2)), (.notFound, 5), (.inConfiguration, 6),
        (.outOfRange, 7),
        (.notReady, 1), (.inProgress, 1), (.failed, 1), (.taken, 8),
    ])
    func aRefusalHasItsStatusAndItsWords(_ code: CommandFailure.Code, _ exit: Int32) async throws {
        let failure = CommandFailure(code, "remove line 7 of bandferry.conf")
        try await bandferry(FakeGateway(failure: failure)) { program, _ in
            let ending = try await program.run("forget", "F0:F1:F2:F3:F4:F5")
            #expect(ending.status == exit)
            #expect(ending.errors == "bandferry: remove line 7 of bandferry.conf\n")
            #expect(ending.output.isEmpty)
        }
    }

    @Test(arguments: [("band_unreachable", Int32(7)), ("pairing_failed", 1)])
    func aSyncThatDidNotGetEverythingSaysSo(_ code: String, _ exit: Int32) async throws {
        let report = SyncReport(
            address: StateFixture.address, stored: 0,
            problem: Problem(code: code, text: "No.", remedy: "Try."))
        try await bandferry(FakeGateway(report: report)) { program, _ in
            let ending = try await program.run("sync")
            #expect(ending.status == exit)
            #expect(ending.output.contains("What to do: Try."))
        }
    }

    @Test func progressIsPrintedWhileASyncLasts() async throws {
        let asked = AsyncStream.makeStream(of: Void.self)
        let go = AsyncStream.makeStream(of: Void.self)
        let gateway = FakeGateway(during: {
            asked.continuation.yield()
            for await _ in go.stream { break }
        })
        try await bandferry(gateway) { program, service in
            // The program runs while the test publishes.
            async let ending = Task.detached { try await program.run("sync") }.value
            for await _ in asked.stream { break }
            for next in UInt32(1)...101 {
                await service.publish(status(next: next))
                // Not a guess of speed: fewer steps would be seen, the last one in any case.
                try await Task.sleep(for: .milliseconds(5))
            }
            try await Task.sleep(for: .milliseconds(500))
            go.continuation.yield()
            let output = try await ending.output
            #expect(output.contains("100%, "), "\(output)")
            #expect(output.contains("42 new records"))
            #expect(!output.contains("\u{1b}"), "no cursor moves in a file")
        }
    }

    @Test func aUserWithoutPermissionIsTold() async throws {
        try await bandferry(deny: "<deny send_destination=\"org.bandferry\"/>") { program, _ in
            let ending = try await program.run("scan")
            #expect(ending.status == 4)
            #expect(ending.errors.contains("usermod -aG bandferry"))
        }
    }

    @Test func withoutTheNameTheStateDirectoryIsRead() async throws {
        try await bandferry(takesName: false) { program, _ in
            #expect(try await program.run("scan").status == 3)
            // There is no state directory here, which is what it says, and not a word of the bus.
            let ending = try await program.run("status")
            #expect(ending.status == 5 && ending.errors.contains("no state directory"))
        }
    }
}
