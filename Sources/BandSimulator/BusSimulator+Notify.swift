import DBus

// StartNotify sessions and acquired sockets.

extension BusSimulator {
    private static let interface = BlueZInterfaces.characteristic.name

    func answerNotifyCalls() {
        on(Self.interface, "StartNotify") { $0.startNotify($1) }
        on(Self.interface, "StopNotify") { $0.stopNotify($1) }
        on(Self.interface, "AcquireNotify") { $0.acquireNotify($1) }
    }

    // MARK: sessions

    private func startNotify(_ call: MethodCall) -> CallOutcome {
        guard let (device, characteristic) = characteristic(at: call.path), let client = call.sender else {
            return .never
        }
        guard characteristic.definition.notifies else { return .failure(BlueZError.notSupported) }
        guard characteristic.acquiredNotify == nil, !characteristic.isAcquiring else {
            return .failure(BlueZError.notifyAcquired)
        }
        guard device.link != .disconnecting else { return .failure(BlueZError.notConnected) }
        guard !characteristic.sessions.contains(client) else {
            return characteristic.subscribing.isEmpty ? .reply([]) : .failure(BlueZError.inProgress)
        }
        characteristic.sessions.append(client)
        guard device.isConnected, device.servicesResolved else {
            // Armed for the next connection.
            tree.setProperties(
                characteristic.path, Self.interface, ["Notifying": .bool(true)], signal: false)
            return .reply([])
        }
        guard characteristic.sessions.count == 1 else { return .reply([]) }
        characteristic.subscribing.append(call.token)
        configure(device, characteristic) { simulator, isRefused in
            characteristic.subscribing.removeAll { $0 == call.token }
            guard !isRefused else {
                characteristic.sessions.removeAll { $0 == client }
                return simulator.fail(call.token, BlueZError.att(0xfd))
            }
            simulator.tree.setProperties(characteristic.path, Self.interface, ["Notifying": .bool(true)])
            simulator.reply(call.token)
        }
        return .later
    }

    private func stopNotify(_ call: MethodCall) -> CallOutcome {
        guard let (device, characteristic) = characteristic(at: call.path), let client = call.sender else {
            return .never
        }
        guard characteristic.sessions.contains(client) else {
            return .failure(BlueZError.failed("No notify session started"))
        }
        endSession(device, characteristic, client: client)
        return .reply([])
    }

    func endSession(_ device: SimulatedDevice, _ characteristic: SimulatedCharacteristic, client: String) {
        characteristic.sessions.removeAll { $0 == client }
        guard characteristic.sessions.isEmpty else { return }
        tree.setProperties(characteristic.path, Self.interface, ["Notifying": .bool(false)])
        setNotifications(device, characteristic, enabled: false)
    }

    /// BlueZ writes the configuration again on each connection while a session's bus name lives.
    func rearmSessions(_ device: SimulatedDevice, _ characteristic: SimulatedCharacteristic) {
        configure(device, characteristic) { _, _ in }
    }

    // MARK: sockets

    private func acquireNotify(_ call: MethodCall) -> CallOutcome {
        guard let (device, characteristic) = characteristic(at: call.path) else { return .never }
        guard device.hasGATT else { return .failure(BlueZError.gattNotConnected) }
        guard characteristic.definition.has("notify"), options.acquireNotify else {
            return .failure(BlueZError.notSupported)
        }
        guard characteristic.acquiredNotify == nil, !characteristic.isAcquiring else {
            return .failure(BlueZError.notifyAcquired)
        }
        guard characteristic.sessions.isEmpty else { return .failure(BlueZError.inProgress) }
        characteristic.isAcquiring = true
        characteristic.subscribing.append(call.token)
        let acquire: @Sendable (isolated BusSimulator) -> Void = { simulator in
            simulator.configure(device, characteristic) { simulator, isRefused in
                simulator.finishAcquire(call.token, device, characteristic, isRefused: isRefused)
            }
        }
        if device.servicesResolved { acquire(self) } else { device.afterResolution.append(acquire) }
        return .later
    }

    private func finishAcquire(
        _ call: UInt64, _ device: SimulatedDevice, _ characteristic: SimulatedCharacteristic, isRefused: Bool
    ) {
        characteristic.subscribing.removeAll { $0 == call }
        if isRefused {
            // Before 5.84 there is no reply, and the characteristic stays acquired until the link ends.
            guard options.version.answersRefusedAcquire else { return }
            characteristic.isAcquiring = false
            return fail(call, BlueZError.att(0xfd))
        }
        characteristic.isAcquiring = false
        let link = device.linkNumber
        let pair = PacketSocket.pair(
            sendBuffer: options.socketBuffer, queue: bus.executor.queue, received: { _ in },
            closed: { [weak self] in
                self?.assumeIsolated { simulator in
                    guard device.linkNumber == link else { return }
                    simulator.releaseNotify(device, characteristic)
                }
            })
        guard let pair else { return fail(call, BlueZError.failed("Input/output error")) }
        characteristic.acquiredNotify = pair.ours
        reply(call, [.fileDescriptor(pair.theirs), .uint16(UInt16(clamping: device.mtu))])
        tree.setProperties(characteristic.path, Self.interface, ["NotifyAcquired": .bool(true)])
        // The link stands, and the socket ends all the same.
        if device.strikes(.deadSocket) != nil { releaseNotify(device, characteristic) }
    }

    /// The client closed its end: the configuration is cleared.
    private func releaseNotify(_ device: SimulatedDevice, _ characteristic: SimulatedCharacteristic) {
        guard let socket = characteristic.acquiredNotify else { return }
        device.dropped += socket.dropped
        socket.shut()
        characteristic.acquiredNotify = nil
        tree.setProperties(characteristic.path, Self.interface, ["NotifyAcquired": .bool(false)])
        setNotifications(device, characteristic, enabled: false)
    }

    // MARK: the configuration

    /// Writes the Client Characteristic Configuration; `then` learns whether the band refused.
    private func configure(
        _ device: SimulatedDevice, _ characteristic: SimulatedCharacteristic,
        _ then: @escaping @Sendable (isolated BusSimulator, Bool) -> Void
    ) {
        request(device) { simulator in
            simulator.withBond(device, characteristic) { simulator in
                let isHistory = characteristic.definition.role == .historyData
                let isRefused = isHistory && device.strikes(.notifyRefused) != nil
                if !isRefused { simulator.setNotifications(device, characteristic, enabled: true) }
                then(simulator, isRefused)
            } refused: {
                then($0, true)
            }
        }
    }

    private func setNotifications(
        _ device: SimulatedDevice, _ characteristic: SimulatedCharacteristic, enabled: Bool
    ) {
        guard device.isConnected else { return }
        switch characteristic.definition.role {
        case .historyData: device.keeper.band.enableNotifications(enabled)
        case .heartRate:
            device.heartRateTimer?.cancel()
            if enabled { beat(device, characteristic) }
        default: break
        }
    }

    /// Live heart rate, once a second. Heart Rate Service 1.0: flags 0, one byte of beats a minute.
    private func beat(_ device: SimulatedDevice, _ characteristic: SimulatedCharacteristic) {
        let link = device.linkNumber
        device.heartRateTimer = after(.seconds(1)) { simulator in
            guard device.linkNumber == link, characteristic.isNotifying else { return }
            let rate = 60 + UInt8(truncatingIfNeeded: SystemClock.wallMilliseconds / 1_000 % 20)
            simulator.notify(characteristic, [0, rate])
            simulator.beat(device, characteristic)
        }
    }

    /// One notification to whoever asked: into the socket, or one signal for each session.
    func notify(_ characteristic: SimulatedCharacteristic, _ bytes: [UInt8]) {
        if let socket = characteristic.acquiredNotify { return socket.send(bytes) }
        for _ in characteristic.sessions {
            tree.setProperties(characteristic.path, Self.interface, ["Value": .bytes(bytes)])
        }
    }
}
