import BandModel
import BandProfile
import DBus

// What bluetoothd asks of the band's characteristics.

extension RadioSimulator {
    private static let interface = BlueZInterfaces.characteristic.name

    func answerCalls() {
        on("ReadValue") { $0.readValue($1) }
        on("WriteValue") { $0.writeValue($1) }
        on("AcquireNotify") { $0.acquireNotify($1) }
        on("StartNotify") { $0.setNotifying($1.path, true) }
        on("StopNotify") { $0.setNotifying($1.path, false) }
        tree.onCall(RadioApplication.advertisementInterface.name, "Release") { _ in .reply([]) }
    }

    private func on(
        _ member: String, _ body: @escaping @Sendable (isolated RadioSimulator, MethodCall) -> CallOutcome
    ) {
        tree.onCall(Self.interface, member) { [weak self] call in
            guard let self else { return .never }
            return self.assumeIsolated { radio in
                radio.note(call)
                return body(radio, call)
            }
        }
    }

    /// bluetoothd names the central and its MTU with each call.
    private func note(_ call: MethodCall) {
        let options = call.arguments.last?.properties ?? [:]
        if let device = options["device"]?.text { linkUp(device) }
        // A BlueZ central takes several notifications in one PDU, and bluetoothd then cuts what does not fit with
        // the 2 bytes of its length (5.66, and no different in 5.87): a full notification must be 2 bytes smaller than MTU - 3.
        if let mtu = options["mtu"]?.integer { keeper.band.setMTU(max(23, mtu - 2)) }
    }

    private func readValue(_ call: MethodCall) -> CallOutcome {
        let value: [UInt8]
        switch call.path {
        case RadioApplication.path(.info): value = keeper.band.info().encoded
        case RadioApplication.path(.clock):
            value = keeper.band.clock(now: SystemClock.wallMilliseconds).encoded
        case RadioApplication.path(.batteryLevel): value = [keeper.setup.battery]
        default:
            let texts: [GATTLayout.Role] = [.manufacturer, .model, .firmware]
            guard let role = texts.first(where: { RadioApplication.path($0) == call.path }),
                let text = GATTLayout.text(role)
            else { return .failure(BlueZError.notSupported) }
            value = Array(text.utf8)
        }
        let offset = call.arguments.last?.properties?["offset"]?.integer ?? 0
        guard offset <= value.count else {
            return .failure(BusError(name: "org.bluez.Error.InvalidOffset", message: "past the end"))
        }
        return .reply([.bytes(Array(value.dropFirst(offset)))])
    }

    private func writeValue(_ call: MethodCall) -> CallOutcome {
        guard let bytes = call.arguments.first?.bytes else { return .failure(BlueZError.invalidArguments) }
        switch call.path {
        case RadioApplication.path(.controlPoint):
            keeper.band.advance(to: SystemClock.wallMilliseconds)
            let error = keeper.band.writeControlPoint(bytes)
            send()
            guard let error else { return .reply([]) }
            // A bare number is sent on as the ATT error.
            return .failure(BlueZError.failed("0x" + String(error.rawValue, radix: 16)))
        case RadioApplication.path(.ack):
            keeper.ack(bytes)
            saveSoon()
            send()
            return .reply([])
        default: return .failure(BlueZError.notSupported)
        }
    }

    // MARK: notifications

    private func setNotifying(_ path: String, _ isOn: Bool) -> CallOutcome {
        switch path {
        case RadioApplication.path(.historyData):
            isNotifying = isOn
            keeper.band.enableNotifications(isOn)
        case RadioApplication.path(.heartRate):
            guard isBeating != isOn else { break }
            isBeating = isOn
            beat(path)
        default: break
        }
        return .reply([])
    }

    /// Live heart rate, once a second. Heart Rate Service 1.0: flags 0, one byte of beats a minute.
    private func beat(_ path: String) {
        guard isBeating else { return }
        let rate = 60 + UInt8(truncatingIfNeeded: SystemClock.wallMilliseconds / 1_000 % 20)
        tree.setProperties(path, Self.interface, ["Value": .bytes([0, rate])])
        after(.seconds(1)) { $0.beat(path) }
    }

    private func acquireNotify(_ call: MethodCall) -> CallOutcome {
        guard call.path == RadioApplication.path(.historyData) else {
            return .failure(BlueZError.notSupported)
        }
        socket?.shut()
        let pair = PacketSocket.pair(
            sendBuffer: 212_992, queue: bus.executor.queue, received: { _ in },
            closed: { [weak self] in
                self?.assumeIsolated { $0.subscriptionEnded() }
            })
        guard let pair else { return .failure(BlueZError.failed("no descriptors left")) }
        socket = pair.ours
        keeper.band.enableNotifications(true)
        let mtu = call.arguments.last?.properties?["mtu"]?.integer ?? 23
        return .reply([.fileDescriptor(pair.theirs), .uint16(UInt16(clamping: mtu))])
    }

    private func subscriptionEnded() {
        socket?.shut()
        socket = nil
        unsent = nil
        keeper.band.enableNotifications(false)
    }

    /// Sends what the stream has, at the pace of the air.
    func send() {
        guard !pump.isScheduled else { return }
        let rate = keeper.band.options.faults.notificationsPerSecond ?? options.rate
        let allowance = pump.allowance(rate: rate, now: SystemClock.monotonicNanoseconds)
        var count = 0
        var isFull = false
        while count < allowance, !isFull {
            var bytes: [UInt8] = []
            if let late = unsent {
                bytes = late
            } else if !keeper.band.nextNotification(into: &bytes) {
                break
            }
            unsent = nil
            if let socket {
                isFull = !socket.trySend(bytes)
                if isFull { unsent = bytes }
            } else if isNotifying, let path = RadioApplication.path(.historyData) {
                tree.setProperties(path, Self.interface, ["Value": .bytes(bytes)])
            }
            if !isFull { count += 1 }
        }
        pump.spend(count)
        if count > 0 { keeper.touch() }
        saveSoon()
        if !keeper.band.isLinked, let central {
            // The script cut the link, or the band is about to format its ring.
            pump.idle()
            Task { await disconnect(central) }
            return
        }
        guard isFull || count == allowance else { return pump.idle() }
        pump.isScheduled = true
        after(isFull ? .milliseconds(5) : rate > 0 ? .nanoseconds(1_000_000_000 / rate) : .zero) { radio in
            radio.pump.isScheduled = false
            radio.send()
        }
    }
}
