import BandProfile
import BusTestSupport
import DBus
import GatewayModel
import Testing

@testable import GatewayBus

private let address = FakeGateway.address
private let other = FakeGateway.other

@Suite(.timeLimit(.minutes(2))) struct ServiceAndClientTests {
    @Test func theStatusIsReadBackWhole() async throws {
        var first = status([band(address), band(other, next: 7)])
        first.problems = [Problem(code: "a", text: "b", remedy: "c", since: Timestamp(milliseconds: 5))]
        first.uploadURL = "https://ingest.example.org"
        let setup = try await Connected.open(FakeGateway(), first)
        #expect(try await setup.client.status() == first)
        await setup.stop()
    }

    @Test func everyCommandReachesTheGateway() async throws {
        let gateway = FakeGateway()
        let setup = try await Connected.open(gateway)
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
        let setup = try await Connected.open(gateway)
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
        let setup = try await Connected.open(gateway, first)
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
        let setup = try await Connected.open(gateway)
        #expect(try await setup.client.serverBands().map(\.samples) == [7])
        let requests = [
            ReplaceRequest(bands: [], isEverything: true, isDryRun: true),
            ReplaceRequest(bands: ["anna-1"], address: address, isForced: true),
            ReplaceRequest(bands: ["anna-1", "F0:F1:F2:F3:F4:F5", "Anna's band"]),
        ]
        for request in requests {
            #expect(try await setup.client.replace(request).map(\.outcome) == [.takenOver])
        }
        #expect(gateway.asked == ["server bands"] + requests.map { "replace \($0)" })
        await setup.stop()
    }

    @Test func whatIsSaidOfPersonsReachesTheGateway() async throws {
        let gateway = FakeGateway()
        let setup = try await Connected.open(gateway)
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
        try await setup.client.assign(AssignRequest(band: "Anna's band", person: "Anna Ü", from: from))
        try await setup.client.unassign("Anna's band", from: to)
        try await setup.client.removePerson("Ben")
        #expect(
            gateway.asked == [
                "add Anna Ü p_7 true", "add Ben any false", "zone Anna Ü Europe/Berlin 0", "no zone p_7 0",
                "assign F0:F1:F2:F3:F4:F5 p_7 0 253402300799999", "assign Anna's band Anna Ü 0 -",
                "unassign Anna's band 253402300799999", "no person Ben",
            ])
        await setup.stop()
    }

    @Test func changesAreFollowedAndGoneBandsVanish() async throws {
        let setup = try await Connected.open(FakeGateway())
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
        let setup = try await Connected.open(FakeGateway(), interval: .seconds(1))
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
        let setup = try await Connected.open(FakeGateway())
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
        let setup = try await Connected.open(gateway)
        let raw = try await BusConnection.open(.address(setup.bus.address))
        let reply = try await raw.call(
            "org.bandferry", path: "/org/bandferry/band_F0_F1_F2_F3_F4_F5", interface: "org.bandferry.Band1",
            "Sync",
            [.properties([:])], deadline: .seconds(20))
        #expect(reply.first?.properties?["Stored"]?.integer == 42)
        #expect(gateway.asked == ["sync \(address) false"])
        await setup.stop()
    }
}
