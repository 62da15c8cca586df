import BandModel
import DBus

// The link: Connect, Disconnect, services, and how links end. The order of signals is BlueZ's.

/// Why a link ended, as BlueZ 5.83 and later say it.
enum DisconnectReason: String {
    case timeout = "Timeout"
    case local = "Local"
    case remote = "Remote"
    case authentication = "Authentication"

    var message: String {
        switch self {
        case .timeout: "Connection timeout"
        case .local: "Connection terminated by local host"
        case .remote: "Connection terminated by remote user"
        case .authentication: "Connection terminated due to authentication failure"
        }
    }
}

extension BusSimulator {
    func answerDeviceCalls() {
        let interface = BlueZInterfaces.deviceName
        on(interface, "Connect") { $0.connect($1) }
        on(interface, "Disconnect") { $0.disconnect($1) }
        on(interface, "Pair") { $0.pair($1) }
        on(interface, "CancelPairing") { $0.cancelPairing($1) }
        on(interface, "ConnectProfile") { _, _ in .failure(BlueZError.notSupported) }
        on(interface, "DisconnectProfile") { _, _ in .failure(BlueZError.notSupported) }
    }

    // MARK: connecting

    private func connect(_ call: MethodCall) -> CallOutcome {
        guard let device = device(at: call.path) else { return .never }
        switch device.link {
        case .up, .disconnecting: return .reply([])
        case .connecting:
            guard device.connectCall != nil else {
                device.connectCall = call.token
                return .later
            }
            return .failure(
                options.version.secondConnectIsInProgress
                    ? BlueZError.inProgress : BlueZError.failed("Operation already in progress"))
        case .down:
            // LE connects fail so when the adapter is off; NotReady belongs to BR/EDR.
            guard isPowered, !device.isBlocked else {
                return .failure(BlueZError.failed("Input/output error"))
            }
            device.connectCall = call.token
            startConnecting(device)
            return .later
        }
    }

    func startConnecting(_ device: SimulatedDevice) {
        makePermanent(device)
        trouble.connects += 1
        device.link = .connecting
        device.linkNumber += 1
        let link = device.linkNumber
        if device.strikes(.connectFails) != nil {
            after(scaled(.milliseconds(400))) { simulator in
                guard device.link == .connecting, device.linkNumber == link else { return }
                simulator.connectFailed(device, BlueZError.connectAborted)
            }
            return
        }
        // L2CAP_CONN_TIMEOUT: an absent band is waited for so long.
        device.connectTimer = after(scaled(.seconds(40))) { simulator in
            guard device.link == .connecting, device.linkNumber == link else { return }
            simulator.connectFailed(device, BlueZError.connectAborted)
        }
        if device.strikes(.connectHangs) == nil, device.isConnectable { establishSoon(device) }
    }

    func establishSoon(_ device: SimulatedDevice) {
        let link = device.linkNumber
        after(scaled(.milliseconds(50))) { simulator in
            guard device.link == .connecting, device.linkNumber == link, device.isConnectable else { return }
            simulator.establish(device)
        }
    }

    func connectFailed(_ device: SimulatedDevice, _ error: BusError) {
        device.link = .down
        device.linkNumber += 1
        device.connectTimer?.cancel()
        if let call = device.connectCall { fail(call, error) }
        device.connectCall = nil
        let waiting = device.afterConnecting
        device.afterConnecting = nil
        waiting?(self, error)
        connectByProfile(device)
    }

    /// Connected, then the reply, and only later services: the call returns when the channel is up.
    private func establish(_ device: SimulatedDevice) {
        device.connectTimer?.cancel()
        device.temporaryTimer?.cancel()
        device.link = .up
        device.linkNumber += 1
        let link = device.linkNumber
        device.mtu = device.strikes(.smallMTU) == nil ? negotiatedMTU : 23
        takeLink(device)
        overflow(besides: device)
        if device.stored.isPaired, device.stored.lostKeys == true { return refuseKeys(device) }
        // When bluetoothd sees the ATT channel before the kernel's event of the connection, it sets the property and
        // never signals it ("Device ... is already connected" in its log).
        let isQuiet = device.strikes(.quietConnect) != nil
        tree.setProperties(
            device.path, BlueZInterfaces.deviceName, ["Connected": .bool(true)], signal: !isQuiet)
        if let call = device.connectCall { reply(call) }
        device.connectCall = nil
        let waiting = device.afterConnecting
        device.afterConnecting = nil
        waiting?(self, nil)
        var delay = scaled(device.areServicesExported ? .milliseconds(80) : options.discoveryDelay)
        if let fault = device.strikes(.lateServices) { delay += .milliseconds(fault.amount) }
        after(delay) { simulator in
            guard device.isConnected, device.linkNumber == link else { return }
            simulator.resolveServices(device)
        }
    }

    /// The band has forgotten the bond: the link comes up, can't be encrypted, and drops. BlueZ 5.66 says of it what it
    /// says of any failed connect.
    private func refuseKeys(_ device: SimulatedDevice) {
        setDeviceProperties(device, ["Connected": .bool(true)])
        let link = device.linkNumber
        after(scaled(.milliseconds(200))) { simulator in
            guard device.isConnected, device.linkNumber == link else { return }
            let (call, waiting) = (device.connectCall, device.afterConnecting)
            (device.connectCall, device.afterConnecting) = (nil, nil)
            simulator.linkLost(device, reason: .authentication)
            let error =
                simulator.options.version.saysKeyMissing ? BlueZError.keyMissing : BlueZError.connectAborted
            if let call { simulator.fail(call, error) }
            waiting?(simulator, error)
        }
    }

    private func resolveServices(_ device: SimulatedDevice) {
        // The flag also comes when discovery failed, and then there are no objects.
        if device.strikes(.noObjects) != nil {
            unexportServices(device)
            device.servicesResolved = true
            setDeviceProperties(device, ["ServicesResolved": .bool(true)])
            return
        }
        if !device.areServicesExported, let fault = device.strikes(.lateObjects) {
            device.servicesResolved = true
            setDeviceProperties(device, ["ServicesResolved": .bool(true)])
            let link = device.linkNumber
            after(.milliseconds(fault.amount)) { simulator in
                guard device.isConnected, device.linkNumber == link else { return }
                simulator.exportServices(device)
            }
            return
        }
        var changes: BusProperties = ["ServicesResolved": .bool(true)]
        if device.areServicesExported {
            for characteristic in device.characteristics {
                tree.setProperties(
                    characteristic.path, BlueZInterfaces.characteristic.name,
                    ["MTU": .uint16(UInt16(clamping: device.mtu))], signal: false)
            }
        } else {
            exportServices(device)
            changes["UUIDs"] = .strings(GATTLayout.uuids)
        }
        device.servicesResolved = true
        setDeviceProperties(device, changes)
        for characteristic in device.characteristics where !characteristic.sessions.isEmpty {
            rearmSessions(device, characteristic)
        }
        let waiting = device.afterResolution
        device.afterResolution = []
        for body in waiting { body(self) }
        let link = device.linkNumber
        after(scaled(.milliseconds(50))) { simulator in
            guard device.link == .up, device.linkNumber == link else { return }
            simulator.tree.export(
                device.path, [BlueZInterfaces.battery],
                properties: [
                    BlueZInterfaces.battery.name: ["Percentage": .byte(device.keeper.setup.battery)]
                ])
        }
    }

    // MARK: disconnecting

    private func disconnect(_ call: MethodCall) -> CallOutcome {
        guard let device = device(at: call.path) else { return .never }
        switch device.link {
        case .down: return .reply([])
        case .connecting:
            connectFailed(device, BlueZError.connectCanceled)
            return .reply([])
        case .up, .disconnecting:
            device.disconnectCalls.append(call.token)
            startDisconnecting(device)
            return .later
        }
    }

    /// BlueZ waits two seconds, then: services gone, the replies, Connected gone.
    func startDisconnecting(
        _ device: SimulatedDevice, then body: (@Sendable (isolated BusSimulator) -> Void)? = nil
    ) {
        if device.link == .up {
            tree.remove(device.path, interface: BlueZInterfaces.battery.name)
            device.link = .disconnecting
        }
        let link = device.linkNumber
        after(scaled(.seconds(2))) { simulator in
            guard device.link == .disconnecting, device.linkNumber == link else {
                body?(simulator)
                return
            }
            simulator.setDeviceProperties(device, ["ServicesResolved": .bool(false)])
            simulator.endLink(device)
            for call in device.disconnectCalls { simulator.reply(call) }
            device.disconnectCalls = []
            simulator.setDeviceProperties(device, ["Connected": .bool(false)])
            simulator.signalReason(device, .local)
            simulator.becomeTemporaryUnlessTrusted(device)
            body?(simulator)
            if device.stored.isTrusted { simulator.connectByProfile(device) }
        }
    }

    /// Link loss and a peer that disconnects look the same: one signal, then everything ends.
    func linkLost(_ device: SimulatedDevice, reason: DisconnectReason) {
        guard device.isConnected else { return }
        setDeviceProperties(device, ["ServicesResolved": .bool(false), "Connected": .bool(false)])
        tree.remove(device.path, interface: BlueZInterfaces.battery.name)
        endLink(device)
        for call in device.disconnectCalls { reply(call) }
        device.disconnectCalls = []
        signalReason(device, reason)
        becomeTemporaryUnlessTrusted(device)
        connectByProfile(device)
    }

    /// Sockets end, waiting requests fail, StartNotify sessions stay.
    private func endLink(_ device: SimulatedDevice) {
        device.link = .down
        device.linkNumber += 1
        device.servicesResolved = false
        device.isSilent = false
        device.isBearerShut = false
        giveLink(device)
        device.afterResolution = []
        device.afterPairing = []
        device.heartRateTimer?.cancel()
        failRequests(device)
        for characteristic in device.characteristics {
            tree.setProperties(
                characteristic.path, BlueZInterfaces.characteristic.name, [:], invalidated: ["MTU"],
                signal: false)
        }
        saveSoon()
    }

    /// Acquired sockets end, and whatever waits for the band fails.
    func failRequests(_ device: SimulatedDevice) {
        let interface = BlueZInterfaces.characteristic.name
        for characteristic in device.characteristics {
            let hadNotify = characteristic.acquiredNotify != nil
            let hadWrite = characteristic.acquiredWrite != nil
            device.dropped += characteristic.acquiredNotify?.dropped ?? 0
            let waiting = characteristic.linkLost()
            if hadNotify {
                tree.setProperties(characteristic.path, interface, ["NotifyAcquired": .bool(false)])
            }
            if hadWrite {
                tree.setProperties(characteristic.path, interface, ["WriteAcquired": .bool(false)])
            }
            for call in waiting { fail(call, BlueZError.att(0x0e)) }
        }
    }

    private func signalReason(_ device: SimulatedDevice, _ reason: DisconnectReason) {
        guard options.version.signalsDisconnectReason else { return }
        try? bus.emit(
            BusSignal(
                path: device.path, interface: BlueZInterfaces.deviceName, member: "Disconnected",
                arguments: [.string("org.bluez.Reason." + reason.rawValue), .string(reason.message)]))
    }
}
