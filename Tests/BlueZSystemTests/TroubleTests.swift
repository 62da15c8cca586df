import BandModel
import BandProfile
import BandSimulator
import DBus
import Testing

@testable import BlueZ
@testable import BlueZModel

@Suite(.timeLimit(.minutes(2))) struct TroubleTests {
    @Test func aFailedConnectIsTransientAndTheNextOneWorks() async throws {
        let bed = try await GatewayBed.start(faults: "connectfails@1")
        let got = await failure { try await bed.connect() }
        #expect(got?.kind == .transient && got?.retry == .backOff)
        _ = try await bed.connect()
    }

    @Test func aHangingConnectIsCancelledAtItsDeadline() async throws {
        let bed = try await GatewayBed.start(faults: "connecthangs@1")
        let got = await failure { try await bed.connect(deadline: .milliseconds(200)) }
        #expect(got?.kind == .deadline)
        // The pending Connect was cancelled with Disconnect: a new one is not "in progress".
        _ = try await bed.connect()
    }

    @Test func anAbsentBandIsUnreachable() async throws {
        let bed = try await GatewayBed.start { $0.timeScale = 5 }
        try await bed.discover()
        try await bed.simulator.setPresent(band, false)
        #expect(await failure { try await bed.client.connect(band) }?.kind == .transient)
    }

    @Test func aBandThatWasNeverSeenAsksForDiscovery() async throws {
        let bed = try await GatewayBed.start()
        let got = await failure { try await bed.client.connect(BluetoothAddress(bits: 1)) }
        #expect(got?.kind == .gone && got?.retry == .rediscover)
    }

    @Test func servicesThatComeLateAreWaitedFor() async throws {
        let bed = try await GatewayBed.start(faults: "lateservices@1:1000")
        _ = try await bed.connect()
    }

    @Test func resolvedWithoutObjectsIsNotBelieved() async throws {
        let bed = try await GatewayBed.start(faults: "noobjects@1")
        let got = await failure { try await bed.connect() }
        #expect(got?.kind == .noService)
        #expect(got?.sentence.contains("bf1e0002") == true)
        // The link was dropped, so that the band advertises again.
        #expect(try await !bed.simulator.isConnected(band))
        _ = try await bed.connect()
    }

    @Test(arguments: ["neveranswer:AcquireNotify@1", "notifyrefused@1"])
    func anAcquireThatIsNeverAnsweredEndsAtItsDeadline(_ faults: String) async throws {
        var timings = GatewayBed.timings
        timings.subscribe = .milliseconds(300)
        let bed = try await GatewayBed.start(faults: faults, timings: timings)
        let link = try await bed.connect()
        let got = await failure { try await link.subscribe(into: NotificationMailbox()) }
        #expect(got?.kind == .deadline && got?.retry == .reconnect)
        await link.disconnect()
        let next = try await bed.connect()
        try await next.subscribe(into: NotificationMailbox())
    }

    @Test func aReadThatIsNeverAnsweredEndsAtItsDeadline() async throws {
        var timings = GatewayBed.timings
        timings.read = .milliseconds(100)
        let bed = try await GatewayBed.start(faults: "neveranswer:ReadValue@1", timings: timings)
        let link = try await bed.connect()
        #expect(await failure { try await link.readInfo() }?.kind == .deadline)
    }

    @Test func aDeviceThatVanishesEndsItsCallsAtOnce() async throws {
        var timings = GatewayBed.timings
        // Far longer than the test may take.
        timings.read = .seconds(1_000)
        let bed = try await GatewayBed.start(faults: "vanish@1", timings: timings)
        let box = LostBox()
        let link = try await bed.connect { box.add($0) }
        // Or it would be found again.
        try await bed.client.stopDiscovery(on: simulatedAdapter)
        #expect(await failure { try await link.readInfo() }?.kind == .gone)
        #expect(!link.isAlive)
        #expect(box.all.map(\.kind) == [.gone])
        #expect(await bed.client.device(band) == nil)
    }

    @Test func aRestartOfBluetoothdIsSurvived() async throws {
        let bed = try await GatewayBed.start(records: 20)
        try await bed.client.registerAgent { _ in true }
        let box = LostBox()
        let link = try await bed.connect { box.add($0) }
        let mailbox = NotificationMailbox()
        try await link.subscribe(into: mailbox)
        try await bed.stopSimulator()
        try await bed.wait { $0.contains(.bluetoothdGone) }
        #expect(!link.isAlive && box.all.count == 1)
        try await bed.wait { _ in mailbox.take(max: 1).ended }
        #expect(await bed.client.devices().isEmpty)
        #expect(await failure { try await bed.client.connect(band) }?.kind == .serviceGone)
        try await bed.startSimulator()
        try await bed.wait { $0.contains(.bluetoothdBack) }
        try await bed.discover()
        try await bed.wait { _ in await bed.client.device(band) != nil }
        let next = try await bed.client.connect(band)
        let nextMailbox = NotificationMailbox()
        try await next.subscribe(into: nextMailbox)
        #expect(try await bed.stream(from: 1, next, nextMailbox).count == 20)
    }

    @Test func bluetoothdMayComeLater() async throws {
        let bed = try await GatewayBed.start(simulated: false)
        #expect(await !bed.client.isServiceRunning)
        #expect(
            await failure { try await bed.client.startDiscovery(on: simulatedAdapter) }?.kind == .serviceGone)
        try await bed.startSimulator()
        try await bed.wait { $0.contains(.bluetoothdBack) }
        try await bed.discover()
    }

    @Test func aLostBusIsTold() async throws {
        let bed = try await GatewayBed.start()
        let link = try await bed.connect()
        bed.bus.stop()
        try await bed.wait { $0.contains(.busLost) }
        #expect(!link.isAlive)
        #expect(await failure { try await link.readInfo() }?.kind == .notConnected)
        #expect(await failure { try await bed.client.startDiscovery(on: simulatedAdapter) }?.kind == .busGone)
    }

    @Test func anAdapterThatIsOffOrMissingIsAState() async throws {
        let bed = try await GatewayBed.start(adapter: BluetoothAddress(bits: 7))
        let got = await failure { try await bed.client.startDiscovery(on: simulatedAdapter) }
        #expect(got?.kind == .notReady && got?.retry == .whenAdapterIsReady)
        #expect(await bed.client.adapters().map(\.powered) == [true])
    }

    @Test func aNamedAdapterIsFoundByItsAddress() async throws {
        let bed = try await GatewayBed.start(adapter: BluetoothAddress("00:AA:01:00:00:23"))
        _ = try await bed.connect()
    }

    @Test func switchingTheAdapterOffEndsDiscovery() async throws {
        let bed = try await GatewayBed.start()
        try await bed.discover()
        let other = try await BusConnection.open(.address(bed.bus.address))
        func power(_ on: Bool) async throws {
            _ = try await other.call(
                "org.bluez", path: "/org/bluez/hci0", interface: "org.freedesktop.DBus.Properties", "Set",
                [.string("org.bluez.Adapter1"), .string("Powered"), .variant(.bool(on))],
                deadline: .seconds(30))
        }
        try await power(false)
        try await bed.wait { _ in await bed.client.adapters().first?.powered == false }
        #expect(await failure { try await bed.client.connect(band) }?.kind == .notReady)
        try await power(true)
        try await bed.wait { _ in await bed.client.adapters().first?.powered == true }
        try await bed.client.startDiscovery(on: simulatedAdapter)
        try await bed.wait { _ in await bed.client.adapters().first?.discovering == true }
    }

    @Test func removingABandForgetsIt() async throws {
        let bed = try await GatewayBed.start()
        let link = try await bed.connect()
        try await bed.client.remove(band)
        #expect(!link.isAlive)
        try await bed.client.remove(band)
    }

    @Test func signalsOfOthersAreNotBelieved() async throws {
        let bed = try await GatewayBed.start()
        let link = try await bed.connect()
        let liar = try await BusConnection.open(.address(bed.bus.address))
        let name = try #require(await bed.client.connection?.uniqueName)
        try liar.emit(
            BusSignal(
                path: BlueZPath(adapter: 0, device: band).description,
                interface: "org.freedesktop.DBus.Properties", member: "PropertiesChanged",
                arguments: [
                    .string(BlueZName.device), .properties(["Connected": .bool(false)]), .strings([]),
                ]), to: name)
        try liar.emit(
            BusSignal(
                path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus", member: "NameOwnerChanged",
                arguments: [.string("org.bluez"), .string(":1.0"), .string("")]), to: name)
        await liar.flush()
        _ = try await link.readInfo()
        #expect(link.isAlive)
    }

    @Test func anAgentAnswersBluetoothdOnly() async throws {
        let bed = try await GatewayBed.start()
        try await bed.client.registerAgent { _ in true }
        let liar = try await BusConnection.open(.address(bed.bus.address))
        let name = try #require(await bed.client.connection?.uniqueName)
        let path = BlueZPath(adapter: 0, device: band).description
        do {
            _ = try await liar.call(
                name, path: "/org/bandferry/agent", interface: BlueZName.agent, "RequestAuthorization",
                [.objectPath(path)], deadline: .seconds(10))
            Issue.record("a stranger was authorised")
        } catch {
            #expect(error.name == "org.bluez.Error.Rejected")
        }
    }

    @Test func stoppingDisconnectsTheBands() async throws {
        let bed = try await GatewayBed.start()
        _ = try await bed.connect()
        await bed.client.stop()
        #expect(try await !bed.simulator.isConnected(band))
    }

    @Test func aConnectMayBeGivenUp() async throws {
        let bed = try await GatewayBed.start(faults: "connecthangs@1")
        try await bed.discover()
        let client = bed.client
        let task = Task { try await client.connect(band) }
        try await Task.sleep(for: .milliseconds(100))
        task.cancel()
        #expect(await failure { try await task.value }?.kind == .cancelled)
        _ = try await bed.connect()
    }
}
