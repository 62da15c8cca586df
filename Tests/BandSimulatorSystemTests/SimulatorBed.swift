import BandModel
import BandProfile
import BusTestSupport
import DBus
import Foundation
import Glibc
import Locking
import Testing

@testable import BandSimulator

let address = BluetoothAddress(bits: 0xF0F1_F2F3_F4F0)
let adapterPath = "/org/bluez/hci0"
let devicePath = "/org/bluez/hci0/dev_F0_F1_F2_F3_F4_F0"
let adapterName = "org.bluez.Adapter1"
let deviceName = "org.bluez.Device1"
let characteristicName = "org.bluez.GattCharacteristic1"
let infoPath = devicePath + "/service000e/char000f"
let clockPath = devicePath + "/service000e/char0011"
let controlPointPath = devicePath + "/service000e/char0013"
let historyPath = devicePath + "/service000e/char0015"
let ackPath = devicePath + "/service000e/char0018"

/// One private bus with a simulated BlueZ, a client, and everything that the client was told.
final class SimulatorBed: Sendable {
    let bus: PrivateBus
    let simulator: BusSimulator
    let client: BusConnection
    private let seen = Guarded<[String]>([])
    private let values = Guarded<[[UInt8]]>([])
    /// Of the other hosts that hear the same bands.
    private let others: [BusSimulator]

    static func start(
        records: Int = 100, window: UInt16 = 0, faults: String = "", bus: PrivateBus? = nil,
        alsoOn other: PrivateBus? = nil, _ change: (inout BusSimulatorOptions) -> Void = { _ in }
    ) async throws -> SimulatorBed {
        let bus = try bus ?? PrivateBus()
        let band = SimulatedBandOptions(
            seed: 3, records: records, window: window, faults: try FaultScript(faults))
        var options = BusSimulatorOptions(
            address: .address(bus.address),
            bands: [BandSetup(address: address, name: "Band 01", options: band)])
        options.timeScale = 10
        // On a busy machine the next call may come after BlueZ's 30 s, which are 3 s here.
        options.temporaryTimeout = .seconds(36_000)
        change(&options)
        let others = other.map { [BusAddress.address($0.address)] } ?? []
        let simulators = try await BusSimulator.start(options, alsoOn: others)
        return try await listen(on: bus, simulators[0], others: Array(simulators.dropFirst()))
    }

    /// The second host of a bed that was started with `alsoOn`.
    static func join(_ bed: SimulatorBed, on bus: PrivateBus) async throws -> SimulatorBed {
        try await listen(on: bus, try #require(bed.others.first))
    }

    private static func listen(
        on bus: PrivateBus, _ simulator: BusSimulator, others: [BusSimulator] = []
    ) async throws -> SimulatorBed {
        let bed = SimulatorBed(
            bus: bus, simulator: simulator, client: try await BusConnection.open(.address(bus.address)),
            others: others)
        try await bed.client.addMatch("type='signal',sender='org.bluez'")
        let weak = Weak(bed)
        await bed.client.setSignalHandler { weak.value?.note($0) }
        return bed
    }

    private init(bus: PrivateBus, simulator: BusSimulator, client: BusConnection, others: [BusSimulator]) {
        self.bus = bus
        self.others = others
        self.simulator = simulator
        self.client = client
    }

    // MARK: calls

    func call(
        _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue] = [],
        deadline: Duration = .seconds(30), from connection: BusConnection? = nil
    ) async throws(BusError) -> [BusValue] {
        try await (connection ?? client).call(
            "org.bluez", path: path, interface: interface, member, arguments, deadline: deadline,
            takesFileDescriptors: true)
    }

    /// "Name: text" of the error that a call ends in, without the prefix that all of BlueZ's share; nil = success.
    func failure(
        _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue] = [],
        deadline: Duration = .seconds(30), from connection: BusConnection? = nil
    ) async -> String? {
        do {
            for value in try await call(
                path, interface, member, arguments, deadline: deadline, from: connection)
            {
                value.closeFileDescriptors()
            }
            return nil
        } catch {
            return error.description.replacingOccurrences(of: "org.bluez.Error.", with: "")
        }
    }

    func property(_ path: String, _ interface: String, _ name: String) async throws(BusError) -> BusValue? {
        try await call(
            path, "org.freedesktop.DBus.Properties", "Get", [.string(interface), .string(name)]
        ).first?.unwrapped
    }

    func set(_ path: String, _ interface: String, _ name: String, _ value: BusValue) async throws(BusError) {
        _ = try await call(
            path, "org.freedesktop.DBus.Properties", "Set",
            [.string(interface), .string(name), .variant(value)])
    }

    func read(_ path: String) async throws -> [UInt8] {
        try await call(path, characteristicName, "ReadValue", [.properties([:])]).first?.bytes ?? []
    }

    func write(_ path: String, _ bytes: [UInt8]) async throws(BusError) {
        _ = try await call(path, characteristicName, "WriteValue", [.bytes(bytes), .properties([:])])
    }

    func discover() async throws {
        let (isThere, start) = (await simulator.isExported(address), trace.count)
        _ = try await call(adapterPath, adapterName, "StartDiscovery")
        if !isThere { try await wait(from: start) { $0.contains("+dev_F0_F1_F2_F3_F4_F0 Device1") } }
        _ = try await call(adapterPath, adapterName, "StopDiscovery")
    }

    /// Discovers and connects, and waits for the services.
    func connect(trust: Bool = true) async throws {
        if !(await simulator.isExported(address)) { try await discover() }
        if trust { try await set(devicePath, deviceName, "Trusted", .bool(true)) }
        let start = trace.count
        _ = try await call(devicePath, deviceName, "Connect")
        try await wait(from: start) { trace in trace.contains { $0.contains("ServicesResolved=true") } }
    }

    /// The socket of an acquired characteristic, and the MTU.
    func acquire(_ path: String, _ method: String = "AcquireNotify") async throws -> (socket: Int32, mtu: Int)
    {
        let reply = try await call(path, characteristicName, method, [.properties([:])])
        guard case .fileDescriptor(let socket)? = reply.first else {
            throw BusError(name: "no fd", message: "")
        }
        return (socket, reply.last?.integer ?? 0)
    }

    // MARK: what the client was told

    /// One word a signal: "+char0015 GattCharacteristic1", "-dev_… Device1", "dev_…: Connected=true ServicesResolved=true".
    var trace: [String] { seen.withLock { $0 } }
    /// Every Value of History Data that came as a signal.
    var notifications: [[UInt8]] { values.withLock { $0 } }

    /// Waits for a state of the trace; the deadline only ends a test that fails anyway.
    func wait(
        from start: Int = 0, _ condition: ([String]) -> Bool,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        for _ in 0..<6_000 {
            if condition(Array(trace.dropFirst(start))) { return }
            try await Task.sleep(for: .milliseconds(5))
        }
        Issue.record("waited in vain; the trace: \(trace.dropFirst(start))", sourceLocation: sourceLocation)
        throw BusError(name: "waited in vain", message: "")
    }

    private func note(_ signal: BusSignal) {
        switch signal.member {
        case "InterfacesAdded", "InterfacesRemoved":
            guard let path = signal.arguments.first?.text, let last = signal.arguments.last else { return }
            let names = last.strings ?? (last.entries ?? []).compactMap(\.key.text)
            let mark = signal.member == "InterfacesAdded" ? "+" : "-"
            for name in names where name.hasPrefix("org.bluez.") {
                add(mark + Self.short(path) + " " + name.dropFirst(10))
            }
        case "PropertiesChanged":
            let changes = signal.arguments[1].properties ?? [:]
            if signal.path == historyPath, let value = changes["Value"]?.bytes {
                values.withLock { $0.append(value) }
                return
            }
            let words = changes.sorted { $0.key < $1.key }.map { "\($0.key)=\(Self.text($0.value))" }
            let gone = (signal.arguments[2].strings ?? []).map { "\($0) gone" }
            add(Self.short(signal.path) + ": " + (words + gone).joined(separator: " "))
        default: add(signal.member)
        }
    }

    private func add(_ word: String) { seen.withLock { $0.append(word) } }

    private static func short(_ path: String) -> String { String(path.split(separator: "/").last ?? "/") }

    private static func text(_ value: BusValue) -> String {
        value.flag.map { "\($0)" } ?? value.text
            ?? (value.bytes != nil ? "bytes" : value.integer != nil ? "n" : "…")
    }
}

private final class Weak: Sendable {
    private let box: @Sendable () -> SimulatorBed?
    var value: SimulatorBed? { box() }
    init(_ bed: SimulatorBed) { box = { [weak bed] in bed } }
}

extension BusSimulator {
    func isExported(_ address: BluetoothAddress) -> Bool { device(address)?.isExported ?? false }
}

// MARK: acquired sockets

/// The next packet; nil = the end, or nothing within ten seconds.
func nextPacket(_ socket: Int32) -> [UInt8]? {
    var poll = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    guard Glibc.poll(&poll, 1, 10_000) == 1 else { return nil }
    var buffer = [UInt8](repeating: 0, count: 600)
    let count = recv(socket, &buffer, buffer.count, 0)
    return count > 0 ? Array(buffer[..<count]) : nil
}

/// Reads until END; every record on the way.
func drainToEnd(_ socket: Int32) throws -> (records: [HistoryRecord], end: StreamEnd?) {
    var records: [HistoryRecord] = []
    while let bytes = nextPacket(socket) {
        switch try HistoryNotification(decoding: bytes) {
        case .samples(_, let some): records += some
        case .end(let end): return (records, end)
        }
    }
    return (records, nil)
}
