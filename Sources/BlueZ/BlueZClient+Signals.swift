import BandProfile
import BlueZModel
import DBus

// Signals, on the queue, in the bus's order.

extension BlueZClient {
    func received(_ signal: BusSignal) {
        if signal.sender == "org.freedesktop.DBus" {
            guard signal.member == "NameOwnerChanged", signal.arguments.count == 3,
                signal.arguments[0].text == BlueZName.service
            else { return }
            let newOwner = signal.arguments[2].text ?? ""
            ownerChanged(to: newOwner.isEmpty ? nil : newOwner)
            return
        }
        // Anybody may send us a signal; only bluetoothd's count.
        guard let owner, signal.sender == owner else { return }
        switch (signal.interface, signal.member) {
        case ("org.freedesktop.DBus.Properties", "PropertiesChanged"): propertiesChanged(signal)
        case ("org.freedesktop.DBus.ObjectManager", "InterfacesAdded"):
            guard signal.arguments.count == 2, let path = signal.arguments[0].text else { return }
            apply(objects.added(path, signal.arguments[1]))
            checkWaiters()
        case ("org.freedesktop.DBus.ObjectManager", "InterfacesRemoved"):
            guard signal.arguments.count == 2, let path = signal.arguments[0].text,
                let interfaces = signal.arguments[1].strings
            else { return }
            apply(objects.removed(path, interfaces))
            checkWaiters()
        case (BlueZName.device, "Disconnected"):
            // Since BlueZ 5.83: why the link drops.
            links[signal.path]?.reason = signal.arguments.first?.text
            if objects.devices[signal.path] != nil {
                dropReasons[signal.path] = signal.arguments.first?.text
            }
        default: break
        }
    }

    private func propertiesChanged(_ signal: BusSignal) {
        guard signal.arguments.count == 3, let interface = signal.arguments[0].text else { return }
        if interface == BlueZName.characteristic, let mailbox = notified[signal.path] {
            deliver(signal.arguments[1], to: mailbox)
        }
        guard let properties = signal.arguments[1].properties else { return }
        let changes = objects.changed(
            signal.path, interface, properties, invalidated: signal.arguments[2].strings ?? [])
        guard !changes.isEmpty else { return }
        apply(changes)
        checkWaiters()
    }

    /// StartNotify's way: each notification is a change of Value.
    private func deliver(_ changed: BusValue, to mailbox: NotificationMailbox) {
        for entry in changed.entries ?? [] where entry.key == .string("Value") {
            entry.value.bytes?.withUnsafeBytes { mailbox.append($0) }
        }
    }

    func apply(_ changes: [BlueZObjects.Change]) {
        for change in changes {
            switch change {
            case .adapter:
                eventSink.yield(.adaptersChanged(objects.adapterSnapshots))
                adaptersChanged()
            case .device(let path, let heard): deviceChanged(path, heard: heard)
            case .deviceGone(let path, let address): deviceWentAway(path, address)
            case .gatt: break
            }
        }
    }

    private func deviceChanged(_ path: String, heard: Bool) {
        guard let snapshot = objects.snapshot(of: path) else { return }
        if links[path] != nil,
            !snapshot.connected || (links[path]?.isReady == true && !snapshot.servicesResolved)
        {
            linkWasLost(
                path, BlueZFailure(kind: .notConnected, during: .read, text: links[path]?.reason ?? ""))
        }
        guard snapshot.isBand else { return }
        let now = clock.now
        if heard { heardAt[path] = now }
        if heard, let last = lastSeen[path], now - last < timings.seenInterval { return }
        if heard { lastSeen[path] = now }
        eventSink.yield(.deviceSeen(snapshot))
    }

    private func deviceWentAway(_ path: String, _ address: BluetoothAddress) {
        lastSeen[path] = nil
        dropReasons[path] = nil
        heardAt[path] = nil
        // BlueZ never answers what was asked of it.
        connection?.assumeIsolated {
            $0.failCalls(
                about: path,
                with: BusError(
                    name: "org.freedesktop.DBus.Error.UnknownObject", message: "the device was removed"))
        }
        linkWasLost(path, BlueZFailure(kind: .gone, during: .read, text: "the device was removed"))
        eventSink.yield(.deviceGone(address))
    }
}
