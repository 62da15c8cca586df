import BandProfile
import DBus

// Adapter1 and discovery.

extension BusSimulator {
    private static let adapterInterface = BlueZInterfaces.adapter.name

    func exportAdapter(signal: Bool) {
        exportAdapter(at: adapterPath, address: options.adapterAddress, isPowered: isPowered, signal: signal)
    }

    func exportAdapter(at path: String, address: String, isPowered: Bool, signal: Bool) {
        tree.export(
            path, [BlueZInterfaces.adapter, BlueZInterfaces.gattManager],
            properties: [
                Self.adapterInterface: [
                    "Address": .string(address), "AddressType": .string("public"),
                    "Name": .string("bandsim"), "Alias": .string("bandsim"), "Class": .uint32(0),
                    "Powered": .bool(isPowered), "Discoverable": .bool(false),
                    "DiscoverableTimeout": .uint32(180),
                    "Pairable": .bool(false), "PairableTimeout": .uint32(0), "Discovering": .bool(false),
                    "UUIDs": .strings([GATTLayout.assigned(0x1800), GATTLayout.assigned(0x1801)]),
                    "Modalias": .string("usb:v1D6Bp0246d0542"),
                    "Roles": .strings(["central", "peripheral"]),
                ]
            ], signal: signal)
    }

    func answerAdapterCalls() {
        let interface = Self.adapterInterface
        on(interface, "StartDiscovery") { $0.startDiscovery($1) }
        on(interface, "StopDiscovery") { $0.stopDiscovery($1) }
        on(interface, "SetDiscoveryFilter") { $0.setDiscoveryFilter($1) }
        on(interface, "GetDiscoveryFilters") { _, _ in
            .reply([
                .strings([
                    "UUIDs", "RSSI", "Pathloss", "Transport", "DuplicateData", "Discoverable", "Pattern",
                ])
            ])
        }
        on(interface, "RemoveDevice") { $0.removeDevice($1) }
    }

    // MARK: discovery

    private func startDiscovery(_ call: MethodCall) -> CallOutcome {
        guard isPowered else { return .failure(BlueZError.notReady) }
        if trouble.discoveryIsStuck { return .failure(BlueZError.alreadyInProgress) }
        guard let client = call.sender, !discovery.clients.contains(client) else {
            return .failure(BlueZError.alreadyInProgress)
        }
        discovery.clients.append(client)
        if discovery.clients.count == 1 {
            trouble.scanning(true, now: SystemClock.monotonicNanoseconds)
            after(.zero) { simulator in
                simulator.setAdapter(["Discovering": .bool(true)])
            }
            after(scaled(.milliseconds(100))) { $0.hear() }
        }
        return .reply([])
    }

    private func stopDiscovery(_ call: MethodCall) -> CallOutcome {
        guard isPowered else { return .failure(BlueZError.notReady) }
        if trouble.discoveryIsStuck { return .failure(BlueZError.failed("No discovery started")) }
        guard let client = call.sender, discovery.clients.contains(client) else {
            return .failure(BlueZError.failed("No discovery started"))
        }
        endDiscovery(of: client)
        return .reply([])
    }

    /// RSSI is known only while somebody listens.
    func endDiscovery(of client: String) {
        discovery.filters[client] = nil
        guard discovery.clients.contains(client) else { return }
        discovery.clients.removeAll { $0 == client }
        guard !discovery.isActive else { return }
        trouble.scanning(false, now: SystemClock.monotonicNanoseconds)
        for device in devices where device.signalledRSSI != nil {
            device.signalledRSSI = nil
            tree.setProperties(device.path, BlueZInterfaces.deviceName, [:], invalidated: ["RSSI"])
        }
        setAdapter(["Discovering": .bool(false)])
        for device in devices where device.isExported && device.isTemporary && device.link == .down {
            if device.strikes(.forgotten) != nil { removeDevice(device) }
        }
    }

    private func setDiscoveryFilter(_ call: MethodCall) -> CallOutcome {
        guard isPowered else { return .failure(BlueZError.notReady) }
        guard let client = call.sender, let properties = call.arguments.first?.properties,
            let filter = DiscoverySessions.Filter(properties)
        else { return .failure(BlueZError.invalidArguments) }
        discovery.filters[client] = properties.isEmpty ? nil : filter
        return .reply([])
    }

    /// One round of advertisements.
    private func hear() {
        guard discovery.isActive, isPowered, !trouble.discoveryIsStuck else { return }
        for device in devices where device.isAdvertising { hear(device) }
        after(scaled(.seconds(1))) { $0.hear() }
    }

    func hear(_ device: SimulatedDevice) {
        guard discovery.isActive else { return }
        let address = device.address.description
        let name = device.keeper.setup.name
        guard
            discovery.admits(uuid: BandHistory.service, rssi: Int(device.rssi), name: name, address: address)
        else { return }
        // Bands move: a little each time, much now and then.
        let step = Int16(truncatingIfNeeded: SystemClock.monotonicNanoseconds >> 20) & 0x7
        device.rssi = max(-90, min(-40, device.rssi + step - 3))
        if !device.isExported {
            device.signalledRSSI = device.rssi
            exportDevice(device)
        } else if discovery.isFiltered || abs((device.signalledRSSI ?? -128) - device.rssi) >= 8 {
            device.signalledRSSI = device.rssi
            tree.setProperties(device.path, BlueZInterfaces.deviceName, ["RSSI": .int16(device.rssi)])
        }
        armTemporaryTimer(device)
    }

    // MARK: removing

    private func removeDevice(_ call: MethodCall) -> CallOutcome {
        guard let path = call.arguments.first?.text else { return .failure(BlueZError.invalidArguments) }
        guard let device = devices.first(where: { $0.path == path && $0.isExported }) else {
            return .failure(BlueZError.doesNotExist)
        }
        guard isPowered else { return .failure(BlueZError.notReady) }
        device.stored.isKnown = false
        device.stored.isTrusted = false
        device.stored.isPaired = false
        device.stored.lostKeys = nil
        device.keeper.save()
        let token = call.token
        guard device.isConnected else {
            removeDevice(device)
            return .reply([])
        }
        startDisconnecting(device) { simulator in
            simulator.removeDevice(device)
            simulator.reply(token)
        }
        return .later
    }

    // MARK: properties

    func setAdapter(_ properties: BusProperties) {
        tree.setProperties(adapterPath, Self.adapterInterface, properties)
    }

    func set(_ call: MethodCall, _ interface: String, _ name: String, _ value: BusValue)
        -> ObjectTree.SetOutcome
    {
        if call.path == foreignAdapterPath { return .store }
        if interface == Self.adapterInterface { return setAdapter(call, name, value) }
        return setDevice(call, name, value)
    }

    private func setAdapter(_ call: MethodCall, _ name: String, _ value: BusValue) -> ObjectTree.SetOutcome {
        guard name == "Powered", let powered = value.flag else { return .store }
        guard !trouble.isPoweringOff else { return .refuse(BlueZError.busy) }
        guard powered != isPowered else { return .done }
        guard !powered else {
            guard !trouble.isBlocked else { return .refuse(BlueZError.blocked) }
            guard trouble.powerOnRefusals == 0 else {
                trouble.powerOnRefusals -= 1
                return .refuse(BlueZError.failed("Input/output error"))
            }
            isPowered = true
            return .store
        }
        guard trouble.powerOffDelay > .zero else {
            powerOff()
            reply(call.token)
            return .later
        }
        trouble.isPoweringOff = true
        let token = call.token
        after(trouble.powerOffDelay) { simulator in
            // A bluetoothd that was restarted meanwhile knows nothing of it.
            guard simulator.trouble.isPoweringOff else { return }
            simulator.trouble.isPoweringOff = false
            if simulator.isPowered { simulator.powerOff() }
            simulator.reply(token)
        }
        return .later
    }

    // MARK: clients that go

    /// Everything that belongs to a D-Bus connection ends with it.
    func clientMayBeGone(_ signal: BusSignal) {
        guard signal.member == "NameOwnerChanged", signal.arguments.count == 3,
            let name = signal.arguments[0].text, name.hasPrefix(":"), signal.arguments[2].text == ""
        else { return }
        endDiscovery(of: name)
        profiles[name] = nil
        if agents.agent(of: name) != nil { removeAgent(of: name) }
        for device in devices {
            for characteristic in device.characteristics where characteristic.sessions.contains(name) {
                endSession(device, characteristic, client: name)
            }
        }
    }
}

extension BlueZInterfaces {
    static let deviceName = "org.bluez.Device1"
}
