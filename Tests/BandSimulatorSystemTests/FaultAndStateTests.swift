import BandModel
import BandProfile
import BusTestSupport
import DBus
import Foundation
import Glibc
import Testing

@testable import BandSimulator

/// BlueZ's own faults, pairing, and what outlives a restart.
@Suite(.timeLimit(.minutes(2))) struct FaultAndStateTests {
    @Test func aCallThatIsNeverAnsweredIsNot() async throws {
        let bed = try await SimulatorBed.start(faults: "never-answer:ReadValue@1,failcall:WriteValue@1")
        try await bed.connect()
        let failure = await bed.failure(
            infoPath, characteristicName, "ReadValue", [.properties([:])], deadline: .milliseconds(300))
        #expect(failure == "org.bandferry.Error.Deadline: no reply within the deadline")
        #expect(try await bed.read(infoPath).count == 24)
        #expect(
            await bed.failure(
                controlPointPath, characteristicName, "WriteValue", [.bytes([2]), .properties([:])])
                == "Failed: Operation failed with ATT error: 0x0e")
    }

    @Test func aDeviceThatVanishesTakesItsCallsWithIt() async throws {
        let bed = try await SimulatorBed.start(faults: "vanish@1")
        try await bed.connect()
        #expect(
            await bed.failure(
                infoPath, characteristicName, "ReadValue", [.properties([:])], deadline: .milliseconds(300))
                == "org.bandferry.Error.Deadline: no reply within the deadline")
        #expect(bed.trace.contains("-dev_F0_F1_F2_F3_F4_F0 Device1"))
        #expect(
            await bed.failure(infoPath, characteristicName, "ReadValue", [.properties([:])])?.contains(
                "UnknownObject") == true)
    }

    @Test func servicesMayResolveWithoutObjects() async throws {
        let bed = try await SimulatorBed.start(faults: "noobjects@1")
        try await bed.connect()
        #expect(!bed.trace.contains { $0.hasPrefix("+char") })
        await bed.simulator.cutLink(address)
        try await bed.connect()
        #expect(bed.trace.contains("+char0015 GattCharacteristic1"))
    }

    @Test func servicesMayResolveBeforeTheirObjectsCome() async throws {
        let bed = try await SimulatorBed.start(faults: "lateobjects@1:2000")
        try await bed.connect()
        #expect(!bed.trace.contains { $0.hasPrefix("+char") })
        try await bed.wait { $0.contains("+char0018 GattCharacteristic1") }
        #expect(try await bed.read(infoPath).count == 24)
    }

    @Test func aSilentBandFailsItsRequestsAfterThirtySecondsAndThenHasNoGATT() async throws {
        let bed = try await SimulatorBed.start(faults: "silent@2") { $0.timeScale = 20 }
        try await bed.connect()
        #expect(try await bed.read(infoPath).count == 24)
        #expect(
            await bed.failure(clockPath, characteristicName, "ReadValue", [.properties([:])])
                == "Failed: Operation failed with ATT error: 0x0e")
        #expect(
            await bed.failure(infoPath, characteristicName, "ReadValue", [.properties([:])])
                == "Failed: Not connected")
        #expect(await bed.simulator.isConnected(address))
    }

    @Test func aSocketMayEndWhileTheLinkStands() async throws {
        let bed = try await SimulatorBed.start(faults: "deadsocket@1")
        try await bed.connect()
        let (socket, _) = try await bed.acquire(historyPath)
        var (entry, byte) = (pollfd(fd: socket, events: Int16(POLLIN), revents: 0), UInt8(0))
        #expect(poll(&entry, 1, 30_000) == 1 && Glibc.read(socket, &byte, 1) == 0)
        close(socket)
        #expect(await bed.simulator.isConnected(address))
        let (next, mtu) = try await bed.acquire(historyPath)
        #expect(mtu == 247)
        close(next)
    }

    @Test func aLinkMayHaveASmallMTU() async throws {
        let bed = try await SimulatorBed.start(faults: "smallmtu@1")
        try await bed.connect()
        #expect(try await bed.property(historyPath, characteristicName, "MTU") == .uint16(23))
        await bed.simulator.cutLink(address)
        try await bed.connect()
        #expect(try await bed.property(historyPath, characteristicName, "MTU") == .uint16(247))
    }

    @Test func aDeviceThatNobodyWantedMayBeForgottenWithItsDiscovery() async throws {
        let bed = try await SimulatorBed.start(faults: "forgotten@1")
        try await bed.discover()
        #expect(bed.trace.contains("-dev_F0_F1_F2_F3_F4_F0 Device1"))
        try await bed.connect()
    }

    @Test func servicesMayComeLate() async throws {
        let bed = try await SimulatorBed.start(faults: "lateservices@1:400")
        let clock = ContinuousClock()
        #expect(try await clock.measure { try await bed.connect() } >= .milliseconds(400))
    }

    /// Seen with a real bluetoothd: it handled the ATT channel before the kernel's event of the connection.
    @Test func aConnectionMayComeWithoutItsSignal() async throws {
        let bed = try await SimulatorBed.start(faults: "quietconnect@1")
        try await bed.connect()
        #expect(!bed.trace.contains { $0.contains("Connected=true") })
        #expect(try await bed.property(devicePath, deviceName, "Connected") == .bool(true))
        #expect(try await bed.read(infoPath).count == 24)
    }

    @Test func aConnectMayFail() async throws {
        let bed = try await SimulatorBed.start(faults: "connectfails@1")
        try await bed.discover()
        #expect(
            await bed.failure(devicePath, deviceName, "Connect") == "Failed: le-connection-abort-by-local")
        #expect(await bed.failure(devicePath, deviceName, "Connect") == nil)
    }

    @Test func aRefusedSubscriptionIsForgottenBefore584() async throws {
        let old = try await SimulatorBed.start(faults: "notifyrefused@1")
        try await old.connect()
        #expect(
            await old.failure(
                historyPath, characteristicName, "AcquireNotify", [.properties([:])],
                deadline: .milliseconds(300))
                == "org.bandferry.Error.Deadline: no reply within the deadline")
        #expect(
            await old.failure(historyPath, characteristicName, "AcquireNotify", [.properties([:])])
                == "NotPermitted: Notify acquired")
        await old.simulator.cutLink(address)
        try await old.connect()
        close(try await old.acquire(historyPath).socket)

        let new = try await SimulatorBed.start(faults: "notifyrefused@1") { $0.version = .v5_84 }
        try await new.connect()
        #expect(
            await new.failure(historyPath, characteristicName, "AcquireNotify", [.properties([:])])
                == "Failed: Operation failed with ATT error: 0xfd")
        close(try await new.acquire(historyPath).socket)
    }

    @Test func aBandThatDisconnectsInItsStreamIsALostLink() async throws {
        let bed = try await SimulatorBed.start(faults: "disconnect@3")
        try await bed.connect()
        let (socket, _) = try await bed.acquire(historyPath)
        defer { close(socket) }
        try await bed.write(controlPointPath, ControlPointCommand.sendFrom(1).encoded)
        let (records, end) = try drainToEnd(socket)
        #expect(records.map(\.seq) == Array(1...30) && end == nil)
        try await bed.wait { $0.contains("dev_F0_F1_F2_F3_F4_F0: Connected=false ServicesResolved=false") }
    }

    @Test func aSlowBandKeepsItsPace() async throws {
        let bed = try await SimulatorBed.start(records: 1_500, faults: "slow:200")
        try await bed.connect()
        let (socket, _) = try await bed.acquire(historyPath)
        defer { close(socket) }
        let clock = ContinuousClock()
        let took = try await clock.measure {
            try await bed.write(controlPointPath, ControlPointCommand.sendFrom(1).encoded)
            #expect(try drainToEnd(socket).records.count == 1_500)
        }
        // 100 notifications at 200 a second: never faster than half a second.
        #expect(took >= .milliseconds(480))
    }

    // MARK: pairing

    @Test func pairingNeedsAnAgent() async throws {
        let bed = try await SimulatorBed.start()
        try await bed.connect()
        #expect(
            await bed.failure(devicePath, deviceName, "Pair") == "AuthenticationFailed: Authentication Failed"
        )
        _ = try await bed.call(
            "/org/bluez", "org.bluez.AgentManager1", "RegisterAgent",
            [.objectPath("/agent"), .string("NoInputNoOutput")])
        try await bed.wait { $0.contains("hci0: Pairable=true") }
        #expect(await bed.failure(devicePath, deviceName, "Pair") == nil)
        #expect(try await bed.property(devicePath, deviceName, "Bonded") == .bool(true))
        #expect(await bed.failure(devicePath, deviceName, "Pair") == "AlreadyExists: Already Exists")
    }

    @Test func aReadThatNeedsABondAsksTheDefaultAgent() async throws {
        let bed = try await SimulatorBed.start { $0.pairing = .justWorks }
        try await bed.connect()
        let agent = try await BusConnection.open(.address(bed.bus.address))
        await agent.setCallHandler { $0.member == "RequestAuthorization" ? .reply([]) : .never }
        for (method, arguments) in [
            ("RegisterAgent", [.objectPath("/agent"), .string("NoInputNoOutput")]),
            ("RequestDefaultAgent", [.objectPath("/agent")]),
        ] as [(String, [BusValue])] {
            _ = try await bed.call("/org/bluez", "org.bluez.AgentManager1", method, arguments, from: agent)
        }
        #expect(try await bed.read(infoPath).count == 24)
        try await bed.wait { $0.contains("dev_F0_F1_F2_F3_F4_F0: Bonded=true Paired=true") }
    }

    @Test func aReadThatNeedsABondIsNeverAnsweredWithoutAnAgentAndTheDeviceIsRemoved() async throws {
        let bed = try await SimulatorBed.start {
            $0.pairing = .justWorks
            $0.timeScale = 20
        }
        try await bed.connect()
        #expect(
            await bed.failure(
                infoPath, characteristicName, "ReadValue", [.properties([:])], deadline: .milliseconds(300))
                == "org.bandferry.Error.Deadline: no reply within the deadline")
        try await bed.wait { $0.contains("-dev_F0_F1_F2_F3_F4_F0 Device1") }
    }

    // MARK: files

    @Test func bandsAndBondsOutliveARestartAndEveryAckIsLogged() async throws {
        let directory = FileManager.default.temporaryDirectory.path + "/bandsim." + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let log = directory + "/acks"
        let truth = directory + "/truth"
        let bus = try PrivateBus()
        func start() async throws -> SimulatorBed {
            try await SimulatorBed.start(faults: "lostack@2", bus: bus) {
                $0.stateDirectory = directory
                $0.ackLog = log
                $0.truthFile = truth
            }
        }
        let first = try await start()
        try await first.connect()
        let (socket, _) = try await first.acquire(historyPath)
        defer { close(socket) }
        try await first.write(controlPointPath, ControlPointCommand.sendFrom(1).encoded)
        _ = try drainToEnd(socket)
        for seq in [40, 50, 5_000, 60] as [UInt32] { try await first.write(ackPath, Ack.encode(seq)) }
        await first.simulator.record(address, 5)
        let ring = (await first.simulator.band(address))?.ring
        await first.simulator.stop()

        let second = try await start()
        // Trusted, so it is there without discovery.
        #expect(await second.simulator.isExported(address))
        try await second.connect()
        let info = try RingInfo(decoding: try await second.read(infoPath))
        #expect(info.ring == ring && info.oldestSeq == 61 && info.newestSeq == 105)
        await second.simulator.stop()

        let acks = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").map(String.init)
        #expect(acks.map { $0.contains("honoured") } == [true, false, false, true])
        #expect(acks[1].contains("\"outcome\":\"lost\"") && acks[2].contains("\"outcome\":\"ignored\""))
        #expect(acks[0].contains("\"seq\":40,\"outcome\":\"honoured\",\"freed\":40,\"ever_sent\":100"))
        let lines = try String(contentsOfFile: truth, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 105)
        #expect(try BandRecords.bands(stateDirectory: directory).map(\.band.everRecordedCount) == [105])
    }

    @Test func aStateFileThatCannotBeReadIsRefusedByName() async throws {
        let directory = FileManager.default.temporaryDirectory.path + "/bandsim." + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let file = directory + "/F0F1F2F3F4F0.json"
        try "{".write(toFile: file, atomically: true, encoding: .utf8)
        await #expect {
            _ = try await SimulatorBed.start { $0.stateDirectory = directory }
        } throws: { "\($0)".hasPrefix("state file \(file) can't be read") }
    }

    // MARK: control

    @Test func testsControlABandOverTheBus() async throws {
        let bed = try await SimulatorBed.start()
        try await bed.connect()
        func control(_ member: String, _ arguments: [BusValue] = []) async throws -> BusProperties {
            try await bed.client.call(
                "org.bandferry.Simulator1", path: "/org/bandferry/simulator/dev_F0_F1_F2_F3_F4_F0",
                interface: "org.bandferry.Simulator1", member, arguments, deadline: .seconds(10)
            ).first?.properties ?? [:]
        }
        _ = try await control("Record", [.uint32(7)])
        #expect(try await control("Status")["NewestSeq"] == .uint32(107))
        _ = try await control("RollBack", [.uint32(50), .uint32(3)])
        #expect(try await control("Status")["NewestSeq"] == .uint32(60))
        #expect(try await control("Status")["Connected"] == .bool(false))
        let ring = try await control("Status")["Ring"]
        _ = try await control("Format", [.uint32(2)])
        #expect(try await control("Status")["Ring"] != ring)
        _ = try await control("SetFaults", [.string("connectfails@1")])
        #expect(
            await bed.failure(devicePath, deviceName, "Connect") == "Failed: le-connection-abort-by-local")
        await #expect(throws: BusError.self) { try await control("SetFaults", [.string("nonsense")]) }
    }

    @Test func callsAreAnsweredAsATestWants() async throws {
        let bed = try await SimulatorBed.start()
        try await bed.connect()
        func answer(_ target: String, _ interface: String, _ method: String, times: UInt32) async throws {
            _ = try await bed.client.call(
                "org.bandferry.Simulator1", path: "/org/bandferry/simulator/" + target,
                interface: "org.bandferry." + interface, "Answer",
                [.string(method), .string("org.bluez.Error.Busy"), .string("Busy"), .uint32(times)],
                deadline: .seconds(10))
        }
        try await answer("dev_F0_F1_F2_F3_F4_F0", "Simulator1", "ReadValue", times: 2)
        for expected in ["Busy: Busy", "Busy: Busy", nil] {
            #expect(
                await bed.failure(infoPath, characteristicName, "ReadValue", [.properties([:])]) == expected)
        }
        try await answer("adapter", "SimulatedAdapter1", "StartDiscovery", times: 5)
        #expect(await bed.failure(adapterPath, adapterName, "StartDiscovery") == "Busy: Busy")
        try await answer("adapter", "SimulatedAdapter1", "StartDiscovery", times: 0)
        #expect(await bed.failure(adapterPath, adapterName, "StartDiscovery") == nil)
    }

    @Test func aForeignAdapterTakesTheNameOfOneThatWent() async throws {
        let bed = try await SimulatorBed.start()
        func control(_ member: String, _ number: UInt32? = nil) async throws {
            _ = try await bed.client.call(
                "org.bandferry.Simulator1", path: "/org/bandferry/simulator/adapter",
                interface: "org.bandferry.SimulatedAdapter1", member, number.map { [.uint32($0)] } ?? [],
                deadline: .seconds(10))
        }
        try await control("Unplug")
        try await control("PlugForeign", 0)
        try await control("Plug", 1)
        #expect(try await bed.property(adapterPath, adapterName, "Address") != .string("00:AA:01:00:00:23"))
        #expect(
            try await bed.property("/org/bluez/hci1", adapterName, "Address") == .string("00:AA:01:00:00:23"))
        #expect(await bed.failure(adapterPath, adapterName, "StartDiscovery") == nil)
        _ = try await bed.call("/org/bluez/hci1", adapterName, "StartDiscovery")
        try await control("EndDiscovery")
        #expect(
            await bed.failure("/org/bluez/hci1", adapterName, "StopDiscovery")
                == "Failed: No discovery started")
    }
}
