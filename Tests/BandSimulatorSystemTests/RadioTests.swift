import BandModel
import BandProfile
import BusTestSupport
import DBus
import Foundation
import Glibc
import Locking
import Testing

@testable import BandSimulator

/// bluetoothd's side of a peripheral, as far as a band sees it.
private final class FakeBluetoothd: Sendable {
    /// Kept so that it lives as long as this.
    let daemon: PrivateBus
    let bus: BusConnection
    let tree = ObjectTree(root: "/")
    private let state = Guarded<(client: String?, advertised: Int, objects: [String])>((nil, 0, []))

    init() async throws {
        daemon = try PrivateBus()
        bus = try await BusConnection.open(.address(daemon.address))
        let manager = InterfaceDescription(
            "org.bluez.LEAdvertisingManager1",
            methods: [
                .init("RegisterAdvertisement", takes: [.init("path", "o"), .init("options", "a{sv}")]),
                .init("UnregisterAdvertisement", takes: [.init("path", "o")]),
            ])
        tree.export(
            "/org/bluez/hci1", [BlueZInterfaces.adapter, BlueZInterfaces.gattManager, manager],
            properties: [
                BlueZInterfaces.adapter.name: [
                    "Address": .string("00:AA:01:01:00:24"), "Powered": .bool(false),
                ]
            ])
        tree.onCall(manager.name, "RegisterAdvertisement") { [weak self] _ in
            self?.state.withLock { $0.advertised += 1 }
            return .reply([])
        }
        tree.onCall(manager.name, "UnregisterAdvertisement") { _ in .reply([]) }
        tree.onCall(BlueZInterfaces.gattManager.name, "RegisterApplication") { [weak self] call in
            self?.state.withLock { $0.client = call.sender }
            return .reply([])
        }
        await bus.serve(tree)
        _ = try await bus.requestName("org.bluez")
    }

    var advertised: Int { state.withLock(\.advertised) }

    func setConnected(_ isConnected: Bool) {
        let device = "/org/bluez/hci1/dev_00_AA_01_00_00_23"
        tree.export(
            device, [BlueZInterfaces.device(.v5_66)],
            properties: [BlueZInterfaces.deviceName: ["Connected": .bool(!isConnected)]])
        tree.setProperties(device, BlueZInterfaces.deviceName, ["Connected": .bool(isConnected)])
    }

    /// A call of the band's application, with the central and its MTU as bluetoothd adds them.
    func call(
        _ role: GATTLayout.Role, _ member: String, _ value: [UInt8]? = nil, mtu: UInt16 = 247
    ) async throws(BusError) -> [BusValue] {
        let options: BusProperties = [
            "device": .objectPath("/org/bluez/hci1/dev_00_AA_01_00_00_23"), "mtu": .uint16(mtu),
            "link": .string("LE"),
        ]
        let client = state.withLock { $0.client } ?? ""
        let arguments: [BusValue] = (value.map { [.bytes($0)] } ?? []) + [.properties(options)]
        return try await bus.call(
            client, path: RadioApplication.path(role) ?? "/", interface: BlueZInterfaces.characteristic.name,
            member, arguments, deadline: .seconds(20), takesFileDescriptors: true)
    }

    func objects() async throws -> [String: BusProperties] {
        let client = state.withLock { $0.client } ?? ""
        let reply = try await bus.call(
            client, path: RadioApplication.root, interface: "org.freedesktop.DBus.ObjectManager",
            "GetManagedObjects", deadline: .seconds(10))
        var objects: [String: BusProperties] = [:]
        for object in reply.first?.entries ?? [] {
            for interface in object.value.entries ?? [] {
                guard let name = interface.key.text, name.hasPrefix("org.bluez"), let path = object.key.text
                else {
                    continue
                }
                objects[path] = interface.value.properties
            }
        }
        return objects
    }
}

@Suite(.timeLimit(.minutes(2))) struct RadioTests {
    private func start(
        records: Int = 100, faults: String = "", _ change: (inout RadioOptions) -> Void = { _ in }
    ) async throws -> (FakeBluetoothd, RadioSimulator) {
        let bluetoothd = try await FakeBluetoothd()
        let band = SimulatedBandOptions(seed: 3, records: records, window: 4, faults: try FaultScript(faults))
        var options = RadioOptions(
            address: .address(bluetoothd.daemon.address), adapter: "hci1",
            band: BandSetup(address: address, name: "Band 01", options: band))
        options.rate = 0
        change(&options)
        return (bluetoothd, try await RadioSimulator.start(options))
    }

    @Test func theApplicationIsTheProfileAndTheAdvertisementNamesIt() async throws {
        let (bluetoothd, radio) = try await start()
        let objects = try await bluetoothd.objects()
        let flags = Dictionary(
            uniqueKeysWithValues: objects.values.compactMap { properties in
                properties["UUID"]?.text.map { ($0, properties["Flags"]?.strings ?? []) }
            })
        #expect(flags[BandHistory.service] == [])
        #expect(flags[BandHistory.info] == ["read"] && flags[BandHistory.clock] == ["read"])
        #expect(flags[BandHistory.controlPoint] == ["write"] && flags[BandHistory.historyData] == ["notify"])
        #expect(flags[BandHistory.ack] == ["write-without-response"])
        #expect(
            bluetoothd.tree.property("/org/bluez/hci1", BlueZInterfaces.adapter.name, "Powered")
                == .bool(true))
        #expect(bluetoothd.advertised == 1)
        await radio.stop()
    }

    @Test func aBondIsAskedForWhereRequired() async throws {
        let (bluetoothd, radio) = try await start { $0.requireEncryption = true }
        let flags = try await bluetoothd.objects().values.compactMap { $0["Flags"]?.strings }
        #expect(flags.contains(["encrypt-read"]) && flags.contains(["encrypt-write"]))
        await radio.stop()
    }

    /// With the 2 bytes that a BlueZ server may cut off a full notification left free.
    @Test(arguments: [(UInt16(247), 14), (249, 15), (517, 15), (23, 1)])
    func aHistoryIsStreamedWithAcksAtAnyMTU(mtu: UInt16, records: Int) async throws {
        let (bluetoothd, radio) = try await start()
        bluetoothd.setConnected(true)
        let info = try await bluetoothd.call(.info, "ReadValue", mtu: mtu).first?.bytes ?? []
        #expect(try RingInfo(decoding: info).newestSeq == 100)
        let acquired = try await bluetoothd.call(.historyData, "AcquireNotify", mtu: mtu)
        guard case .fileDescriptor(let socket)? = acquired.first else {
            Issue.record("no socket")
            return
        }
        defer { close(socket) }
        _ = try await bluetoothd.call(
            .controlPoint, "WriteValue", ControlPointCommand.sendFrom(1).encoded, mtu: mtu)
        var seqs: [UInt32] = []
        var ended = false
        while !ended, let packet = nextPacket(socket) {
            switch try HistoryNotification(decoding: packet) {
            case .samples(_, let some):
                if seqs.isEmpty { #expect(some.count == records) }
                seqs += some.map(\.seq)
                _ = try await bluetoothd.call(
                    .ack, "WriteValue", Ack.encode(some[some.count - 1].seq), mtu: mtu)
            case .end(let end):
                #expect(end.lastSeq == 100 && end.status == .complete)
                ended = true
            }
        }
        #expect(ended && seqs == Array(1...100))
        #expect(await radio.band.info().isEmpty)
    }

    @Test func anApplicationErrorIsABareNumber() async throws {
        let (bluetoothd, radio) = try await start()
        do {
            _ = try await bluetoothd.call(.controlPoint, "WriteValue", [9])
            Issue.record("succeeded")
        } catch {
            #expect(error == BusError(name: "org.bluez.Error.Failed", message: "0x81"))
        }
        await radio.stop()
    }

    @Test func aStreamMayGoThroughTheValueProperty() async throws {
        let (bluetoothd, radio) = try await start(records: 30) { $0.acquireNotify = false }
        try await bluetoothd.bus.addMatch("type='signal',member='PropertiesChanged'")
        let box = Received()
        await bluetoothd.bus.setSignalHandler { signal in
            if let value = signal.arguments[1].properties?["Value"]?.bytes { box.add(value) }
        }
        _ = try await bluetoothd.call(.info, "ReadValue")
        let client = try await bluetoothd.objects()
        #expect(!client.values.contains { $0["NotifyAcquired"] != nil })
        _ = try await bluetoothd.startNotify()
        _ = try await bluetoothd.call(.controlPoint, "WriteValue", ControlPointCommand.sendFrom(1).encoded)
        for _ in 0..<2_000 where box.values.count < 4 { try await Task.sleep(for: .milliseconds(5)) }
        #expect(box.values.count == 4)
        await radio.stop()
    }

    @Test func aLostLinkEndsTheStreamAndAdvertisesAgain() async throws {
        let (bluetoothd, radio) = try await start()
        bluetoothd.setConnected(true)
        let acquired = try await bluetoothd.call(.historyData, "AcquireNotify")
        if case .fileDescriptor(let socket)? = acquired.first { close(socket) }
        bluetoothd.setConnected(false)
        for _ in 0..<2_000 where bluetoothd.advertised < 2 { try await Task.sleep(for: .milliseconds(5)) }
        #expect(bluetoothd.advertised == 2)
        #expect(await radio.band.isLinked == false)
    }

    @Test func anAdapterThatIsNotThereIsNamed() async throws {
        let bluetoothd = try await FakeBluetoothd()
        let options = RadioOptions(
            address: .address(bluetoothd.daemon.address), adapter: "hci7",
            band: BandSetup(address: address, name: "Band 01", options: SimulatedBandOptions()))
        await #expect {
            _ = try await RadioSimulator.start(options)
        } throws: { "\($0)".hasPrefix("hci7: bluetoothd does not offer this adapter") }
    }
}

private final class Received: Sendable {
    private let state = Guarded<[[UInt8]]>([])
    var values: [[UInt8]] { state.withLock { $0 } }
    func add(_ value: [UInt8]) { state.withLock { $0.append(value) } }
}

extension FakeBluetoothd {
    fileprivate func startNotify() async throws -> [BusValue] {
        try await bus.call(
            state.withLock { $0.client } ?? "", path: RadioApplication.path(.historyData) ?? "/",
            interface: BlueZInterfaces.characteristic.name, "StartNotify", deadline: .seconds(10))
    }
}
