import BandProfile
import BusTestSupport
import DBus
import Locking
import Testing

@testable import BlueZ
@testable import BlueZModel

/// bluetoothd with two adapters that both know the band; the first is switched off and has its bond.
private final class TwoAdapters: Sendable {
    static let first = BluetoothAddress(bits: 0x00AA_0100_0000)
    static let second = BluetoothAddress(bits: 0x00AA_0100_0001)

    let bus: PrivateBus
    private let connection: BusConnection
    private let calls = Guarded<[String]>([])
    var removed: [String] { calls.withLock { $0 } }

    private static func device(_ adapter: Int) -> String { "/org/bluez/hci\(adapter)/dev_F0_F1_F2_F3_F4_F0" }

    init() async throws {
        bus = try PrivateBus()
        connection = try await BusConnection.open(.address(bus.address))
        let tree = ObjectTree(root: "/")
        let adapter = InterfaceDescription(
            BlueZName.adapter, methods: [.init("RemoveDevice", takes: [.init("device", "o")])],
            properties: [.init("Address", "s"), .init("Powered", "b")])
        let device = InterfaceDescription(
            BlueZName.device,
            properties: [
                .init("Paired", "b"), .init("RSSI", "n"), .init("Trusted", "b", writable: true),
                .init("UUIDs", "as"),
            ])
        tree.onCall(BlueZName.adapter, "RemoveDevice") { [calls] call in
            calls.withLock { $0.append(call.path) }
            guard call.path == "/org/bluez/hci1" else {
                return .failure(BusError(name: "org.bluez.Error.NotReady", message: "Resource Not Ready"))
            }
            tree.remove(Self.device(1))
            return .reply([])
        }
        for (index, address) in [Self.first, Self.second].enumerated() {
            tree.export(
                "/org/bluez/hci\(index)", [adapter],
                properties: [
                    BlueZName.adapter: [
                        "Address": .string(address.description), "Powered": .bool(index == 1),
                    ]
                ], signal: false)
            tree.export(
                Self.device(index), [device],
                properties: [
                    BlueZName.device: [
                        "Paired": .bool(index == 0), "RSSI": .int16(-50), "Trusted": .bool(true),
                        "UUIDs": .strings([BandHistory.service]),
                    ]
                ], signal: false)
        }
        await connection.serve(tree)
        _ = try await connection.requestName("org.bluez")
        self.tree = tree
    }

    private let tree: ObjectTree

    /// The band is heard over the second adapter.
    func hear() { tree.setProperties(Self.device(1), BlueZName.device, ["RSSI": .int16(-51)]) }

    func client(adapters: Set<BluetoothAddress> = []) async throws -> BlueZClient {
        let client = BlueZClient(bus: .address(bus.address), adapters: adapters, timings: GatewayBed.timings)
        try await client.start()
        return client
    }
}

@Suite(.timeLimit(.minutes(2))) struct TwoAdapterTests {
    @Test func whatOneAdapterRefusesTheOthersStillForget() async throws {
        let adapters = try await TwoAdapters()
        let client = try await adapters.client()
        let failed = await failure { try await client.remove(band) }
        #expect(failed?.kind == .notReady)
        #expect(Set(adapters.removed) == ["/org/bluez/hci0", "/org/bluez/hci1"])
        // BlueZ has nothing of it on the second one any more: forgotten already.
        try await client.remove(band, on: TwoAdapters.second)
        await client.stop()
    }

    @Test func onlyTheAdapterThatIsNamedForgets() async throws {
        let adapters = try await TwoAdapters()
        let client = try await adapters.client()
        try await client.remove(band, on: TwoAdapters.second)
        #expect(adapters.removed == ["/org/bluez/hci1"])
        #expect(await client.isPaired(band))
        await client.stop()
    }

    /// `adapter =` is how a band gets a bond of another adapter than the one that is off and has one.
    @Test(arguments: [false, true]) func aBondOfAnAdapterThatIsNotInUseIsInNobodysWay(isLimited: Bool)
        async throws
    {
        let adapters = try await TwoAdapters()
        let client = try await adapters.client(adapters: isLimited ? [TwoAdapters.second] : [])
        for _ in 0..<4_000 where await client.heardAt.isEmpty {
            adapters.hear()
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(await client.isPaired(band) != isLimited)
        #expect(await client.radio(of: [band]).sightings.isEmpty != isLimited)
        await client.stop()
    }
}
