import BandProfile
import BandSimulator
import DBus
import Testing

@testable import BlueZ
@testable import BlueZModel

@Suite(.timeLimit(.minutes(2))) struct RemedyTests {
    private let adapter = BluetoothAddress(bits: 0x00AA_0100_0023)

    /// Deadlines that a test may wait for.
    private static let short: BlueZTimings = {
        var timings = GatewayBed.timings
        timings.probe = .milliseconds(200)
        timings.other = .milliseconds(500)
        timings.silentRetry = .milliseconds(200)
        return timings
    }()

    @Test func anAdapterIsSwitchedOffAndOn() async throws {
        let bed = try await GatewayBed.start()
        let link = try await bed.connect()
        try await bed.client.powerCycle(adapter)
        #expect(!link.isAlive)
        #expect(await bed.client.adapters().map(\.powered) == [true])
        #expect(try await bed.simulator.powerCycles == 1)
        _ = try await bed.connect()
    }

    @Test func anAdapterThatStaysOffIsAFailure() async throws {
        let bed = try await GatewayBed.start()
        try await bed.simulator.refusePowerOn(2)
        #expect(await failure { try await bed.client.powerCycle(adapter) }?.operation == .reset)
        #expect(await bed.client.adapters().map(\.powered) == [false])
        #expect(await failure { try await bed.client.powerOn(adapter) } != nil)
        try await bed.client.powerOn(adapter)
        #expect(await bed.client.adapters().map(\.powered) == [true])
    }

    @Test func anAdapterThatIsSlowToGoOffGoesOffAfterItWasGivenUp() async throws {
        var timings = Self.short
        timings.power = .milliseconds(300)
        let bed = try await GatewayBed.start(timings: timings)
        try await bed.simulator.slowPowerOff(.seconds(2))
        #expect(await failure { try await bed.client.powerCycle(adapter) }?.kind == .inProgress)
        #expect(await bed.client.adapters().map(\.powered) == [true])
        // Busy all that time, so that nobody takes it for on.
        #expect(await failure { try await bed.client.powerOn(adapter) }?.name == "org.bluez.Error.Busy")
        try await bed.wait { _ in await bed.client.adapters().map(\.powered) == [false] }
        try await bed.client.powerOn(adapter)
        #expect(await bed.client.adapters().map(\.powered) == [true])
    }

    @Test func aBluetoothdThatHangsCarriesOutLater() async throws {
        var timings = Self.short
        timings.power = .milliseconds(300)
        let bed = try await GatewayBed.start(timings: timings)
        try await bed.simulator.slowPowerOff(.milliseconds(100))
        try await bed.simulator.setHung(true)
        #expect(await failure { try await bed.client.powerCycle(adapter) }?.kind == .deadline)
        #expect(await failure { try await bed.client.powerOn(adapter) }?.kind == .deadline)
        #expect(await bed.client.adapters().map(\.powered) == [true])
        try await bed.simulator.setHung(false)
        try await bed.wait { _ in await bed.client.adapters().map(\.powered) == [false] }
        #expect(try await bed.simulator.powerCycles == 1)
        try await bed.client.powerOn(adapter)
    }

    @Test func anAdapterThatRfkillBlocksIsNamedSo() async throws {
        let bed = try await GatewayBed.start()
        try await bed.simulator.setBlocked(true)
        #expect(await failure { try await bed.client.powerCycle(adapter) }?.kind == .blocked)
    }

    @Test func anAdapterThatIsNotThereCantBeHelped() async throws {
        let bed = try await GatewayBed.start()
        let got = await failure { try await bed.client.powerCycle(BluetoothAddress(bits: 7)) }
        #expect(got?.kind == .notReady)
    }

    @Test func aHangingBluetoothdIsToldFromOneThatAnswers() async throws {
        let bed = try await GatewayBed.start(timings: Self.short)
        #expect(await bed.client.answers(about: adapter))
        try await bed.simulator.setWedged(true)
        #expect(await !bed.client.answers(about: adapter))
    }

    @Test func systemdIsAskedForARestart() async throws {
        let bed = try await GatewayBed.start(timings: Self.short) { $0.systemd = true }
        try await bed.simulator.setWedged(true)
        try await bed.client.restartService()
        try await bed.wait { $0.contains(.bluetoothdGone) }
        try await bed.wait { $0.contains(.bluetoothdBack) }
        #expect(try await bed.simulator.restarts == 1)
        _ = try await bed.connect()
    }

    @Test func aRestartThatNobodyDoesIsAFailure() async throws {
        let bed = try await GatewayBed.start()
        #expect(await failure { try await bed.client.restartService() }?.operation == .restart)
    }

    @Test func aBluetoothdThatHangsAtTheStartIsAskedAgain() async throws {
        let bed = try await GatewayBed.start(timings: Self.short, simulated: false)
        try await bed.startSimulator()
        try await bed.wait { $0.contains(.bluetoothdBack) }
        let late = BlueZClient(bus: .address(bed.bus.address), timings: Self.short)
        try await bed.simulator.setWedged(true)
        #expect(await failure { try await late.start() }?.kind == .deadline)
        try await bed.simulator.setWedged(false)
        for await event in late.events where event == .bluetoothdBack { break }
        #expect(await late.adapters().count == 1)
        await late.stop()
    }

    @Test func discoveryThatBluetoothdOnlyBelievesInIsAFailure() async throws {
        let bed = try await GatewayBed.start()
        try await bed.simulator.stickDiscovery()
        #expect(await failure { try await bed.client.startDiscovery(on: adapter) }?.kind == .inProgress)
        try await bed.client.resetDiscovery(on: adapter)
        try await bed.client.powerCycle(adapter)
        try await bed.client.startDiscovery(on: adapter)
        try await bed.wait { _ in await bed.client.device(band) != nil }
    }

    @Test func discoveryThatCouldNotBeStoppedIsStoppedLater() async throws {
        let bed = try await GatewayBed.start()
        try await bed.client.startDiscovery(on: adapter)
        try await bed.wait { _ in await bed.client.adapters().map(\.discovering) == [true] }
        try await bed.answerAdapter("StopDiscovery", "org.bluez.Error.InProgress", times: 1)
        #expect(await failure { try await bed.client.stopDiscovery(on: adapter) }?.kind == .inProgress)
        #expect(await bed.client.adapters().map(\.discovering) == [true])
        try await bed.client.stopDiscovery(on: adapter)
        try await bed.wait { _ in await bed.client.adapters().map(\.discovering) == [false] }
        // Another one ended it: that is as good.
        try await bed.client.startDiscovery(on: adapter)
        try await bed.answerAdapter(
            "StopDiscovery", "org.bluez.Error.Failed", text: "No discovery started", times: 1)
        try await bed.client.stopDiscovery(on: adapter)
    }

    @Test func anAdapterComesBackUnderAnotherName() async throws {
        let bed = try await GatewayBed.start()
        let link = try await bed.connect()
        try await bed.simulator.unplug()
        try await bed.wait { _ in await bed.client.adapters().isEmpty }
        #expect(!link.isAlive)
        #expect(await bed.client.devices().isEmpty)
        try await bed.simulator.plug(as: 4)
        try await bed.wait { _ in await bed.client.adapters().first?.name == "hci4" }
        try await bed.client.startDiscovery(on: adapter)
        try await bed.wait { _ in await bed.client.device(band)?.rssi != nil }
        _ = try await bed.client.connect(band, on: adapter)
        // The band is at one place only, and that is the adapter's new one.
        #expect(await bed.client.radio(of: [band]).adapters.map(\.connected) == [[band]])
    }

    @Test func anRSSIThatSomebodyElseKeepsAliveIsNoSighting() async throws {
        let bed = try await GatewayBed.start()
        try await bed.discover()
        let other = BlueZClient(bus: .address(bed.bus.address), timings: GatewayBed.timings)
        try await bed.simulator.setPresent(band, false)
        try await other.start()
        #expect(await other.device(band)?.rssi != nil)
        #expect(await other.radio(of: [band]).sightings.isEmpty)
        #expect(await bed.client.radio(of: [band]).sightings.count == 1)
        await other.stop()
    }
}
