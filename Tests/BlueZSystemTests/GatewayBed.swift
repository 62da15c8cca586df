import BandModel
import BandProfile
import BandSimulator
import BusTestSupport
import DBus
import Locking
import Testing

@testable import BlueZ
@testable import BlueZModel

let band = BluetoothAddress(bits: 0xF0F1_F2F3_F4F0)
let simulatedAdapter = BluetoothAddress(bits: 0x00AA_0100_0023)

/// A private bus with a simulated BlueZ and one band, and a client on it.
final class GatewayBed: Sendable {
    let bus: PrivateBus
    let options: BusSimulatorOptions
    let client: BlueZClient
    private let simulators: Guarded<BusSimulator?>
    private let seen = Guarded<[BlueZEvent]>([])
    private let reader: Guarded<Task<Void, Never>?> = Guarded(nil)

    var simulator: BusSimulator {
        get throws { try #require(simulators.withLock { $0 }) }
    }

    /// Short where a test waits for a deadline to pass, long everywhere else.
    static let timings: BlueZTimings = {
        var timings = BlueZTimings()
        timings.lateObjects = .seconds(2)
        timings.lateObjectsPoll = .milliseconds(100)
        timings.seenInterval = .zero
        return timings
    }()

    static func start(
        records: Int = 100, faults: String = "", timings: BlueZTimings = GatewayBed.timings,
        adapter: BluetoothAddress? = nil, simulated: Bool = true,
        _ change: (inout BusSimulatorOptions) -> Void = { _ in }
    ) async throws -> GatewayBed {
        let bus = try PrivateBus()
        let model = SimulatedBandOptions(
            seed: 3, records: records, window: 0, faults: try FaultScript(faults))
        var options = BusSimulatorOptions(
            address: .address(bus.address),
            bands: [BandSetup(address: band, name: "Band 01", options: model)])
        options.timeScale = 20
        // On a busy machine the next call may come after BlueZ's 30 s, which are 1.5 s here.
        options.temporaryTimeout = .seconds(36_000)
        change(&options)
        let client = BlueZClient(
            bus: .address(bus.address), adapters: adapter.map { [$0] } ?? [], timings: timings)
        let bed = GatewayBed(bus: bus, options: options, client: client)
        if simulated { try await bed.startSimulator() }
        bed.readEvents()
        try await client.start()
        return bed
    }

    private init(bus: PrivateBus, options: BusSimulatorOptions, client: BlueZClient) {
        self.bus = bus
        self.options = options
        self.client = client
        simulators = Guarded(nil)
    }

    deinit { reader.withLock { $0?.cancel() } }

    func startSimulator() async throws {
        let simulator = try await BusSimulator.start(options)
        simulators.withLock { $0 = simulator }
    }

    func stopSimulator() async throws {
        try await simulator.stop()
        simulators.withLock { $0 = nil }
    }

    // MARK: events

    private func readEvents() {
        let events = client.events
        let box = WeakBox(self)
        let task = Task { for await event in events { box.value?.note(event) } }
        reader.withLock { $0 = task }
    }

    private func note(_ event: BlueZEvent) { seen.withLock { $0.append(event) } }
    var events: [BlueZEvent] { seen.withLock { $0 } }

    func wait(
        sourceLocation: SourceLocation = #_sourceLocation, for condition: ([BlueZEvent]) async -> Bool
    ) async throws {
        // The bound only ends a test that fails anyway.
        for _ in 0..<4_000 {
            if await condition(events) { return }
            try await Task.sleep(for: .milliseconds(5))
        }
        Issue.record("waited in vain: \(events)", sourceLocation: sourceLocation)
        throw CancellationError()
    }

    // MARK: the usual way

    /// Discovers the band, as a gateway does at first.
    func discover() async throws {
        try await client.startDiscovery(on: simulatedAdapter)
        try await wait {
            $0.contains { if case .deviceSeen(let device) = $0 { device.address == band } else { false } }
        }
    }

    func connect(
        deadline: Duration? = nil, onLost: @escaping @Sendable (BlueZFailure) -> Void = { _ in }
    ) async throws -> BandLink {
        if await client.device(band) == nil { try await discover() }
        return try await client.connect(band, deadline: deadline, onLost: onLost)
    }

    func loseBond() async throws { await (try simulator).loseBond(band) }

    /// The next calls of a method of the band's are answered with this error.
    func answer(_ method: String, _ error: String, times: UInt32) async throws {
        try await answer("dev_F0_F1_F2_F3_F4_F0", "Simulator1", method, error, "", times)
    }

    /// The same for the adapter.
    func answerAdapter(_ method: String, _ error: String, text: String = "", times: UInt32) async throws {
        try await answer("adapter", "SimulatedAdapter1", method, error, text, times)
    }

    private func answer(
        _ object: String, _ interface: String, _ method: String, _ error: String, _ text: String,
        _ times: UInt32
    ) async throws {
        let control = try await BusConnection.open(.address(bus.address))
        _ = try await control.call(
            "org.bandferry.Simulator1", path: "/org/bandferry/simulator/" + object,
            interface: "org.bandferry." + interface, "Answer",
            [.string(method), .string(error), .string(text), .uint32(times)], deadline: .seconds(10))
        await control.close()
    }

    /// Everything that a stream brings, until its END.
    func stream(from seq: UInt32, _ link: BandLink, _ mailbox: NotificationMailbox) async throws -> [UInt32] {
        try await link.writeControlPoint(ControlPointCommand.sendFrom(seq).encoded)
        var seqs: [UInt32] = []
        for _ in 0..<4_000 {
            let contents = mailbox.take(max: 100)
            #expect(contents.dropped == 0)
            for bytes in contents.run.notifications {
                switch try HistoryNotification(decoding: bytes) {
                case .samples(_, let records): seqs += records.map(\.seq)
                case .end: return seqs
                }
            }
            guard !contents.ended else { return seqs }
            if contents.run.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        }
        Issue.record("no END")
        return seqs
    }
}

private final class WeakBox: Sendable {
    private let box: @Sendable () -> GatewayBed?
    var value: GatewayBed? { box() }
    init(_ bed: GatewayBed) { box = { [weak bed] in bed } }
}

func failure<Value>(_ body: () async throws -> Value) async -> BlueZFailure? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? BlueZFailure
    }
}
