import BandProfile
import DBus
import Glibc
import Testing

@testable import BandSimulator

/// Discovery and links, in BlueZ's order and with its texts.
@Suite(.timeLimit(.minutes(2))) struct ConnectionTests {
    @Test func discoveryFindsABandAndForgetsItsRSSIWhenItStops() async throws {
        let bed = try await SimulatorBed.start()
        try await bed.discover()
        try await bed.wait { $0.contains("hci0: Discovering=false") }
        let trace = bed.trace
        #expect(trace.contains("hci0: Discovering=true"))
        #expect(trace.contains("dev_F0_F1_F2_F3_F4_F0: RSSI gone"))
        #expect(
            await bed.failure(
                devicePath, "org.freedesktop.DBus.Properties", "Get", [.string(deviceName), .string("RSSI")])
                == "org.freedesktop.DBus.Error.InvalidArgs: No such property 'RSSI'")
    }

    @Test func discoveryErrorsAreBlueZs() async throws {
        let bed = try await SimulatorBed.start()
        #expect(
            await bed.failure(adapterPath, adapterName, "StopDiscovery") == "Failed: No discovery started")
        #expect(await bed.failure(adapterPath, adapterName, "StartDiscovery") == nil)
        #expect(
            await bed.failure(adapterPath, adapterName, "StartDiscovery")
                == "InProgress: Operation already in progress")
        let filters: [BusProperties] = [
            ["Unknown": .bool(true)], ["RSSI": .int16(-80), "Pathloss": .uint16(50)], ["UUIDs": .string("x")],
        ]
        for filter in filters {
            #expect(
                await bed.failure(adapterPath, adapterName, "SetDiscoveryFilter", [.properties(filter)])
                    == "InvalidArguments: Invalid arguments in method call")
        }
        #expect(
            await bed.failure(adapterPath, adapterName, "RemoveDevice", [.objectPath("/nowhere")])
                == "DoesNotExist: Does Not Exist")
    }

    @Test func aFilterForAnotherServiceHidesTheBand() async throws {
        let bed = try await SimulatorBed.start()
        let other = BusValue.strings([GATTLayout.assigned(0x180d)])
        _ = try await bed.call(
            adapterPath, adapterName, "SetDiscoveryFilter", [.properties(["UUIDs": other])])
        _ = try await bed.call(adapterPath, adapterName, "StartDiscovery")
        try await bed.wait { $0.contains("hci0: Discovering=true") }
        try await Task.sleep(for: .milliseconds(100))
        #expect(!bed.trace.contains("+dev_F0_F1_F2_F3_F4_F0 Device1"))
    }

    @Test func aFirstConnectionExportsEveryObjectBeforeServicesResolved() async throws {
        let bed = try await SimulatorBed.start()
        try await bed.discover()
        let start = bed.trace.count
        _ = try await bed.call(devicePath, deviceName, "Connect")
        try await bed.wait(from: start) { $0.contains { $0.hasSuffix("Battery1") } }
        let trace = bed.trace.dropFirst(start).filter { !$0.contains("Discovering") && !$0.contains("RSSI") }
        let expected =
            [
                "dev_F0_F1_F2_F3_F4_F0: Connected=true", "+service000a GattService1",
                "+char000b GattCharacteristic1",
                "+desc000d GattDescriptor1", "+service000e GattService1", "+char000f GattCharacteristic1",
                "+char0011 GattCharacteristic1", "+char0013 GattCharacteristic1",
                "+char0015 GattCharacteristic1",
                "+desc0017 GattDescriptor1", "+char0018 GattCharacteristic1",
            ]
        #expect(Array(trace.prefix(expected.count)) == expected)
        #expect(
            trace.suffix(2) == [
                "dev_F0_F1_F2_F3_F4_F0: ServicesResolved=true UUIDs=…", "+dev_F0_F1_F2_F3_F4_F0 Battery1",
            ])
    }

    @Test func aLaterConnectionExportsNothingAndKnowsTheMTUAgain() async throws {
        let bed = try await SimulatorBed.start { $0.mtu = 185 }
        try await bed.connect()
        #expect(try await bed.property(historyPath, characteristicName, "MTU") == .uint16(185))
        await bed.simulator.cutLink(address)
        #expect(
            await bed.failure(
                historyPath, "org.freedesktop.DBus.Properties", "Get",
                [.string(characteristicName), .string("MTU")])
                == "org.freedesktop.DBus.Error.InvalidArgs: No such property 'MTU'")
        let start = bed.trace.count
        try await bed.connect()
        #expect(!bed.trace.dropFirst(start).contains { $0.hasPrefix("+char") })
        #expect(try await bed.property(historyPath, characteristicName, "MTU") == .uint16(185))
    }

    @Test func aLostLinkIsOneSignalAndEndsTheSocket() async throws {
        let bed = try await SimulatorBed.start()
        try await bed.connect()
        let (socket, mtu) = try await bed.acquire(historyPath)
        defer { close(socket) }
        #expect(mtu == 247)
        try await bed.wait {
            $0.contains("char0015: NotifyAcquired=true") && $0.contains { $0.hasSuffix("Battery1") }
        }
        let start = bed.trace.count
        await bed.simulator.cutLink(address)
        #expect(nextPacket(socket) == nil)
        try await bed.wait(from: start) { $0.count == 3 }
        #expect(
            Array(bed.trace.dropFirst(start)) == [
                "dev_F0_F1_F2_F3_F4_F0: Connected=false ServicesResolved=false",
                "-dev_F0_F1_F2_F3_F4_F0 Battery1",
                "char0015: NotifyAcquired=false",
            ])
    }

    @Test func disconnectingTakesTwoSecondsAndTwoSignals() async throws {
        let bed = try await SimulatorBed.start { $0.timeScale = 10 }
        try await bed.connect()
        try await bed.wait { $0.contains { $0.hasSuffix("Battery1") } }
        let start = bed.trace.count
        let clock = ContinuousClock()
        let took = try await clock.measure { _ = try await bed.call(devicePath, deviceName, "Disconnect") }
        #expect(took >= .milliseconds(200))
        try await bed.wait(from: start) { $0.count == 3 }
        #expect(
            Array(bed.trace.dropFirst(start)) == [
                "-dev_F0_F1_F2_F3_F4_F0 Battery1", "dev_F0_F1_F2_F3_F4_F0: ServicesResolved=false",
                "dev_F0_F1_F2_F3_F4_F0: Connected=false",
            ])
        #expect(await bed.failure(devicePath, deviceName, "Disconnect") == nil)
    }

    @Test(arguments: [
        (BlueZVersion.v5_66, "Failed: Operation already in progress"), (.v5_84, "InProgress: In Progress"),
    ])
    func anAbsentBandIsWaitedForAndThenAborted(version: BlueZVersion, second: String) async throws {
        let bed = try await SimulatorBed.start {
            $0.version = version
            $0.timeScale = 20
        }
        try await bed.discover()
        try await bed.set(devicePath, deviceName, "Trusted", .bool(true))
        await bed.simulator.setPresent(address, false)
        async let first = bed.failure(devicePath, deviceName, "Connect")
        try await Task.sleep(for: .milliseconds(100))
        #expect(await bed.failure(devicePath, deviceName, "Connect") == second)
        #expect(await first == "Failed: le-connection-abort-by-local")
    }

    @Test func aBandThatAppearsLateIsConnected() async throws {
        let bed = try await SimulatorBed.start { $0.timeScale = 5 }
        try await bed.discover()
        await bed.simulator.setPresent(address, false)
        async let first = bed.failure(devicePath, deviceName, "Connect")
        try await Task.sleep(for: .milliseconds(100))
        await bed.simulator.setPresent(address, true)
        #expect(await first == nil)
    }

    @Test func disconnectCancelsAConnectThatWaits() async throws {
        let bed = try await SimulatorBed.start { $0.timeScale = 1 }
        try await bed.discover()
        await bed.simulator.setPresent(address, false)
        async let first = bed.failure(devicePath, deviceName, "Connect")
        try await Task.sleep(for: .milliseconds(200))
        #expect(await bed.failure(devicePath, deviceName, "Disconnect") == nil)
        #expect(await first == "Failed: br-connection-canceled")
    }

    @Test func anUntrustedDeviceIsRemovedWithItsObjectsThirtySecondsAfterItsLink() async throws {
        let bed = try await SimulatorBed.start {
            $0.timeScale = 20
            $0.temporaryTimeout = .seconds(30)
        }
        try await bed.connect(trust: false)
        await bed.simulator.cutLink(address)
        try await bed.wait { $0.contains("-dev_F0_F1_F2_F3_F4_F0 Device1") }
        let removed = bed.trace.filter { $0.hasPrefix("-") }.suffix(4)
        #expect(removed.last == "-dev_F0_F1_F2_F3_F4_F0 Device1")
        #expect(bed.trace.contains("-char0015 GattCharacteristic1"))
        #expect(
            await bed.failure(devicePath, deviceName, "Connect")
                == "org.freedesktop.DBus.Error.UnknownObject: Method \"Connect\" with signature \"\" on interface "
                + "\"org.bluez.Device1\" doesn't exist\n")
    }

    @Test func aTrustedDeviceStays() async throws {
        let bed = try await SimulatorBed.start { $0.timeScale = 20 }
        try await bed.connect()
        await bed.simulator.cutLink(address)
        try await Task.sleep(for: .seconds(2))
        #expect(await bed.simulator.isExported(address))
    }

    @Test func aDeviceThatNobodyWantedIsRemovedAfterAWhile() async throws {
        let bed = try await SimulatorBed.start { $0.temporaryTimeout = .seconds(1) }
        _ = try await bed.call(adapterPath, adapterName, "StartDiscovery")
        try await bed.wait { $0.contains("+dev_F0_F1_F2_F3_F4_F0 Device1") }
        await bed.simulator.setPresent(address, false)
        try await bed.wait { $0.contains("-dev_F0_F1_F2_F3_F4_F0 Device1") }
    }

    @Test func poweringOffEndsLinksAndRemovesTemporaryDevices() async throws {
        let bed = try await SimulatorBed.start()
        try await bed.connect()
        try await bed.wait { $0.contains { $0.hasSuffix("Battery1") } }
        let start = bed.trace.count
        try await bed.set(adapterPath, adapterName, "Powered", .bool(false))
        try await bed.wait(from: start) { $0.contains("hci0: Discovering=false Powered=false") }
        #expect(
            bed.trace.dropFirst(start).first
                == "dev_F0_F1_F2_F3_F4_F0: Connected=false ServicesResolved=false")
        #expect(await bed.failure(devicePath, deviceName, "Connect") == "Failed: Input/output error")
        #expect(
            await bed.failure(adapterPath, adapterName, "StartDiscovery") == "NotReady: Resource Not Ready")
    }

    @Test func theDisconnectReasonIsSignalledSince583() async throws {
        let bed = try await SimulatorBed.start { $0.version = .v5_84 }
        try await bed.connect()
        await bed.simulator.cutLink(address)
        try await bed.wait { $0.contains("Disconnected") }
    }

    @Test func aKnownBandIsConnectedByAProfile() async throws {
        let bed = try await SimulatorBed.start()
        try await bed.connect()
        let tree = ObjectTree(root: "/app")
        tree.export(
            "/app/profile",
            [InterfaceDescription("org.bluez.GattProfile1", properties: [.init("UUIDs", "as")])],
            properties: ["org.bluez.GattProfile1": ["UUIDs": .strings([BandHistory.service])]])
        await bed.client.serve(tree)
        _ = try await bed.call(
            adapterPath, "org.bluez.GattManager1", "RegisterApplication",
            [.objectPath("/app"), .properties([:])])
        let start = bed.trace.count
        await bed.simulator.cutLink(address)
        try await bed.wait(from: start) { $0.contains("dev_F0_F1_F2_F3_F4_F0: Connected=true") }
    }
}
