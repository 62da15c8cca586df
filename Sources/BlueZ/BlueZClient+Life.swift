import BlueZModel
import DBus
import Locking

// Starting, stopping, and bluetoothd's coming and going.

extension BlueZClient {
    /// Opens the bus and reads BlueZ's objects. bluetoothd need not run: it is waited for. Call it again after
    /// `busLost`.
    public func start() async throws(BlueZFailure) {
        guard connection == nil else { return }
        if drain == nil { drain = NotificationDrain() }
        do throws(BusError) {
            let connection = try await BusConnection.open(bus, executor: executor)
            self.connection = connection
            await connection.setSignalHandler { [weak self] signal in
                self?.assumeIsolated { $0.received(signal) }
            }
            await connection.setDisconnectHandler { [weak self] in
                self?.assumeIsolated { $0.busWasLost() }
            }
            serveAgent(on: connection)
            // Subscribed first, read afterwards: nothing falls between.
            try await connection.addMatch("type='signal',sender='\(BlueZName.service)'")
            try await connection.addMatch(
                "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',"
                    + "member='NameOwnerChanged',arg0='\(BlueZName.service)'")
            try await findOwner(connection)
        } catch {
            await stopConnection()
            var failure = BlueZFailure(name: error.name, text: error.message, during: .start)
            // It is the bus that did not answer, not bluetoothd: nobody is left here who asks again.
            if failure.kind == .deadline { failure.kind = .busGone }
            throw failure
        }
        guard owner != nil else {
            log("bluetoothd is not running", [])
            return
        }
        do throws(BlueZFailure) {
            try await readObjects()
        } catch {
            // bluetoothd went in between: its return is told by the bus, and this is tried again then.
            if error.kind == .serviceGone { return }
            // It hangs: it is asked again and again.
            if error.kind == .deadline { Task { await serviceAppeared() } } else { await stopConnection() }
            throw error
        }
        await setUpService()
    }

    /// Asks who owns `org.bluez`. The answer counts where it stands among the signals: a change after it is newer.
    private func findOwner(_ connection: BusConnection) async throws(BusError) {
        do throws(BusError) {
            _ = try await connection.call(
                "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus",
                "GetNameOwner", [.string(BlueZName.service)], deadline: timings.other
            ) { [weak self] reply in
                self?.assumeIsolated { $0.owner = reply.first?.text }
            }
        } catch {
            guard error.name == "org.freedesktop.DBus.Error.NameHasNoOwner" else { throw error }
        }
    }

    /// Drops our links, lets go of the bus, ends the events. Whatever is called then fails.
    public func stop() async {
        let isTold = OneShot<Void>()
        // All at once: one that hangs must not add its deadline to the others'.
        let telling = Task {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.stopDiscoveries() }
                group.addTask { await self.unregisterAgent() }
                for state in links.values {
                    let link = state.link
                    group.addTask { await link.disconnect() }
                }
            }
            isTold.set(())
        }
        await isTold.value(within: timings.stop, else: ())
        await connection?.flush()
        await stopConnection()
        // Its calls have failed with the connection.
        await telling.value
        drain?.stop()
        drain = nil
        eventSink.finish()
    }

    /// For a watchdog: returns when this queue and the bus have answered, or there is no bus to ask.
    public func roundTrip() async {
        _ = try? await connection?.owner(of: BlueZName.service)
    }

    private func stopConnection() async {
        let connection = connection
        forgetService(why: .busGone)
        self.connection = nil
        await connection?.close()
    }

    /// At the start and after each restart of bluetoothd.
    func setUpService() async {
        if agentPolicy != nil { await registerAgentQuietly() }
    }

    /// Reads all objects. The reply replaces the view where it stands among the signals.
    func readObjects() async throws(BlueZFailure) {
        guard let connection else { throw BlueZFailure(kind: .busGone, during: .start) }
        do throws(BusError) {
            _ = try await connection.call(
                BlueZName.service, path: "/", interface: "org.freedesktop.DBus.ObjectManager",
                "GetManagedObjects", deadline: timings.other
            ) { [weak self] reply in
                self?.assumeIsolated { $0.replaceObjects(reply) }
            }
        } catch {
            throw BlueZFailure(name: error.name, text: error.message, during: .start)
        }
    }

    private func replaceObjects(_ reply: [BusValue]) {
        let before = objects
        objects = BlueZObjects.reading(reply)
        if before.adapters != objects.adapters { apply([.adapter]) }
        for (path, device) in before.devices where objects.devices[path] == nil {
            apply([.deviceGone(path, device.address)])
        }
        for (path, device) in objects.devices.sorted(by: { $0.key < $1.key })
        where device != before.devices[path] {
            // An RSSI is no advertisement: it stays for as long as anybody discovers.
            apply([.device(path, heard: false)])
        }
        checkWaiters()
    }

    // MARK: bluetoothd

    func ownerChanged(to newOwner: String?) {
        guard newOwner != owner else { return }
        if owner != nil {
            log("bluetoothd is gone", [])
            forgetService(why: .serviceGone)
            eventSink.yield(.bluetoothdGone)
        }
        owner = newOwner
        guard newOwner != nil else { return }
        Task { await self.serviceAppeared() }
    }

    private func serviceAppeared() async {
        // It takes its name before it has exported everything; what comes later is signalled.
        var attempt = 0
        while let unique = owner {
            attempt += 1
            do throws(BlueZFailure) {
                try await readObjects()
                log("bluetoothd is back", [("devices", "\(objects.devices.count)")])
                await setUpService()
                eventSink.yield(.bluetoothdBack)
                return
            } catch {
                guard owner == unique else { return }
                log("bluetoothd does not list its objects", [("error", error.code), ("try", "\(attempt)")])
                eventSink.yield(.bluetoothdSilent)
                try? await clock.sleep(for: attempt < 5 ? timings.lateObjectsPoll : timings.silentRetry)
            }
        }
    }

    private func busWasLost() {
        log("the message bus dropped us", [])
        forgetService(why: .busGone)
        connection = nil
        eventSink.yield(.busLost)
    }

    /// Everything that we knew of bluetoothd is void.
    private func forgetService(why: BlueZFailureKind) {
        owner = nil
        registeredCapability = nil
        askedLast = nil
        demands = [:]
        dropReasons = [:]
        objects = BlueZObjects()
        discoveries = []
        withoutSockets = []
        lastSeen = [:]
        heardAt = [:]
        for path in links.keys.sorted() { linkWasLost(path, BlueZFailure(kind: why, during: .start)) }
        checkWaiters()
    }
}
