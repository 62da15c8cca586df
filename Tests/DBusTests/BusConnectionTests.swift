import BusTestSupport
import Glibc
import Locking
import Testing

@testable import DBus

/// Collects what handlers see, and waits for it.
final class Seen<Value: Sendable>: Sendable {
    private let values = Guarded<[Value]>([])
    func add(_ value: Value) { values.withLock { $0.append(value) } }
    var all: [Value] { values.withLock { $0 } }

    /// Ten seconds bound a failure, not a success.
    func wait(count: Int) async -> [Value] {
        for _ in 0..<2_000 {
            if all.count >= count { break }
            try? await Task.sleep(for: .milliseconds(5))
        }
        return all
    }
}

@Suite(.timeLimit(.minutes(1))) struct BusConnectionTests {
    let bus: PrivateBus
    let service: BusConnection
    let client: BusConnection

    init() async throws {
        bus = try PrivateBus()
        service = try await BusConnection.open(.address(bus.address))
        client = try await BusConnection.open(.address(bus.address))
    }

    private func echo(_ values: [BusValue], takesFileDescriptors: Bool = false) async throws -> [BusValue] {
        await service.setCallHandler { .reply($0.arguments) }
        return try await client.call(
            service.uniqueName, path: "/", interface: "test.Echo", "Echo", values, deadline: .seconds(10),
            takesFileDescriptors: takesFileDescriptors)
    }

    @Test func everyTypeComesBackAsItWent() async throws {
        let values: [BusValue] = [
            .byte(255), .bool(true), .bool(false), .int16(-2), .uint16(65_535), .int32(-3), .uint32(.max),
            .int64(.min), .uint64(.max), .double(-1.5), .string("ä \u{1F600}"), .string(""),
            .objectPath("/a/b"),
            .signature("a{sv}"), .bytes([1, 2, 3]), .bytes([]), .array(element: "s", []),
            .strings(["a", "b"]), .array(element: "(qu)", [.structure([.uint16(1), .uint32(2)])]),
            .properties(["x": .byte(1), "y": .properties(["z": .bytes([9])])]),
            .dictionary(key: "q", value: "ay", [BusEntry(.uint16(7), .bytes([1]))]),
            .dictionary(key: "o", value: "a{sa{sv}}", []),
            .variant(.variant(.structure([.string("deep"), .array(element: "ay", [.bytes([0])])]))),
        ]
        #expect(try await echo(values) == values)
    }

    @Test(arguments: [
        BusValue.objectPath("no/slash"), .objectPath(""), .signature("a"), .structure([]),
        .array(element: "s", [.byte(1)]), .array(element: "ss", []), .array(element: "", []),
        .dictionary(key: "v", value: "s", []), .dictionary(key: "s", value: "", []),
        .dictionary(key: "s", value: "s", [BusEntry(.string("a"), .byte(1))]),
        .variant(.structure([])), .fileDescriptor(-1),
    ])
    func whatBusesCannotCarryIsRefusedHere(_ value: BusValue) async throws {
        await #expect(throws: BusError.self) { try await echo([value]) }
        // The connection is as good as before.
        #expect(try await echo([.byte(1)]) == [.byte(1)])
    }

    @Test(arguments: [
        ("not a name", "/", "a.b", "C"), ("a.b", "x", "a.b", "C"), ("a.b", "/", "ab", "C"),
        ("a.b", "/", "a.b", "C-D"), ("a.b", "/", "a.b", ""),
    ])
    func badNamesAreRefusedHere(_ name: String, _ path: String, _ interface: String, _ member: String) async {
        let client = client
        await #expect(throws: BusError.self) {
            try await client.call(name, path: path, interface: interface, member, deadline: .seconds(1))
        }
    }

    @Test func aNULIsRefusedHere() async {
        await #expect(throws: BusError.self) { try await echo([.string("a\0b")]) }
        await #expect(throws: BusError.self) {
            try await client.call("a.b", path: "/", interface: "a.b", "C\0", deadline: .seconds(1))
        }
    }

    @Test func tooDeepAValueIsRefusedHere() async throws {
        var value = BusValue.byte(1)
        for _ in 0..<200 { value = .variant(value) }
        let deep = value
        await #expect(throws: BusError.self) { try await echo([deep]) }
    }

    @Test func anErrorArrivesWithItsNameAndText() async throws {
        let error = BusError(name: "org.bluez.Error.Failed", message: "Not connected")
        await service.setCallHandler { _ in .failure(error) }
        let got = await failure {
            try await client.call(
                service.uniqueName, path: "/", interface: "a.b", "C", deadline: .seconds(10))
        }
        #expect(got == error)
    }

    @Test func aCallThatIsNeverAnsweredEndsAtItsDeadline() async {
        await service.setCallHandler { _ in .never }
        let got = await failure {
            try await client.call(
                service.uniqueName, path: "/", interface: "a.b", "C", deadline: .milliseconds(50))
        }
        #expect(got?.name == BusError.deadlineName)
    }

    @Test func aShortDeadlineIsNotHeldUpByALongOne() async throws {
        await service.setCallHandler { _ in .never }
        let client = client
        let name = service.uniqueName
        let long = Task {
            try await client.call(name, path: "/", interface: "a.b", "C", deadline: .seconds(600))
        }
        try await Task.sleep(for: .milliseconds(20))
        let got = await failure {
            try await client.call(name, path: "/", interface: "a.b", "C", deadline: .milliseconds(50))
        }
        #expect(got?.name == BusError.deadlineName)
        long.cancel()
        #expect(await failure { try await long.value }?.name == BusError.cancelledName)
    }

    @Test func aDroppedBusFailsWhatWaitsAndTellsOnce() async throws {
        await service.setCallHandler { _ in .never }
        let told = Seen<Bool>()
        await client.setDisconnectHandler { told.add(true) }
        let client = client
        let name = service.uniqueName
        let waiting = Task {
            try await client.call(name, path: "/", interface: "a.b", "C", deadline: .seconds(600))
        }
        try await Task.sleep(for: .milliseconds(50))
        bus.stop()
        #expect(await failure { try await waiting.value }?.name == BusError.disconnectedName)
        #expect(await told.wait(count: 1) == [true])
        let after = await failure {
            try await client.call(name, path: "/", interface: "a.b", "C", deadline: .seconds(5))
        }
        #expect(after?.name == BusError.disconnectedName)
        #expect(await client.isConnected == false)
    }

    @Test func aClosedConnectionFailsWhatWaits() async throws {
        await service.setCallHandler { _ in .never }
        let client = client
        let name = service.uniqueName
        let waiting = Task {
            try await client.call(name, path: "/", interface: "a.b", "C", deadline: .seconds(600))
        }
        try await Task.sleep(for: .milliseconds(50))
        await client.close()
        await client.close()
        #expect(await failure { try await waiting.value }?.name == BusError.disconnectedName)
        await client.flush()
    }

    @Test func noBusIsAnErrorNotAHang() async {
        let got = await failure { try await BusConnection.open(.address("unix:path=/nonexistent/bus")) }
        #expect(got?.name == "org.freedesktop.DBus.Error.FileNotFound")
    }

    @Test func signalsAndRepliesKeepTheirOrder() async throws {
        let seen = Seen<String>()
        try await client.addMatch("type='signal',interface='test.Order'")
        await client.setSignalHandler { if $0.interface == "test.Order" { seen.add($0.member) } }
        let service = service
        await service.setCallHandler { call in
            // Sent from the handler, so before the reply.
            try? service.emit(BusSignal(path: "/", interface: "test.Order", member: "BeforeReply"))
            return .reply([])
        }
        for index in 0..<500 {
            try service.emit(BusSignal(path: "/", interface: "test.Order", member: "S\(index)"))
        }
        _ = try await client.call(
            service.uniqueName, path: "/", interface: "a.b", "C", deadline: .seconds(10))
        #expect(seen.all == (0..<500).map { "S\($0)" } + ["BeforeReply"])
    }

    @Test func aCallIsAnsweredLaterAndOnlyOnce() async throws {
        let service = service
        await service.setCallHandler { call in
            Task {
                service.reply(to: call.token, with: .reply([.string("first")]))
                service.reply(to: call.token, with: .reply([.string("second")]))
            }
            return .later
        }
        let reply = try await client.call(
            service.uniqueName, path: "/", interface: "a.b", "C", deadline: .seconds(10))
        #expect(reply == [.string("first")])
    }

    @Test func aNameHasOneOwner() async throws {
        #expect(try await service.requestName("org.bandferry.Test"))
        #expect(try await service.requestName("org.bandferry.Test"))
        #expect(try await !client.requestName("org.bandferry.Test"))
        #expect(try await client.owner(of: "org.bandferry.Test") == service.uniqueName)
        try await service.releaseName("org.bandferry.Test")
        #expect(try await client.owner(of: "org.bandferry.Test") == nil)
        #expect(try await client.requestName("org.bandferry.Test"))
    }

    @Test func descriptorsPassOnlyWhereTheyAreTaken() async throws {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        let (read, write) = (ends[0], ends[1])
        await service.setCallHandler { _ in .reply([.fileDescriptor(dup(write)), .uint16(247)]) }
        let name = service.uniqueName
        let refused = await failure {
            try await client.call(name, path: "/", interface: "a.b", "C", deadline: .seconds(10))
        }
        #expect(refused?.name == "org.freedesktop.DBus.Error.InvalidArgs")
        let reply = try await client.call(
            name, path: "/", interface: "a.b", "C", deadline: .seconds(10), takesFileDescriptors: true)
        guard case .fileDescriptor(let received) = reply[0] else { throw CancellationError() }
        #expect(reply[1] == .uint16(247))
        close(write)
        #expect(Glibc.write(received, "x", 1) == 1)
        close(received)
        var byte: UInt8 = 0
        #expect(Glibc.read(read, &byte, 1) == 1)
        // Nobody else holds the writing end: the refused copies were closed.
        #expect(Glibc.read(read, &byte, 1) == 0)
        close(read)
    }

    @Test func descriptorsInACallAreRefusedAndClosed() async throws {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        let (read, write) = (ends[0], ends[1])
        let got = await failure {
            try await client.call(
                service.uniqueName, path: "/", interface: "a.b", "C", [.variant(.fileDescriptor(write))],
                deadline: .seconds(10))
        }
        #expect(got?.name == "org.freedesktop.DBus.Error.InvalidArgs")
        var byte: UInt8 = 0
        #expect(Glibc.read(read, &byte, 1) == 0)
        close(read)
    }

    @Test func nobodyAnswersForAnUnknownObject() async {
        let got = await failure {
            try await client.call(
                service.uniqueName, path: "/org/bluez/hci0", interface: "org.bluez.Device1", "Connect",
                deadline: .seconds(10))
        }
        #expect(
            got
                == BusError(
                    name: "org.freedesktop.DBus.Error.UnknownObject",
                    message:
                        "Method \"Connect\" with signature \"\" on interface \"org.bluez.Device1\" doesn't exist\n"
                ))
    }

    @Test func ofTwentyThousandSignalsNoneIsLost() async throws {
        try await client.addMatch("type='signal',interface='test.Many'")
        let counter = CountBox()
        await client.setSignalHandler { signal in
            if signal.interface == "test.Many" { counter.add(signal.arguments[0].integer ?? -1) }
        }
        for index in 0..<20_000 {
            try service.emit(
                BusSignal(path: "/", interface: "test.Many", member: "S", arguments: [.uint32(UInt32(index))])
            )
        }
        await service.flush()
        await service.setCallHandler { _ in .reply([]) }
        _ = try await client.call(
            service.uniqueName, path: "/", interface: "a.b", "C", deadline: .seconds(60))
        #expect(counter.ordered == 20_000)
    }
}

/// Counts numbers that arrive in order from 0; out of order ends the count.
final class CountBox: Sendable {
    private let next = Guarded(0)
    func add(_ value: Int) { next.withLock { if $0 == value { $0 += 1 } } }
    var ordered: Int { next.withLock { $0 } }
}

func failure<Value>(_ body: () async throws -> Value) async -> BusError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? BusError
    }
}
