import BandModel
import BandProfile
import BusTestSupport
import DBus
import Glibc
import Testing

@testable import BandSimulator

/// Two hosts that hear one band.
@Suite(.timeLimit(.minutes(2))) struct HostsTests {
    private struct Hosts {
        let first: SimulatorBed
        let second: SimulatorBed

        init(records: Int = 100, _ change: (inout BusSimulatorOptions) -> Void = { _ in }) async throws {
            let bus = try PrivateBus()
            first = try await SimulatorBed.start(records: records, alsoOn: bus, change)
            second = try await SimulatorBed.join(first, on: bus)
        }

        func stop() async {
            await first.simulator.stop()
            await second.simulator.stop()
        }
    }

    @Test func aBandHasOneLinkAndTheOtherHostWaitsForIt() async throws {
        let hosts = try await Hosts()
        try await hosts.second.discover()
        try await hosts.first.connect()
        async let connected: Void = hosts.second.connect()
        // BlueZ would connect within 5 ms here.
        try await Task.sleep(for: .milliseconds(100))
        #expect(await !hosts.second.simulator.isConnected(address))
        await hosts.first.simulator.cutLink(address)
        try await connected
        #expect(await hosts.second.simulator.isConnected(address))
        #expect(await !hosts.first.simulator.isConnected(address))
        await hosts.stop()
    }

    @Test func aBandWithALinkIsNotHeardByTheOtherHost() async throws {
        let hosts = try await Hosts()
        try await hosts.first.connect()
        _ = try await hosts.second.call(adapterPath, adapterName, "StartDiscovery")
        try await Task.sleep(for: .milliseconds(200))
        #expect(!hosts.second.trace.contains("+dev_F0_F1_F2_F3_F4_F0 Device1"))
        await hosts.first.simulator.cutLink(address)
        try await hosts.second.wait { $0.contains("+dev_F0_F1_F2_F3_F4_F0 Device1") }
        await hosts.stop()
    }

    @Test func whatOneHostLetsTheBandFreeIsGoneForTheOther() async throws {
        let hosts = try await Hosts()
        try await hosts.first.connect()
        let (socket, _) = try await hosts.first.acquire(historyPath)
        try await hosts.first.write(controlPointPath, ControlPointCommand.sendFrom(1).encoded)
        #expect(try drainToEnd(socket).records.count == 100)
        _ = try await hosts.first.call(
            ackPath, characteristicName, "WriteValue",
            [.bytes(Ack.encode(60)), .properties(["type": .string("command")])])
        close(socket)
        await hosts.first.simulator.cutLink(address)
        try await hosts.second.connect()
        #expect(try RingInfo(decoding: try await hosts.second.read(infoPath)).oldestSeq == 61)
        await hosts.stop()
    }

    @Test func theBandEndsTheLinkWhereItIs() async throws {
        let hosts = try await Hosts()
        try await hosts.second.connect()
        // Asked for on the first bus.
        await hosts.first.simulator.format(address, records: 3)
        try await hosts.second.wait { $0.contains { $0.contains("Connected=false") } }
        #expect(await hosts.second.simulator.band(address)?.isLinked == false)
        await hosts.stop()
    }

    @Test func recordsGoToTheStreamThatIsOpen() async throws {
        let hosts = try await Hosts(records: 5)
        try await hosts.second.connect()
        let (socket, _) = try await hosts.second.acquire(historyPath)
        defer { close(socket) }
        try await hosts.second.write(controlPointPath, ControlPointCommand.sendFrom(6).encoded)
        #expect(try drainToEnd(socket).end?.lastSeq == 5)
        await hosts.first.simulator.record(address, 2)
        try await hosts.second.write(controlPointPath, ControlPointCommand.sendFrom(6).encoded)
        #expect(try drainToEnd(socket).records.map(\.seq) == [6, 7])
        await hosts.stop()
    }

    @Test func eachHostTrustsForItself() async throws {
        let hosts = try await Hosts()
        try await hosts.first.connect(trust: true)
        await hosts.first.simulator.cutLink(address)
        try await hosts.second.connect(trust: false)
        #expect(try await hosts.first.property(devicePath, deviceName, "Trusted") == .bool(true))
        #expect(try await hosts.second.property(devicePath, deviceName, "Trusted") == .bool(false))
        await hosts.stop()
    }
}
