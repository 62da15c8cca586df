import BandProfile
import DBus

// Device1 objects: how they come, change and go.

extension BusSimulator {
    func exportDevice(_ device: SimulatedDevice) {
        device.isExported = true
        let stored = device.stored
        var properties: BusProperties = [
            "Address": .string(device.address.description), "AddressType": .string("random"),
            "Name": .string(device.keeper.setup.name), "Alias": .string(device.keeper.setup.name),
            "Paired": .bool(stored.isPaired), "Bonded": .bool(stored.isPaired),
            "Trusted": .bool(stored.isTrusted), "Blocked": .bool(device.isBlocked),
            "LegacyPairing": .bool(false), "Connected": .bool(device.isConnected),
            "UUIDs": .strings([BandHistory.service]), "Adapter": .objectPath(adapterPath),
            "ServicesResolved": .bool(false),
        ]
        if let rssi = device.signalledRSSI { properties["RSSI"] = .int16(rssi) }
        tree.export(
            device.path, [BlueZInterfaces.device(options.version)],
            properties: [BlueZInterfaces.deviceName: properties])
    }

    /// Children first, then the device. Calls that wait are never answered.
    func removeDevice(_ device: SimulatedDevice) {
        guard device.isExported else { return }
        device.isExported = false
        device.linkNumber += 1
        device.link = .down
        device.servicesResolved = false
        device.temporaryTimer?.cancel()
        device.connectTimer?.cancel()
        device.connectCall = nil
        device.disconnectCalls = []
        device.pairCall = nil
        device.isPairing = false
        device.afterConnecting = nil
        device.afterPairing = []
        device.afterResolution = []
        device.signalledRSSI = nil
        for characteristic in device.characteristics {
            _ = characteristic.linkLost()
            characteristic.sessions = []
        }
        giveLink(device)
        device.isTemporary = true
        unexportServices(device)
        tree.remove(device.path)
    }

    func setDeviceProperties(_ device: SimulatedDevice, _ properties: BusProperties) {
        tree.setProperties(device.path, BlueZInterfaces.deviceName, properties)
    }

    func setDevice(_ call: MethodCall, _ name: String, _ value: BusValue) -> ObjectTree.SetOutcome {
        guard let device = device(at: call.path), let flag = value.flag else { return .store }
        switch name {
        case "Trusted":
            guard flag != device.stored.isTrusted else { return .done }
            device.stored.isTrusted = flag
            if flag { makePermanent(device) }
            device.keeper.save()
        case "Blocked": device.isBlocked = flag
        default: break
        }
        return .store
    }

    // MARK: temporary devices

    func makePermanent(_ device: SimulatedDevice) {
        device.isTemporary = false
        device.temporaryTimer?.cancel()
        guard !device.stored.isKnown else { return }
        device.stored.isKnown = true
        device.keeper.save()
    }

    /// Every disconnect of an unpaired and untrusted device makes it temporary again.
    func becomeTemporaryUnlessTrusted(_ device: SimulatedDevice) {
        guard !device.stored.isTrusted, !device.stored.isPaired else { return }
        device.isTemporary = true
        device.stored.isKnown = false
        device.keeper.touch()
        armTemporaryTimer(device)
    }

    func armTemporaryTimer(_ device: SimulatedDevice) {
        device.temporaryTimer?.cancel()
        guard device.isTemporary else { return }
        let address = device.address
        device.temporaryTimer = after(scaled(options.temporaryTimeout)) { simulator in
            guard let device = simulator.device(address), device.isTemporary, device.link == .down else {
                return
            }
            simulator.removeDevice(device)
        }
    }

    // MARK: GATT objects

    /// One object after the other: each service, then its characteristics, each with its descriptors.
    func exportServices(_ device: SimulatedDevice) {
        guard !device.areServicesExported else { return }
        device.areServicesExported = true
        for (definition, path, characteristics) in device.services {
            tree.export(
                path, [BlueZInterfaces.service],
                properties: [
                    BlueZInterfaces.service.name: withHandle(
                        definition.handle,
                        [
                            "UUID": .string(definition.uuid), "Device": .objectPath(device.path),
                            "Primary": .bool(true), "Includes": .array(element: "o", []),
                        ])
                ])
            for characteristic in characteristics { export(characteristic, service: path, device) }
        }
    }

    private func export(_ characteristic: SimulatedCharacteristic, service: String, _ device: SimulatedDevice)
    {
        let definition = characteristic.definition
        var properties = withHandle(
            definition.handle,
            [
                "UUID": .string(definition.uuid), "Service": .objectPath(service), "Value": .bytes([]),
                "Flags": .strings(definition.flags),
            ])
        if definition.notifies { properties["Notifying"] = .bool(!characteristic.sessions.isEmpty) }
        if definition.has("write-without-response") { properties["WriteAcquired"] = .bool(false) }
        if definition.has("notify"), options.acquireNotify { properties["NotifyAcquired"] = .bool(false) }
        if device.isConnected { properties["MTU"] = .uint16(UInt16(clamping: device.mtu)) }
        tree.export(
            characteristic.path, [BlueZInterfaces.characteristic],
            properties: [BlueZInterfaces.characteristic.name: properties])
        guard let configuration = definition.configuration else { return }
        tree.export(
            characteristic.path + "/desc" + GATTPath.hexadecimal(configuration), [BlueZInterfaces.descriptor],
            properties: [
                BlueZInterfaces.descriptor.name: withHandle(
                    configuration,
                    [
                        "UUID": .string(GATTLayout.configurationUUID),
                        "Characteristic": .objectPath(characteristic.path), "Value": .bytes([]),
                    ])
            ])
    }

    func unexportServices(_ device: SimulatedDevice) {
        guard device.areServicesExported else { return }
        device.areServicesExported = false
        for (_, path, characteristics) in device.services {
            for characteristic in characteristics {
                if let configuration = characteristic.definition.configuration {
                    tree.remove(characteristic.path + "/desc" + GATTPath.hexadecimal(configuration))
                }
                tree.remove(characteristic.path)
            }
            tree.remove(path)
        }
    }

    private func withHandle(_ handle: UInt16, _ properties: BusProperties) -> BusProperties {
        var properties = properties
        if options.version.hasHandles { properties["Handle"] = .uint16(handle) }
        return properties
    }

    /// BlueZ asks for 517; both sides use the smaller.
    var negotiatedMTU: Int { max(23, min(517, options.mtu)) }
}
