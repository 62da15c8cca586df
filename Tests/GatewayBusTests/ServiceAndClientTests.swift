import BandProfile
import BusTestSupport
import DBus
import GatewayModel
import Locking
import Testing

@testable import GatewayBus

private let address = BluetoothAddress(bits: 0xf0f1_f2f3_f4f5)
private let other = BluetoothAddress(bits: 0xf0f1_f2f3_f4f6)

/// Notes what was asked and answers as it is told.
private final class FakeGateway: GatewayCommands {
    private let notes = Guarded<[String]>([])
    private let failure: CommandFailure?
    let held = AsyncStream.makeStream(of: Void.self)

    init(failure: CommandFailure? = nil) { self.failure = failure }

    var asked: [String] { notes.withLock { $0 } }

    private func note(_ text: String) throws {
        notes.withLock { $0.append(text) }
        if let failure { throw failure }
    }

    func scan(seconds: Int) async throws -> [SeenBand] {
        try note("scan \(seconds)")
        return [SeenBand(address: address, name: "Anna", rssi: -60, mode: .own), SeenBand(address: other)]
    }

    func adopt(_ request: AdoptRequest) async throws { try note("adopt \(request)") }
    func forget(_ address: BluetoothAddress) async throws { try note("forget \(address)") }

    func sync(_ address: BluetoothAddress?, noAck: Bool) async throws -> [SyncReport] {
        try note("sync \(address?.description ?? "all") \(noAck)")
        if noAck { for await _ in held.stream { break } }
        return [SyncReport(address: address ?? other, stored: 42)]
    }

    func addPerson(_ request: AddPersonRequest) async throws -> PersonID {
        try note("add \(request.name) \(request.id?.text ?? "any") \(request.sharesName)")
        return try #require(PersonID("p_00000000000000a1"))
    }

    func setZone(_ zone: String, from: Timestamp, of person: String) async throws {
        try note("zone \(person) \(zone) \(from.milliseconds)")
    }

    func removeZone(from: Timestamp, of person: String) async throws {
        try note("no zone \(person) \(from.milliseconds)")
    }

    func assign(_ request: AssignRequest) async throws {
        let to = request.to.map { "\($0.milliseconds)" } ?? "-"
        try note("assign \(request.band) \(request.person) \(request.from.milliseconds) \(to)")
    }

    func unassign(_ band: String, from: Timestamp) async throws {
        try note("unassign \(band) \(from.milliseconds)")
    }

    func reconcile(_ band: String?, days: Int?, isDryRun: Bool) async throws -> [ReconcileReport] {
        try note("reconcile \(band ?? "all") \(days ?? 0) \(isDryRun)")
        return [ReconcileReport(device: DeviceID(address), isMarked: !isDryRun)]
    }

    func serverBands() async throws -> [ServerBand] {
        try note("server bands")
        return [ServerBand(device: DeviceID(address), address: address, samples: 7)]
    }

    func replace(_ request: ReplaceRequest) async throws -> [ReplaceReport] {
        try note("replace \(request)")
        return [ReplaceReport(device: DeviceID(address), address: address, outcome: .takenOver)]
    }

    func uploadStatus() async throws -> UploadStatus {
        try note("upload status")
        return UploadStatus(state: .paused, url: "https://ingest.example.org")
    }

    func uploadNow(wait: Duration) async throws -> UploadReport {
        try note("upload now \(wait)")
        return UploadReport(sent: 7, left: 2, isCut: true)
    }

    func pauseUpload(for time: Duration?) async throws -> UploadPause {
        try note("pause \(time.map { "\($0)" } ?? "-")")
        return UploadPause(
            since: Timestamp(milliseconds: 5), until: time.map { _ in Timestamp(milliseconds: 9) })
    }

    func resumeUpload() async throws { try note("resume") }

    func retryUpload(_ band: String?) async throws -> Int {
        try note("retry \(band ?? "all")")
        return 3
    }
}

private func status(_ bands: [BandStatus]) -> GatewayStatus {
    var status = GatewayStatus(version: "1", stateDirectory: "/s", running: true)
    status.bands = bands
    return status
}

private func band(_ address: BluetoothAddress, next: UInt32 = 1) -> BandStatus {
    var band = BandStatus(address: address, device: DeviceID(address), mode: .own)
    band.syncing = true
    band.newestSeq = 100
    band.nextSeq = next
    return band
}

@Suite(.timeLimit(.minutes(2))) struct ServiceAndClientTests {
    /// A bus, a service that owns its name, and a client.
    private struct Connected {
        var bus: PrivateBus
        var service: GatewayBusService
        var client: GatewayBusClient

        /// The service lives until here.
        func stop() async {
            await service.close()
            bus.stop()
        }
    }

    private func connected(
        _ gateway: FakeGateway, _ first: GatewayStatus = status([band(address)]),
        interval: Duration = .milliseconds(1)
    ) async throws -> Connected {
        let bus = try PrivateBus()
        let service = try await GatewayBusService.open(
            .address(bus.address), commands: gateway, status: first, interval: interval)
        #expect(await service.takeName() == .owned)
        return Connected(bus: bus, service: service, client: try await .connect(.address(bus.address)))
    }

    @Test func theStatusIsReadBackWhole() async throws {
        var first = status([band(address), band(other, next: 7)])
        first.problems = [Problem(code: "a", text: "b", remedy: "c", since: Timestamp(milliseconds: 5))]
        first.uploadURL = "https://ingest.example.org"
        let setup = try await connected(FakeGateway(), first)
        #expect(try await setup.client.status() == first)
        await setup.stop()
    }

    @Test func everyCommandReachesTheGateway() async throws {
        let gateway = FakeGateway()
        let setup = try await connected(gateway)
        let request = AdoptRequest(address: other, mode: .observe, device: DeviceID("d"), name: "n")
        #expect(try await setup.client.scan(seconds: 5).map(\.address) == [address, other])
        try await setup.client.adopt(request)
        try await setup.client.forget(address)
        #expect(try await setup.client.sync(nil, noAck: false) == [SyncReport(address: other, stored: 42)])
        #expect(
            try await setup.client.sync(address, noAck: false) == [SyncReport(address: address, stored: 42)])
        #expect(
            gateway.asked == [
                "scan 5", "adopt \(request)", "forget \(address)", "sync all false", "sync \(address) false",
            ])
        await setup.stop()
    }

    @Test func whatIsSaidToTheUploadReachesTheGateway() async throws {
        let gateway = FakeGateway()
        let setup = try await connected(gateway)
        #expect(try await setup.client.uploadStatus().url == "https://ingest.example.org")
        #expect(
            try await setup.client.uploadNow(wait: .seconds(5)) == UploadReport(sent: 7, left: 2, isCut: true)
        )
        #expect(try await setup.client.pauseUpload(for: nil).until == nil)
        #expect(try await setup.client.pauseUpload(for: .seconds(3600)).until == Timestamp(milliseconds: 9))
        try await setup.client.resumeUpload()
        #expect(try await setup.client.retryUpload(nil) == 3)
        #expect(try await setup.client.retryUpload("Anna Ü") == 3)
        #expect(
            gateway.asked == [
                "upload status", "upload now 5.0 seconds", "pause -", "pause 3600.0 seconds", "resume",
                "retry all",
                "retry Anna Ü",
            ])
        await setup.stop()
    }

    @Test func aComparisonIsAskedForAndItsProgressShown() async throws {
        let gateway = FakeGateway()
        var first = status([band(address)])
        first.reconciling = ReconcileProgress(device: DeviceID(address), done: 3, total: 31)
        let setup = try await connected(gateway, first)
        #expect(try await setup.client.status().reconciling == first.reconciling)
        #expect(
            try await setup.client.reconcile(nil, days: nil, isDryRun: true)
                == [ReconcileReport(device: DeviceID(address), isMarked: false)])
        _ = try await setup.client.reconcile("Anna Ü", days: 7, isDryRun: false)
        #expect(gateway.asked == ["reconcile all 0 true", "reconcile Anna Ü 7 false"])
        await setup.stop()
    }

    @Test func bandsAreListedAndTakenOver() async throws {
        let gateway = FakeGateway()
        let setup = try await connected(gateway)
        #expect(try await setup.client.serverBands().map(\.samples) == [7])
        let requests = [
            ReplaceRequest(bands: [], isEverything: true, isDryRun: true),
            ReplaceRequest(bands: ["anna-1"], address: address, isForced: true),
            ReplaceRequest(bands: ["anna-1", "F0:F1:F2:F3:F4:F5"]),
        ]
        for request in requests {
            #expect(try await setup.client.replace(request).map(\.outcome) == [.takenOver])
        }
        #expect(gateway.asked == ["server bands"] + requests.map { "replace \($0)" })
        await setup.stop()
    }

    @Test func whatTheUploadCanNotDoIsRefused() async throws {
        let gateway = FakeGateway()
        let setup = try await connected(gateway)
        for (member, arguments) in [
            ("UploadNow", [BusValue.properties(["Wait": .uint32(100_000)])]),
            ("UploadNow", [.properties(["Wait": .string("1m")])]),
            ("PauseUpload", [.properties(["Until": .uint32(5)])]),
            ("Reconcile", [.string(""), .properties(["Days": .uint32(0)])]),
            ("Reconcile", [.string(""), .properties(["DryRun": .string("yes")])]),
            ("Replace", [.strings([]), .properties([:])]),
            ("Replace", [.strings(["a"]), .properties(["All": .bool(true)])]),
            ("Replace", [.strings(["a", "b"]), .properties(["Address": .string("F0:F1:F2:F3:F4:F5")])]),
            ("Replace", [.strings(["a/b"]), .properties([:])]),
            ("RetryUpload", [.string("a\u{1b}")]),
        ] {
            await #expect(throws: GatewayBusFailure.self) {
                _ = try await setup.client.call(member, arguments, deadline: .seconds(20))
            }
        }
        #expect(gateway.asked.isEmpty)
        await setup.stop()
    }

    @Test func whatIsSaidOfPersonsReachesTheGateway() async throws {
        let gateway = FakeGateway()
        let setup = try await connected(gateway)
        let (from, to) = (Timestamp(milliseconds: 0), Timestamp(milliseconds: 253_402_300_799_999))
        let id = try #require(PersonID("p_7"))
        #expect(
            try await setup.client.addPerson(AddPersonRequest(name: "Anna Ü", id: id, sharesName: true)).text
                == "p_00000000000000a1")
        _ = try await setup.client.addPerson(AddPersonRequest(name: "Ben"))
        try await setup.client.setZone("Europe/Berlin", from: from, of: "Anna Ü")
        try await setup.client.removeZone(from: from, of: "p_7")
        try await setup.client.assign(
            AssignRequest(band: "F0:F1:F2:F3:F4:F5", person: "p_7", from: from, to: to))
        try await setup.client.assign(AssignRequest(band: "anna-1", person: "Anna Ü", from: from))
        try await setup.client.unassign("anna-1", from: to)
        #expect(
            gateway.asked == [
                "add Anna Ü p_7 true", "add Ben any false", "zone Anna Ü Europe/Berlin 0", "no zone p_7 0",
                "assign F0:F1:F2:F3:F4:F5 p_7 0 253402300799999", "assign anna-1 Anna Ü 0 -",
                "unassign anna-1 253402300799999",
            ])
        await setup.stop()
    }

    @Test(arguments: CommandFailure.Code.allCases) func aFailureArrivesAsItWas(_ code: CommandFailure.Code)
        async throws
    {
        let failure = CommandFailure(code, "remove line 7")
        let setup = try await connected(FakeGateway(failure: failure))
        do {
            try await setup.client.forget(address)
            Issue.record("no failure")
        } catch {
            #expect(error == .command(failure))
        }
        await setup.stop()
    }

    @Test func changesAreFollowedAndGoneBandsVanish() async throws {
        let setup = try await connected(FakeGateway())
        let changes = try await setup.client.bandChanges()
        var seen = changes.makeAsyncIterator()
        #expect(await seen.next()?.nextSeq == 1)
        await setup.service.publish(status([band(address, next: 50)]))
        #expect(await seen.next()?.nextSeq == 50)
        var done = band(address, next: 101)
        done.syncing = false
        done.nextSeq = nil
        await setup.service.publish(status([done, band(other)]))
        let last = [await seen.next(), await seen.next()]
        #expect(last.contains(done) && last.contains(band(other)))
        await setup.service.publish(status([band(other)]))
        await eventually { (try? await setup.client.status().bands.map(\.address)) == [other] }
        await setup.stop()
    }

    @Test func manyChangesAreSentAsFew() async throws {
        let setup = try await connected(FakeGateway(), interval: .seconds(1))
        let changes = try await setup.client.bandChanges()
        for next in UInt32(2)...500 { await setup.service.publish(status([band(address, next: next)])) }
        var received = 0
        for await change in changes {
            received += 1
            if change.nextSeq == 500 { break }
        }
        // The first, the state of the client's reading, the newest, and one a second that the loop above takes.
        #expect(received < 250, "\(received) signals for 499 changes")
        await setup.stop()
    }

    @Test func scanningIsShownWhileItLasts() async throws {
        let setup = try await connected(FakeGateway())
        _ = try await setup.client.scan(seconds: 1)
        let raw = try await BusConnection.open(.address(setup.bus.address))
        let reply = try await raw.call(
            "org.bandferry", path: "/org/bandferry", interface: "org.freedesktop.DBus.Properties", "Get",
            [.string("org.bandferry.Gateway1"), .string("Scanning")], deadline: .seconds(20))
        #expect(reply.first?.flag == false)
        await setup.stop()
    }

    @Test func aBandSyncsThroughItsOwnObject() async throws {
        let gateway = FakeGateway()
        let setup = try await connected(gateway)
        let raw = try await BusConnection.open(.address(setup.bus.address))
        let reply = try await raw.call(
            "org.bandferry", path: "/org/bandferry/band_F0_F1_F2_F3_F4_F5", interface: "org.bandferry.Band1",
            "Sync",
            [.properties([:])], deadline: .seconds(20))
        #expect(reply.first?.properties?["Stored"]?.integer == 42)
        #expect(gateway.asked == ["sync \(address) false"])
        await setup.stop()
    }

    // Not in the attribute: too much to infer for Swift 6.0.3.
    static let badArguments: [(String, [BusValue])] = [
        ("Scan", [.uint32(0)]), ("Scan", [.uint32(301)]), ("Forget", [.string("nobody")]),
        ("Sync", [.string("x"), .properties([:])]),
        ("Sync", [.string(""), .properties(["NoAck": .string("yes")])]),
        ("Sync", [.string(""), .properties(["Fast": .bool(true)])]),
        ("Adopt", [.string("x"), .properties([:])]),
        ("AddPerson", [.string(""), .properties([:])]), ("AddPerson", [.string(" Anna"), .properties([:])]),
        ("AddPerson", [.string("Anna\n"), .properties([:])]),
        ("AddPerson", [.string("Anna"), .properties(["ID": .string("a/b")])]),
        ("AddPerson", [.string("Anna"), .properties(["ShareName": .string("yes")])]),
        ("AddPerson", [.string("Anna"), .properties(["Colour": .string("red")])]),
        ("SetZone", [.string(""), .string("UTC"), .int64(0)]),
        ("SetZone", [.string("Anna"), .string("UTC"), .int64(-1)]),
        ("RemoveZone", [.string("Anna"), .int64(253_402_300_800_000)]),
        ("Assign", [.string("a/b"), .string("Anna"), .int64(0), .properties([:])]),
        ("Assign", [.string("b"), .string(""), .int64(0), .properties([:])]),
        ("Assign", [.string("b"), .string("Anna"), .int64(.min), .properties([:])]),
        ("Assign", [.string("b"), .string("Anna"), .int64(0), .properties(["To": .int64(.max)])]),
        ("Assign", [.string("b"), .string("Anna"), .int64(0), .properties(["To": .string("now")])]),
        ("Assign", [.string("b"), .string("Anna"), .int64(0), .properties(["Until": .int64(1)])]),
        ("Unassign", [.string(""), .int64(0)]), ("Unassign", [.string("b"), .int64(.max)]),
    ]

    @Test(arguments: badArguments)
    func badArgumentsAreRefused(_ member: String, _ arguments: [BusValue]) async throws {
        let gateway = FakeGateway()
        let setup = try await connected(gateway)
        let raw = try await BusConnection.open(.address(setup.bus.address))
        do throws(BusError) {
            _ = try await raw.call(
                "org.bandferry", path: "/org/bandferry", interface: "org.bandferry.Gateway1", member,
                arguments,
                deadline: .seconds(20))
            Issue.record("accepted")
        } catch {
            #expect(error.name == "org.bandferry.Error.InvalidArguments")
        }
        #expect(gateway.asked.isEmpty)
        await setup.stop()
    }

    @Test func tooManyCommandsAtOnceAreRefused() async throws {
        let gateway = FakeGateway()
        let setup = try await connected(gateway)
        let outcomes = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<20 {
                group.addTask { (try? await setup.client.sync(address, noAck: true)) != nil }
            }
            await eventually { gateway.asked.count >= 16 }
            // Four are refused while sixteen wait; then each of these is let go.
            var refused = 0
            for _ in 0..<4 { if await group.next() == false { refused += 1 } }
            #expect(refused == 4)
            for _ in 0..<40 { gateway.held.continuation.yield() }
            gateway.held.continuation.finish()
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.count == 16 && outcomes.allSatisfy { $0 })
        await setup.stop()
    }

    @Test func withoutAPolicyTheNameIsNotTakenAndTheFileIsNamed() async throws {
        let bus = try PrivateBus(deny: "<deny own=\"org.bandferry\"/>")
        let service = try await GatewayBusService.open(
            .address(bus.address), commands: FakeGateway(), status: status([]))
        #expect(
            await service.takeName()
                == .notPermitted(policyFile: "/usr/share/dbus-1/system.d/org.bandferry.conf"))
        #expect(await failure(of: bus) == .notRunning)
        // It goes on: publishing to nobody is no error.
        await service.publish(status([band(address)]))
        bus.stop()
    }

    @Test func aSecondDaemonDoesNotTakeTheName() async throws {
        let setup = try await connected(FakeGateway())
        let second = try await GatewayBusService.open(
            .address(setup.bus.address), commands: FakeGateway(), status: status([]))
        #expect(await second.takeName() == .taken)
        await setup.stop()
    }

    @Test func aUserWithoutPermissionIsTold() async throws {
        let bus = try PrivateBus(deny: "<deny send_destination=\"org.bandferry\"/>")
        let service = try await GatewayBusService.open(
            .address(bus.address), commands: FakeGateway(), status: status([]))
        #expect(await service.takeName() == .owned)
        let client = try await GatewayBusClient.connect(.address(bus.address))
        do {
            _ = try await client.status()
            Issue.record("was let in")
        } catch {
            #expect(error == .notPermitted)
        }
        bus.stop()
    }

    @Test func withoutADaemonOrABusTheClientSaysSo() async throws {
        let bus = try PrivateBus()
        #expect(await failure(of: bus) == .notRunning)
        let gone = bus.address
        bus.stop()
        do {
            _ = try await GatewayBusClient.connect(.address(gone))
            Issue.record("connected to nothing")
        } catch {
            guard case .noBus = error else {
                Issue.record("\(error)")
                return
            }
        }
    }

    @Test func aDaemonThatDiesFailsTheCall() async throws {
        let gateway = FakeGateway()
        let setup = try await connected(gateway)
        async let outcome = result(setup.client)
        await eventually { !gateway.asked.isEmpty }
        await setup.service.close()
        guard case .broken = await outcome else {
            Issue.record("the call did not fail")
            return
        }
        await setup.stop()
    }

    // MARK: helpers

    private func result(_ client: GatewayBusClient) async -> GatewayBusFailure? {
        do {
            _ = try await client.sync(address, noAck: true)
            return nil
        } catch {
            return error
        }
    }

    private func failure(of bus: PrivateBus) async -> GatewayBusFailure? {
        do {
            _ = try await GatewayBusClient.connect(.address(bus.address))
            return nil
        } catch {
            return error
        }
    }

    /// Waits without a guess of how long it takes; the suite's time limit ends it.
    private func eventually(_ condition: @Sendable () async -> Bool) async {
        while !(await condition()), !Task.isCancelled { try? await Task.sleep(for: .milliseconds(5)) }
    }
}
