import BandProfile
import BlueZModel
import BluetoothManagement
import DBus
import Dispatch
import GatewayModel
import Threading

/// Takes one log line: a constant text, and fields. No health value and no name of a person is in it.
public typealias BlueZLog = @Sendable (_ message: String, _ fields: [(String, String)]) -> Void

/// This gateway's side of `org.bluez`: one connection, one broad match, a view of all objects in memory.
///
/// It shares its queue with the bus connection, so that a signal is applied where it stands in the bus's order.
public actor BlueZClient {
    public nonisolated let executor = QueueExecutor(label: "bandferry.bluez")
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// What happens, in order. At most 512 wait for their reader; then the oldest is dropped, so read the views
    /// (`devices`, `adapters`) for what is the case and the events for when to look.
    public nonisolated let events: AsyncStream<BlueZEvent>
    let eventSink: AsyncStream<BlueZEvent>.Continuation

    let bus: BusAddress
    /// The adapters that may be used, by address; empty = all. Their numbers change with each plug-in.
    let chosenAdapters: Set<BluetoothAddress>
    let timings: BlueZTimings
    let log: BlueZLog
    let clock = ContinuousClock()

    var connection: BusConnection?
    /// Unique name of bluetoothd; signals of others are not believed. Nil while it is not running.
    var owner: String?
    var objects = BlueZObjects()
    var lastSeen: [String: ContinuousClock.Instant] = [:]
    /// When each device's last advertisement came. Its RSSI alone does not say: it stays while anybody discovers.
    var heardAt: [String: ContinuousClock.Instant] = [:]

    var links: [String: LinkState] = [:]
    var connecting: Set<String> = []
    /// Mailboxes of links that are notified by signals, by the path of the characteristic.
    var notified: [String: NotificationMailbox] = [:]
    var waiters: [UInt64: Waiter] = [:]
    var lastWaiter: UInt64 = 0
    var drain: NotificationDrain?

    /// Bands of which sockets are refused, or end before anything comes: their notifications are taken as signals.
    var withoutSockets: Set<BluetoothAddress> = []

    /// Adapters on which discovery was started.
    var discoveries: Set<BluetoothAddress> = []
    var agentPolicy: AgentPolicy?
    /// What BlueZ was told that the agent can do; nil = nothing, or not certainly.
    var registeredCapability: String?
    /// The last registration, done or under way.
    var agentWork: Task<Void, Never>?
    var agentRetryIsScheduled = false
    var agentRetryPause: Duration?
    /// The band about which BlueZ asked last, until that is answered.
    var askedLast: BluetoothAddress?
    /// Bands that are being paired with a person's help.
    var people: [BluetoothAddress: any PairingPerson] = [:]
    /// What was asked for a band since it was last connected.
    var demands: [BluetoothAddress: PairingDemand] = [:]
    /// BlueZ's last word for why a link dropped, by path; since 5.83.
    var dropReasons: [String: String] = [:]
    nonisolated let managementQueue = DispatchQueue(label: "bandferry.bluetooth-management")

    public init(
        bus: BusAddress, adapters: Set<BluetoothAddress> = [], timings: BlueZTimings = BlueZTimings(),
        log: @escaping BlueZLog = { _, _ in }
    ) {
        self.bus = bus
        chosenAdapters = adapters
        self.timings = timings
        self.log = log
        (events, eventSink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(512))
    }

    deinit {
        eventSink.finish()
        drain?.stop()
    }

    // MARK: views

    public var isServiceRunning: Bool { owner != nil }

    public func adapters() -> [AdapterSnapshot] { objects.adapterSnapshots }

    /// Those that may be used, powered or not.
    public func usableAdapters() -> [AdapterSnapshot] {
        objects.adapterSnapshots.filter { mayUse($0.address) }
    }

    /// What the radio does, as far as BlueZ shows it, and when these bands were last heard over which adapter.
    public func radio(of bands: Set<BluetoothAddress>) -> RadioSnapshot {
        var snapshot = RadioSnapshot()
        let now = clock.now
        for adapter in usableAdapters() {
            let index = objects.adapterIndex(of: adapter.address)
            let devices = objects.devices.filter { $0.value.path.adapter == index }
            snapshot.adapters.append(
                .init(
                    adapter: adapter, connected: Set(devices.values.filter(\.connected).map(\.address)),
                    known: Set(devices.values.map(\.address)).intersection(bands)))
            for (path, device) in devices where bands.contains(device.address) {
                guard let heard = heardAt[path], let rssi = device.rssi else { continue }
                // Where its keys are it is connected to: over another adapter it would have to be paired once more.
                guard device.paired || !isPaired(device.address) else { continue }
                snapshot.sightings.append(
                    .init(band: device.address, adapter: adapter.address, rssi: rssi, ago: now - heard))
            }
        }
        return snapshot
    }

    /// Every device that BlueZ knows, bands or not.
    public func devices() -> [DeviceSnapshot] {
        objects.devices.keys.sorted().compactMap { objects.snapshot(of: $0) }
    }

    /// A device: where it is connected, else where it is heard best.
    public func device(_ address: BluetoothAddress) -> DeviceSnapshot? {
        find(address).flatMap { objects.snapshot(of: $0.path) }
    }

    /// An adapter that may be used, or the one that is named, has keys of the device.
    public func isPaired(_ address: BluetoothAddress, on adapter: BluetoothAddress? = nil) -> Bool {
        let places = objects.adapters.filter {
            mayUse($0.value.address) && (adapter == nil || $0.value.address == adapter)
        }
        return objects.devices.values.contains {
            $0.address == address && $0.paired && places[$0.path.adapter] != nil
        }
    }

    /// An adapter that has keys of the device and is switched off, when none that is on has any: the device is not connected
    /// to over another one meanwhile, where it would have to be paired once more.
    public func switchedOffAdapter(withKeysOf address: BluetoothAddress) -> BluetoothAddress? {
        let usable = objects.adapters.filter { mayUse($0.value.address) }
        return objects.switchedOffAdapter(withKeysOf: address, among: Set(usable.keys))
    }

    func mayUse(_ adapter: BluetoothAddress) -> Bool {
        chosenAdapters.isEmpty || chosenAdapters.contains(adapter)
    }

    /// A device on one adapter, or on whichever that may be used has it best.
    func find(
        _ address: BluetoothAddress, on adapter: BluetoothAddress? = nil
    ) -> (path: String, device: BlueZObjects.Device)? {
        let places = objects.adapters.filter {
            mayUse($0.value.address) && (adapter == nil || $0.value.address == adapter)
        }
        return objects.device(address, on: Set(places.keys))
    }

    /// An adapter that may be used and is powered: the one that is named, else the first.
    func readyAdapter(
        _ adapter: BluetoothAddress? = nil, for operation: BlueZOperation
    ) throws(BlueZFailure) -> UInt16 {
        guard connection != nil else { throw BlueZFailure(kind: .busGone, during: operation) }
        guard owner != nil else { throw BlueZFailure(kind: .serviceGone, during: operation) }
        let there = objects.adapters.filter {
            mayUse($0.value.address) && (adapter == nil || $0.value.address == adapter)
        }
        guard !there.isEmpty else {
            // A log may go by many hands: an address is named where a person has written it.
            let missing = adapter == nil && chosenAdapters.count == 1 ? chosenAdapters.first : nil
            let others =
                chosenAdapters.isEmpty ? "there is no adapter" : "no adapter that may be used is there"
            let which =
                missing.map { "adapter \($0) is not there" }
                ?? (adapter == nil ? others : "the adapter is not there")
            throw BlueZFailure(kind: .notReady, during: operation, text: which)
        }
        guard let index = there.filter(\.value.powered).keys.min() else {
            throw BlueZFailure(kind: .notReady, during: operation, text: "the adapter is switched off")
        }
        return index
    }

    func path(ofAdapter index: UInt16) -> String { BlueZPath(adapter: index).description }

    // MARK: calls

    /// A call to bluetoothd. `device` is the object whose removal ends the call: BlueZ would never answer then.
    func call(
        _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue] = [],
        deadline: Duration, during operation: BlueZOperation, device: String? = nil,
        takesFileDescriptors: Bool = false
    ) async throws(BlueZFailure) -> [BusValue] {
        guard let connection else { throw BlueZFailure(kind: .busGone, during: operation) }
        guard owner != nil else { throw BlueZFailure(kind: .serviceGone, during: operation) }
        do throws(BusError) {
            return try await connection.call(
                BlueZName.service, path: path, interface: interface, member, arguments, deadline: deadline,
                takesFileDescriptors: takesFileDescriptors, about: device)
        } catch {
            throw BlueZFailure(name: error.name, text: error.message, during: operation)
        }
    }

    // MARK: waiting for the view

    struct Waiter {
        var check: (isolated BlueZClient) -> Bool
        var continuation: CheckedContinuation<Bool, Never>
    }

    /// True when the check holds, now or after a change within the time; false else, or when the task is cancelled.
    func wait(_ time: Duration, until check: @escaping (isolated BlueZClient) -> Bool) async -> Bool {
        guard !check(self) else { return true }
        lastWaiter += 1
        let id = lastWaiter
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard !Task.isCancelled else {
                    continuation.resume(returning: false)
                    return
                }
                waiters[id] = Waiter(check: check, continuation: continuation)
                after(time) { $0.endWait(id, false) }
            }
        } onCancel: {
            executor.queue.async { self.assumeIsolated { $0.endWait(id, false) } }
        }
    }

    private func endWait(_ id: UInt64, _ result: Bool) {
        waiters.removeValue(forKey: id)?.continuation.resume(returning: result)
    }

    func checkWaiters() {
        for (id, waiter) in waiters where waiter.check(self) { endWait(id, true) }
    }

    nonisolated func after(_ time: Duration, _ body: @escaping @Sendable (isolated BlueZClient) -> Void) {
        executor.queue.asyncAfter(deadline: .now() + time.dispatchInterval) { [weak self] in
            self?.assumeIsolated(body)
        }
    }
}

extension Duration {
    var dispatchInterval: DispatchTimeInterval {
        let (seconds, attoseconds) = components
        return .nanoseconds(Int(clamping: seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000))
    }
}
