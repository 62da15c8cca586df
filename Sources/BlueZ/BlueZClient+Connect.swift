import BandProfile
import BlueZModel
import BluetoothManagement
import DBus

// Making, taking over and ending links.

extension BlueZClient {
    /// Connects to a band and finds its Band History service. A link that exists already is taken over.
    ///
    /// The address is looked up in BlueZ's objects each time; `.unseen` asks for discovery first. Without an adapter that one
    /// is taken which hears it best. `onConnected` is called when the link is there and its services are yet to be found;
    /// `onLost` once when the link drops, for whatever reason. Both on the client's queue: they must return at once.
    public func connect(
        _ address: BluetoothAddress, on adapter: BluetoothAddress? = nil, deadline: Duration? = nil,
        onConnected: @Sendable () -> Void = {},
        onLost: @escaping @Sendable (BlueZFailure) -> Void = { _ in }
    ) async throws(BlueZFailure) -> BandLink {
        _ = try readyAdapter(adapter, for: .connect)
        guard let (path, device) = find(address, on: adapter) else {
            throw BlueZFailure.unseen
        }
        guard !connecting.contains(path), links[path] == nil else {
            throw BlueZFailure(
                kind: .inProgress, during: .connect, text: "this gateway uses the band already")
        }
        connecting.insert(path)
        defer { connecting.remove(path) }
        demands[address] = nil
        dropReasons[path] = nil
        // Otherwise BlueZ forgets the band 30 s after each disconnect.
        if !device.trusted { await trust(path, true) }
        let wasConnected = objects.devices[path]?.connected == true
        if !wasConnected { try await connect(path, deadline: deadline ?? timings.connect) }
        guard objects.devices[path]?.connected == true else {
            throw BlueZFailure(kind: .transient, during: .connect, text: "the link dropped at once")
        }
        let link = BandLink(client: self, path: path, address: address, wasAlreadyConnected: wasConnected)
        links[path] = LinkState(link: link, onLost: onLost)
        onConnected()
        do throws(BlueZFailure) {
            link.set(try await characteristics(of: path, link))
        } catch {
            if links[path]?.link === link {
                links[path] = nil
                link.end()
            }
            // Only a new link can heal it; and a link that nobody uses keeps the band from advertising.
            await disconnect(path: path)
            throw error
        }
        links[path]?.isReady = true
        return link
    }

    /// A call of a device that takes its time, and is cancelled by another one when it takes too long. False = it was done
    /// already.
    func establish(
        _ path: String, _ member: String, cancelling: String, deadline: Duration,
        during operation: BlueZOperation
    ) async throws(BlueZFailure) -> Bool {
        do throws(BlueZFailure) {
            _ = try await call(
                path, BlueZName.device, member, deadline: deadline, during: operation, device: path)
            return true
        } catch {
            switch error.kind {
            case .alreadyDone: return false
            case .deadline, .cancelled:
                try? connection?.callWithoutReply(
                    BlueZName.service, path: path, interface: BlueZName.device, cancelling)
                throw error
            default: throw error
            }
        }
    }

    private func connect(_ path: String, deadline: Duration) async throws(BlueZFailure) {
        // Disconnect is the documented way to cancel a Connect that hangs; an absent band costs Wi-Fi airtime too.
        guard
            try await establish(
                path, "Connect", cancelling: "Disconnect", deadline: deadline, during: .connect)
        else { return }
        // Connected=true precedes the reply; where it does not, it is about to come. bluetoothd 5.66 never signals it
        // when it sees the ATT channel before the kernel's event: then the objects themselves tell.
        let isSeen = await wait(.seconds(1)) { $0.objects.devices[path]?.connected != false }
        if !isSeen { try await readObjects() }
    }

    /// Ends a `connect` that is under way, which then throws; does nothing else.
    public func cancelConnect(_ address: BluetoothAddress) {
        for path in connecting where objects.devices[path]?.address == address {
            // Disconnect() is BlueZ's documented way to cancel Connect().
            try? connection?.callWithoutReply(
                BlueZName.service, path: path, interface: BlueZName.device, "Disconnect")
        }
    }

    /// BlueZ forgets a device that is neither trusted nor bonded, 30 s after it was last connected.
    public func distrust(_ address: BluetoothAddress, on adapter: BluetoothAddress) async {
        guard let (path, device) = find(address, on: adapter), device.trusted else { return }
        await trust(path, false)
    }

    private func trust(_ path: String, _ isTrusted: Bool) async {
        do throws(BlueZFailure) {
            _ = try await call(
                path, "org.freedesktop.DBus.Properties", "Set",
                [.string(BlueZName.device), .string("Trusted"), .variant(.bool(isTrusted))],
                deadline: timings.other, during: .trust, device: path)
        } catch {
            log(
                isTrusted
                    ? "a band could not be marked as trusted" : "the trust of a band could not be taken back",
                [("error", error.code)])
        }
    }

    // MARK: services

    private static let required = [
        BandHistory.info, BandHistory.clock, BandHistory.controlPoint, BandHistory.historyData,
        BandHistory.ack,
    ]

    /// Waits for the service's objects, never only for ServicesResolved: BlueZ sets it too when discovery failed,
    /// and at times before the objects are there.
    private func characteristics(
        of path: String, _ link: BandLink
    ) async throws(BlueZFailure) -> [String: BlueZObjects.Characteristic] {
        let resolved = await wait(timings.resolve) { client in
            client.objects.devices[path]?.servicesResolved == true || !link.isAlive
        }
        guard link.isAlive else { throw lostWhileResolving }
        guard resolved else {
            throw BlueZFailure(
                kind: Task.isCancelled ? .cancelled : .deadline, during: .resolve,
                text: "the services were not resolved in time")
        }
        let end = clock.now + timings.lateObjects
        while true {
            let found = objects.characteristics(of: path)
            if Self.required.allSatisfy({ found[$0] != nil }) { return found }
            guard clock.now < end, !Task.isCancelled else {
                let names = Self.required.filter { found[$0] == nil }.map { String($0.prefix(8)) }
                throw BlueZFailure(
                    kind: .noService, during: .resolve,
                    text: "missing characteristics \(names.joined(separator: ", "))")
            }
            _ = await wait(timings.lateObjectsPoll) { client in
                let found = client.objects.characteristics(of: path)
                return Self.required.allSatisfy { found[$0] != nil } || !link.isAlive
            }
            guard link.isAlive else { throw lostWhileResolving }
            // A signal may have been lost to a full bus queue: look at the objects themselves.
            if !Self.required.allSatisfy({ objects.characteristics(of: path)[$0] != nil }) {
                try await readObjects()
                guard link.isAlive else { throw lostWhileResolving }
            }
        }
    }

    private var lostWhileResolving: BlueZFailure {
        BlueZFailure(
            kind: .transient, during: .resolve, text: "the link dropped while the services were read")
    }

    // MARK: ending

    /// Disconnects a band, whoever connected it. BlueZ takes 2 s for it.
    public func disconnect(_ address: BluetoothAddress, on adapter: BluetoothAddress? = nil) async {
        guard let (path, _) = find(address, on: adapter) else { return }
        await disconnect(path: path)
    }

    func disconnect(path: String) async {
        guard objects.devices[path] != nil else { return }
        // Not about the device: RemoveDevice must not end it, and it must work while the task is being cancelled.
        let done = Task { [timings] in
            try? await self.call(
                path, BlueZName.device, "Disconnect", deadline: timings.disconnect, during: .disconnect,
                device: path)
        }
        _ = await done.value
        _ = await Task { await self.wait(.seconds(1)) { $0.objects.devices[path]?.connected != true } }.value
        linkWasLost(path, BlueZFailure(kind: .notConnected, during: .disconnect, text: "disconnected here"))
    }

    /// Makes BlueZ forget a device, its bond included, on the adapter that is named, else on every one that may be used. Where
    /// it does not know it, it is forgotten already.
    ///
    /// Throws the first failure once all were tried: one that is switched off keeps what it has, and is in nobody's way.
    public func remove(
        _ address: BluetoothAddress, on adapter: BluetoothAddress? = nil
    ) async throws(BlueZFailure) {
        _ = try readyAdapter(adapter, for: .remove)
        var failed: BlueZFailure?
        for place in usableAdapters().map(\.address) where adapter == nil || place == adapter {
            guard let (path, device) = find(address, on: place) else { continue }
            do throws(BlueZFailure) {
                _ = try await call(
                    self.path(ofAdapter: device.path.adapter), BlueZName.adapter, "RemoveDevice",
                    [.objectPath(path)], deadline: timings.disconnect, during: .remove)
            } catch {
                guard error.kind != .gone else { continue }
                failed = failed ?? error
            }
        }
        if let failed { throw failed }
    }

    /// Ends all that hangs on a link. Idempotent.
    func linkWasLost(_ path: String, _ failure: BlueZFailure) {
        guard let state = links.removeValue(forKey: path) else { return }
        state.link.end()
        switch state.notifications {
        case .none: break
        // The drain takes what waits in the socket before it ends the mailbox.
        case .acquired(let id, _): drain?.remove(id)
        case .signalled(let characteristic): notified.removeValue(forKey: characteristic)?.end()
        }
        // Before that, `connect` itself says it.
        guard state.isReady else { return }
        state.onLost(failure)
        eventSink.yield(.linkLost(state.link.address))
    }

    // MARK: the kernel

    /// Asks for short connection intervals for the next links to these bands. Name all bands each time: older
    /// kernels forget the others. Nothing is missed where it is not permitted.
    public func requestShortInterval(
        for addresses: [BluetoothAddress], on address: BluetoothAddress
    ) async -> ManagementOutcome {
        guard mayUse(address), let adapter = objects.adapterIndex(of: address), !addresses.isEmpty else {
            return .unavailable
        }
        let bands = addresses.map { address in
            ManagementAddress(
                octets: address.octets,
                // Two ones at the top of a random address; without a better source they tell.
                isRandom: objects.device(address, on: [adapter])?.device.isRandom ?? (address.bits >> 46 == 3)
            )
        }
        return await withCheckedContinuation { continuation in
            managementQueue.async {
                continuation.resume(
                    returning: BluetoothManagement.requestShortInterval(for: bands, adapter: adapter))
            }
        }
    }
}

extension BlueZFailure {
    /// BlueZ does not know the band, not yet or not any more. Nothing was tried.
    public static let unseen = BlueZFailure(
        kind: .gone, during: .connect, text: "the band was not seen yet")
}
