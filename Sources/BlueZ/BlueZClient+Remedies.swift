import BandProfile
import BlueZModel
import DBus

// What can be done about an adapter or a bluetoothd that does not do as it is told. When, is decided elsewhere.

extension BlueZClient {
    /// True when bluetoothd answers a call that costs it nothing.
    public func answers(about adapter: BluetoothAddress) async -> Bool {
        guard let index = objects.adapterIndex(of: adapter) else { return owner != nil }
        do throws(BlueZFailure) {
            _ = try await call(
                path(ofAdapter: index), BlueZName.properties, "Get",
                [.string(BlueZName.adapter), .string("Powered")], deadline: timings.probe, during: .probe)
            return true
        } catch {
            return error.kind != .deadline
        }
    }

    /// Ends our discovery on an adapter, whether we know of it or not.
    public func resetDiscovery(on adapter: BluetoothAddress) async throws(BlueZFailure) {
        try await endDiscovery(on: adapter)
    }

    /// How long bluetoothd is given to switch an adapter on or off.
    public nonisolated var powerDeadline: Duration { timings.power }

    /// Switches an adapter off and on. All its links end. Where this throws it may be left switched off, or go off later: a
    /// call that was given up here still waits at bluetoothd.
    public func powerCycle(_ adapter: BluetoothAddress) async throws(BlueZFailure) {
        var off: BlueZFailure?
        do throws(BlueZFailure) { try await setPower(adapter, false) } catch { off = error }
        // Whatever became of that: it is not left switched off.
        try await setPower(adapter, true)
        if let off { throw off }
    }

    /// Switches an adapter on, and returns when that is seen. Where it is on already, bluetoothd's answer says that no call of
    /// ours that would switch it off waits any more.
    public func powerOn(_ adapter: BluetoothAddress) async throws(BlueZFailure) {
        try await setPower(adapter, true)
    }

    private func setPower(_ adapter: BluetoothAddress, _ isOn: Bool) async throws(BlueZFailure) {
        for attempt in 1...3 {
            guard let index = objects.adapterIndex(of: adapter) else {
                throw BlueZFailure(kind: .notReady, during: .reset, text: "the adapter is not there")
            }
            do throws(BlueZFailure) {
                _ = try await call(
                    path(ofAdapter: index), BlueZName.properties, "Set",
                    [.string(BlueZName.adapter), .string("Powered"), .variant(.bool(isOn))],
                    deadline: timings.power, during: .reset)
                break
            } catch {
                // "Busy" and "Powering down": it is still at the change before.
                guard attempt < 3, [.inProgress, .notReady].contains(error.kind) else { throw error }
            }
            try? await clock.sleep(for: timings.lateObjectsPoll)
        }
        let isSeen = await wait(timings.power) { client in
            let index = client.objects.adapterIndex(of: adapter)
            return index.flatMap { client.objects.adapters[$0]?.powered } == isOn
        }
        guard isSeen else {
            throw BlueZFailure(
                kind: .deadline, during: .reset, text: "the adapter is still \(isOn ? "off" : "on")")
        }
    }

    /// Asks systemd to restart bluetooth.service, over a connection of its own: ours may be what hangs. Its job runs on
    /// after this returns; that bluetoothd is back is told by the bus.
    public nonisolated func restartService() async throws(BlueZFailure) {
        do throws(BusError) {
            let bus = try await BusConnection.open(bus)
            do throws(BusError) {
                _ = try await bus.call(
                    "org.freedesktop.systemd1", path: "/org/freedesktop/systemd1",
                    interface: "org.freedesktop.systemd1.Manager", "RestartUnit",
                    [.string("bluetooth.service"), .string("replace")], deadline: .seconds(20))
            } catch {
                await bus.close()
                throw error
            }
            await bus.close()
        } catch {
            throw BlueZFailure(name: error.name, text: error.message, during: .restart)
        }
    }
}
