import BusTestSupport
import DBus
import Locking
import Testing
import UploadDecisions

@testable import NetworkWatch

/// The watch on a real bus, with services that speak as NetworkManager and systemd-networkd do.
@Suite(.timeLimit(.minutes(2))) struct NetworkWatchTests {
    struct News: Equatable, Sendable {
        var state: NetworkState
        var came: Bool
    }

    /// What the watch told, in order.
    final class Seen: Sendable {
        private let news = Guarded<[News]>([])
        var all: [News] { news.withLock { $0 } }
        func add(_ item: News) { news.withLock { $0.append(item) } }

        /// The limit only ends a test that would hang.
        func wait(_ check: ([News]) -> Bool) async -> [News] {
            for _ in 0..<6_000 where !check(all) { try? await Task.sleep(for: .milliseconds(5)) }
            return all
        }
    }

    private func makeWatch(_ address: String, _ seen: Seen) -> NetworkWatch {
        NetworkWatch(
            bus: .address(address),
            timings: .init(firstRetry: .milliseconds(20), longestRetry: .milliseconds(100))
        ) { seen.add(News(state: $0, came: $1)) }
    }

    /// Returns when the watch knows what was there.
    private func watch(_ address: String, _ seen: Seen) async -> Task<Void, Never> {
        let watch = makeWatch(address, seen)
        let task = Task { await watch.run() }
        while await !watch.isWatching { try? await Task.sleep(for: .milliseconds(5)) }
        return task
    }

    static let up = NetworkState(isUp: true)

    @Test func aNetworkManagerThatIsThereIsRead() async throws {
        let bus = try PrivateBus()
        let manager = try await FakeService.networkManager(on: bus)
        await manager.set(["State": .uint32(20), "Connectivity": .uint32(1), "Metered": .uint32(0)])
        let seen = Seen()
        let task = await watch(bus.address, seen)
        defer { task.cancel() }
        let first = await seen.wait { !$0.isEmpty }
        #expect(first == [News(state: NetworkState(isUp: false), came: false)])
        await manager.set(["State": .uint32(60), "Connectivity": .uint32(2)])
        #expect(
            await seen.wait { $0.count > 1 }.last
                == News(state: .init(isUp: true, wantsLogIn: true), came: true))
        await manager.set(["State": .uint32(70), "Connectivity": .uint32(4)])
        #expect(await seen.wait { $0.count > 2 }.last == News(state: Self.up, came: true))
        await manager.set(["Metered": .uint32(3)])
        #expect(
            await seen.wait { $0.count > 3 }.last
                == News(state: .init(isUp: true, isMetered: true), came: false))
        #expect(seen.all.count == 4)
    }

    @Test func aNetworkdThatIsThereIsRead() async throws {
        let bus = try PrivateBus()
        let networkd = try await FakeService.networkd(on: bus)
        await networkd.set(["OnlineState": .string("offline"), "OperationalState": .string("no-carrier")])
        let seen = Seen()
        let task = await watch(bus.address, seen)
        defer { task.cancel() }
        _ = await seen.wait { !$0.isEmpty }
        await networkd.set(["OperationalState": .string("routable"), "OnlineState": .string("online")])
        #expect(
            await seen.wait { $0.count > 1 } == [
                News(state: NetworkState(isUp: false), came: false), News(state: Self.up, came: true),
            ])
    }

    @Test func aServiceThatComesLaterAndGoesAndComesBackIsFollowed() async throws {
        let bus = try PrivateBus()
        let seen = Seen()
        let task = await watch(bus.address, seen)
        defer { task.cancel() }
        #expect(seen.all.isEmpty)
        let first = try await FakeService.networkManager(on: bus, ["State": .uint32(70)])
        #expect(await seen.wait { $0.count > 0 } == [News(state: Self.up, came: true)])
        await first.close()
        #expect(await seen.wait { $0.count > 1 }.last == News(state: NetworkState(), came: false))
        let second = try await FakeService.networkManager(on: bus, ["State": .uint32(20)])
        #expect(await seen.wait { $0.count > 2 }.last == News(state: NetworkState(isUp: false), came: false))
        await second.set(["State": .uint32(70)])
        #expect(await seen.wait { $0.count > 3 }.last == News(state: Self.up, came: true))
    }

    @Test func aBusThatGoesAndComesBackIsFoundAgain() async throws {
        let first = try PrivateBus()
        let manager = try await FakeService.networkManager(on: first, ["State": .uint32(70)])
        let seen = Seen()
        // A bus at a fixed address, as the system's is.
        let task = await watch(first.place, seen)
        defer { task.cancel() }
        _ = await seen.wait { !$0.isEmpty }
        try first.restart()
        #expect(await seen.wait { $0.count > 1 }.last == News(state: NetworkState(), came: false))
        await manager.close()
        let again = try await FakeService.networkManager(on: first, ["State": .uint32(70)])
        #expect(await seen.wait { $0.count > 2 }.last == News(state: Self.up, came: true))
        await again.close()
    }

    @Test func withoutABusNothingIsToldAndItEnds() async throws {
        let seen = Seen()
        let watch = makeWatch("unix:path=/nonexistent/socket", seen)
        let task = Task { await watch.run() }
        try? await Task.sleep(for: .milliseconds(200))
        task.cancel()
        await task.value
        #expect(seen.all.isEmpty)
    }

    @Test func whoDoesNotOwnTheNameIsNotBelieved() async throws {
        let bus = try PrivateBus()
        let manager = try await FakeService.networkManager(on: bus, ["State": .uint32(20)])
        let seen = Seen()
        let task = await watch(bus.address, seen)
        defer { task.cancel() }
        _ = await seen.wait { !$0.isEmpty }
        let stranger = try await BusConnection.open(.address(bus.address))
        let lie = BusSignal(
            path: "/org/freedesktop/NetworkManager", interface: "org.freedesktop.DBus.Properties",
            member: "PropertiesChanged",
            arguments: [
                .string("org.freedesktop.NetworkManager"), .properties(["State": .uint32(70)]), .strings([]),
            ])
        try stranger.emit(lie)
        // To every name there is, so to the watch itself, too.
        for number in 0..<20 { try stranger.emit(lie, to: ":1.\(number)") }
        await stranger.flush()
        await manager.set(["Metered": .uint32(1)])
        #expect(
            await seen.wait { $0.count > 1 }.last
                == News(state: NetworkState(isUp: false, isMetered: true), came: false))
        #expect(seen.all.count == 2)
    }

    @Test func valuesOfOtherKindsAreNone() async throws {
        let bus = try PrivateBus()
        let manager = try await FakeService.networkManager(
            on: bus,
            ["State": .string("up"), "Connectivity": .strings(["4"]), "PrimaryConnection": .uint32(1)])
        let seen = Seen()
        let task = await watch(bus.address, seen)
        defer { task.cancel() }
        await manager.set(["State": .uint32(70)])
        #expect(await seen.wait { !$0.isEmpty }.first?.state == Self.up)
    }
}

/// A service with properties, as its owner shows them.
struct FakeService: Sendable {
    let connection: BusConnection
    private let tree: ObjectTree
    private let path: String
    private let interface: String

    static func networkManager(on bus: PrivateBus, _ properties: BusProperties = [:]) async throws
        -> FakeService
    {
        try await FakeService(
            bus, name: "org.freedesktop.NetworkManager", path: "/org/freedesktop/NetworkManager",
            interface: "org.freedesktop.NetworkManager", properties: properties)
    }

    static func networkd(on bus: PrivateBus, _ properties: BusProperties = [:]) async throws -> FakeService {
        try await FakeService(
            bus, name: "org.freedesktop.network1", path: "/org/freedesktop/network1",
            interface: "org.freedesktop.network1.Manager", properties: properties)
    }

    private init(
        _ bus: PrivateBus, name: String, path: String, interface: String, properties: BusProperties
    ) async throws {
        self.path = path
        self.interface = interface
        connection = try await BusConnection.open(.address(bus.place))
        tree = ObjectTree(root: "/")
        tree.export(path, [InterfaceDescription(interface)], properties: [interface: properties])
        await connection.serve(tree)
        _ = try await connection.requestName(name)
    }

    func set(_ properties: BusProperties) async { tree.setProperties(path, interface, properties) }

    func close() async { await connection.close() }
}
