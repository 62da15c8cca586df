import BusTestSupport
import Glibc
import Testing

@testable import DBus

private let device = "org.bluez.Device1"
private let battery = "org.bluez.Battery1"
private let band = "/org/bluez/hci0/dev_F0_F1_F2_F3_F4_F5"

private let deviceInterface = InterfaceDescription(
    device,
    methods: [
        .init("Connect"), .init("Echo", takes: [.init("value", "s")], returns: [.init("value", "s")]),
    ],
    signals: [.init("Disconnected", [.init("reason", "s")])],
    properties: [
        .init("Address", "s"), .init("Trusted", "b", writable: true), .init("Alias", "s", writable: true),
    ])

@Suite(.timeLimit(.minutes(1))) struct ObjectTreeTests {
    let bus: PrivateBus
    let service: BusConnection
    let client: BusConnection
    let tree = ObjectTree(root: "/")
    let signals = Seen<BusSignal>()

    init() async throws {
        bus = try PrivateBus()
        service = try await BusConnection.open(.address(bus.address))
        client = try await BusConnection.open(.address(bus.address))
        await service.serve(tree)
        try await client.addMatch("type='signal',sender='\(service.uniqueName)'")
        let (signals, name) = (signals, service.uniqueName)
        await client.setSignalHandler { signal in
            guard signal.sender == name else { return }
            var signal = signal
            signal.sender = nil
            signals.add(signal)
        }
        tree.onCall(device, "Echo") { .reply($0.arguments) }
        tree.export(
            band, [deviceInterface],
            properties: [device: ["Address": .string("F0:F1:F2:F3:F4:F5"), "Trusted": .bool(false)]],
            signal: false)
    }

    private func call(
        _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue] = []
    ) async throws -> [BusValue] {
        try await client.call(
            service.uniqueName, path: path, interface: interface, member, arguments, deadline: .seconds(10))
    }

    private func properties(_ member: String, _ arguments: [BusValue]) async throws -> [BusValue] {
        try await call(band, "org.freedesktop.DBus.Properties", member, arguments)
    }

    @Test func managedObjectsListTheStandardInterfacesToo() async throws {
        let reply = try await call("/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
        #expect(
            reply == [
                .dictionary(
                    key: "o", value: "a{sa{sv}}",
                    [
                        BusEntry(
                            .objectPath(band),
                            .dictionary(
                                key: "s", value: "a{sv}",
                                [
                                    BusEntry(
                                        .string("org.freedesktop.DBus.Introspectable"), .properties([:])),
                                    BusEntry(.string("org.freedesktop.DBus.Properties"), .properties([:])),
                                    BusEntry(
                                        .string(device),
                                        .properties([
                                            "Address": .string("F0:F1:F2:F3:F4:F5"), "Trusted": .bool(false),
                                        ])),
                                ]))
                    ])
            ])
    }

    @Test func propertiesAreReadAndSet() async throws {
        #expect(
            try await properties("Get", [.string(device), .string("Trusted")]) == [.variant(.bool(false))])
        _ = try await properties("Set", [.string(device), .string("Trusted"), .variant(.bool(true))])
        #expect(tree.property(band, device, "Trusted") == .bool(true))
        #expect(
            try await properties("GetAll", [.string(device)])
                == [.properties(["Address": .string("F0:F1:F2:F3:F4:F5"), "Trusted": .bool(true)])])
        // The change is told before the reply.
        #expect(
            signals.all == [
                BusSignal(
                    path: band, interface: "org.freedesktop.DBus.Properties", member: "PropertiesChanged",
                    arguments: [.string(device), .properties(["Trusted": .bool(true)]), .strings([])])
            ])
    }

    @Test(arguments: [
        ("Get", [BusValue.string("a.b"), .string("MTU")], "InvalidArgs", "No such interface 'a.b'"),
        ("Get", [.string(device), .string("MTU")], "InvalidArgs", "No such property 'MTU'"),
        ("Get", [.string(device), .string("Alias")], "InvalidArgs", "No such property 'Alias'"),
        ("GetAll", [.string("a.b")], "InvalidArgs", "No such interface 'a.b'"),
        (
            "Set", [.string(device), .string("Address"), .variant(.string(""))], "PropertyReadOnly",
            "Property 'Address' is not writable"
        ),
        (
            "Set", [.string(device), .string("Trusted"), .variant(.byte(1))], "InvalidSignature",
            "Invalid signature for 'Trusted'"
        ),
        ("Set", [.string(device), .string("X"), .variant(.byte(1))], "InvalidArgs", "No such property 'X'"),
        (
            "Get", [.string(device)], "UnknownMethod",
            "Method \"Get\" with signature \"s\" on interface \"org.freedesktop.DBus.Properties\" doesn't exist\n"
        ),
    ])
    func propertyErrorsAreThoseOfBlueZ(
        _ member: String, _ arguments: [BusValue], _ name: String, _ text: String
    ) async {
        let got = await failure { try await properties(member, arguments) }
        #expect(got == BusError(name: "org.freedesktop.DBus.Error." + name, message: text))
    }

    @Test func methodsAreFoundByObjectInterfaceAndSignature() async throws {
        #expect(try await call(band, device, "Echo", [.string("x")]) == [.string("x")])
        let gone = await failure { try await call("/org/bluez/hci0/dev_00", device, "Echo", [.string("x")]) }
        #expect(gone?.name == "org.freedesktop.DBus.Error.UnknownObject")
        let wrong = await failure { try await call(band, device, "Echo", [.byte(1)]) }
        #expect(wrong?.name == "org.freedesktop.DBus.Error.UnknownMethod")
        #expect(wrong?.message.contains("with signature \"y\"") == true)
        let other = await failure { try await call(band, battery, "Echo", [.string("x")]) }
        #expect(other?.name == "org.freedesktop.DBus.Error.UnknownMethod")
        // Described, but nobody answers it.
        let idle = await failure { try await call(band, device, "Connect") }
        #expect(idle?.name == "org.freedesktop.DBus.Error.UnknownMethod")
    }

    @Test func changesAreToldInTheOrderOfTheCalls() async throws {
        tree.export(band, [InterfaceDescription(battery)], properties: [battery: ["Percentage": .byte(80)]])
        tree.setProperties(band, battery, ["Percentage": .byte(79)])
        tree.setProperties(band, device, ["RSSI": .int16(-60)], signal: false)
        tree.setProperties(band, device, [:], invalidated: ["RSSI"])
        tree.remove(band, interface: battery)
        tree.export("/org/bluez/hci1", [InterfaceDescription("org.bluez.Adapter1")])
        tree.remove(band)
        let seen = await signals.wait(count: 6)
        #expect(
            seen.map(\.member) == [
                "InterfacesAdded", "PropertiesChanged", "PropertiesChanged", "InterfacesRemoved",
                "InterfacesAdded", "InterfacesRemoved",
            ])
        // Interfaces added to an object come alone; a new object comes with the standard ones.
        #expect(seen[0].arguments[1].entries?.map(\.key) == [.string(battery)])
        #expect(seen[0].path == "/" && seen[1].path == band)
        #expect(seen[2].arguments[2] == .strings(["RSSI"]))
        #expect(seen[3].arguments == [.objectPath(band), .strings([battery])])
        #expect(
            seen[4].arguments[1].entries?.compactMap(\.key.text) == [
                "org.freedesktop.DBus.Introspectable", "org.freedesktop.DBus.Properties",
                "org.bluez.Adapter1",
            ])
        #expect(seen[5].arguments[1].strings?.contains(device) == true)
        #expect(tree.paths == ["/org/bluez/hci1"])
    }

    @Test func aSetMayBeRefused() async throws {
        tree.onSet { _, _, name, _ in
            name == "Alias" ? .refuse(BusError(name: "org.bluez.Error.Failed", message: "no")) : .done
        }
        let got = await failure {
            try await properties("Set", [.string(device), .string("Alias"), .variant(.string(""))])
        }
        #expect(got == BusError(name: "org.bluez.Error.Failed", message: "no"))
        _ = try await properties("Set", [.string(device), .string("Trusted"), .variant(.bool(true))])
        #expect(tree.property(band, device, "Trusted") == .bool(false))
    }

    @Test func introspectionLeadsFromTheRootToTheObject() async throws {
        var path = "/"
        for name in ["org", "bluez", "hci0", "dev_F0_F1_F2_F3_F4_F5"] {
            let xml = try await call(path, "org.freedesktop.DBus.Introspectable", "Introspect")[0].text ?? ""
            #expect(xml.contains("<node name=\"\(name)\"/>"), "\(path)")
            path += (path == "/" ? "" : "/") + name
        }
        let xml = try await call(path, "org.freedesktop.DBus.Introspectable", "Introspect")[0].text ?? ""
        #expect(xml.contains("<property name=\"Trusted\" type=\"b\" access=\"readwrite\"/>"))
        #expect(xml.contains("<arg name=\"value\" type=\"s\" direction=\"in\"/>"))
    }

    private static let lines = [
        "busctl --address=ADDRESS tree NAME", "busctl --address=ADDRESS introspect NAME \(band)",
        "gdbus introspect --address ADDRESS --dest NAME --object-path / --recurse",
        "gdbus call --address ADDRESS --dest NAME --object-path \(band) --method \(device).Echo x",
    ]

    @Test(arguments: lines)
    func theUsualToolsUnderstandTheTree(_ line: String) async throws {
        let command = line.replacing("ADDRESS", with: bus.address).replacing("NAME", with: service.uniqueName)
        let words = command.split(separator: " ").map(String.init)
        guard let result = await run(words) else { return }
        #expect(result.status == 0, "\(result.output)")
        #expect(
            result.output.contains(line.contains("Echo") ? "('x',)" : "F0_F1_F2_F3_F4_F5")
                || line.contains("introspect NAME"))
        if line.hasPrefix("busctl") && line.contains("introspect") {
            #expect(result.output.contains("Trusted"))
        }
    }
}

/// Runs a tool away from Swift's own threads; nil when the tool is not installed here.
func run(_ words: [String]) async -> (status: Int32, output: String)? {
    await withCheckedContinuation { continuation in
        let work = Work { continuation.resume(returning: runBlocking(words)) }
        var thread = pthread_t()
        pthread_create(
            &thread, nil,
            { argument in
                if let argument { Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body() }
                return nil
            }, Unmanaged.passRetained(work).toOpaque())
        pthread_detach(thread)
    }
}

private final class Work {
    let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
}

private func runBlocking(_ words: [String]) -> (status: Int32, output: String)? {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { return nil }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    posix_spawn_file_actions_adddup2(&actions, ends[1], 2)
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var process: pid_t = 0
    let code = posix_spawnp(&process, words[0], &actions, nil, &arguments, environ)
    close(ends[1])
    defer { close(ends[0]) }
    guard code == 0 else { return nil }
    var output: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while case let count = read(ends[0], &buffer, buffer.count), count > 0 { output += buffer[..<count] }
    var status: Int32 = 0
    waitpid(process, &status, 0)
    return (status, String(decoding: output, as: UTF8.self))
}
