import BandProfile
import BlueZModel
import DBus

// What a BandLink does, on the client's queue.

extension BlueZClient {
    private func path(
        of uuid: String, _ link: BandLink, _ operation: BlueZOperation
    ) throws(BlueZFailure) -> String {
        guard link.isAlive else { throw BlueZFailure(kind: .notConnected, during: operation) }
        guard let characteristic = link.characteristic(uuid) else {
            throw BlueZFailure(
                kind: .noService, during: operation, text: "no characteristic \(uuid.prefix(8))")
        }
        return characteristic.path.description
    }

    func read(
        _ uuid: String, of link: BandLink, deadline: Duration? = nil
    ) async throws(BlueZFailure) -> [UInt8] {
        let reply = try await call(
            try path(of: uuid, link, .read), BlueZName.characteristic, "ReadValue", [.properties([:])],
            deadline: deadline ?? timings.read, during: .read, device: link.path)
        guard let bytes = reply.first?.bytes else {
            throw BlueZFailure(kind: .unknown, during: .read, text: "the reply holds no bytes")
        }
        return bytes
    }

    func write(
        _ bytes: [UInt8], to uuid: String, of link: BandLink, type: String
    ) async throws(BlueZFailure) {
        _ = try await call(
            try path(of: uuid, link, .write), BlueZName.characteristic, "WriteValue",
            [.bytes(bytes), .properties(["type": .string(type)])], deadline: timings.write, during: .write,
            device: link.path)
    }

    func ack(_ packet: [UInt8], of link: BandLink) async -> Bool {
        guard let path = try? path(of: BandHistory.ack, link, .write) else { return false }
        let reply = try? await call(
            path, BlueZName.characteristic, "WriteValue",
            [.bytes(packet), .properties(["type": .string("command")])], deadline: timings.ack,
            during: .write,
            device: link.path)
        return reply != nil
    }

    // MARK: small facts

    func mtu(of link: BandLink) async -> Int? {
        // Asked each time: on a cached reconnect BlueZ does not signal it.
        guard let path = try? path(of: BandHistory.historyData, link, .read) else { return nil }
        let reply = try? await call(
            path, "org.freedesktop.DBus.Properties", "Get",
            [.string(BlueZName.characteristic), .string("MTU")], deadline: timings.other, during: .read,
            device: link.path)
        guard let mtu = reply?.first?.integer, (23...517).contains(mtu) else { return nil }
        return mtu
    }

    func battery(of link: BandLink) async -> Int? {
        if let known = objects.devices[link.path]?.battery { return known }
        guard link.characteristic(StandardUUID.batteryLevel) != nil,
            let bytes = try? await read(StandardUUID.batteryLevel, of: link), let level = bytes.first
        else { return nil }
        return level <= 100 ? Int(level) : nil
    }

    /// A string of the Device Information service: UTF-8, made fit for a status table.
    func text(_ uuid: String, of link: BandLink) async -> String? {
        guard link.characteristic(uuid) != nil, let bytes = try? await read(uuid, of: link) else {
            return nil
        }
        let text = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        // Neither control characters nor those that turn the text around.
        let printable = text.unicodeScalars.filter {
            $0.properties.generalCategory != .control && $0.properties.generalCategory != .format
        }.prefix(64)
        var clean = String(String.UnicodeScalarView(printable))
        while clean.last?.isWhitespace == true { clean.removeLast() }
        return clean.isEmpty ? nil : clean
    }

    // MARK: pairing

    func pair(_ link: BandLink, deadline: Duration) async throws(BlueZFailure) {
        guard link.isAlive, let device = objects.devices[link.path] else {
            throw BlueZFailure(kind: .notConnected, during: .pair)
        }
        // Paired without a bond, Pair() is never answered (BlueZ 5.66 to 5.87); with one there is nothing to do.
        guard !device.paired else { return }
        _ = try await establish(
            link.path, "Pair", cancelling: "CancelPairing", deadline: deadline, during: .pair)
    }

    // MARK: notifications

    func subscribe(_ link: BandLink, into mailbox: NotificationMailbox) async throws(BlueZFailure) {
        let path = try path(of: BandHistory.historyData, link, .subscribe)
        let end = clock.now + timings.takeover
        while true {
            do throws(BlueZFailure) {
                try await subscribe(path, link, mailbox)
                return
            } catch {
                // bluetoothd notices with a delay that the gateway before us was killed.
                guard error.kind == .heldByAnother, link.wasAlreadyConnected, clock.now < end,
                    !Task.isCancelled
                else { throw error }
            }
            _ = await wait(.milliseconds(200)) { _ in !link.isAlive }
        }
    }

    private func subscribe(
        _ path: String, _ link: BandLink, _ mailbox: NotificationMailbox
    ) async throws(BlueZFailure) {
        if link.characteristic(BandHistory.historyData)?.offersNotifyAcquire == true, drain != nil,
            !withoutSockets.contains(link.address)
        {
            do throws(BlueZFailure) {
                try await acquireNotify(path, link, mailbox)
                return
            } catch {
                guard error.kind == .unsupported else { throw error }
                // Offered and refused: the other way, and on later links at once. What StartNotify begins outlives the link, and
                // AcquireNotify would be told then that somebody has the notifications.
                withoutSockets.insert(link.address)
            }
        }
        try await startNotify(path, link, mailbox)
    }

    private func acquireNotify(
        _ path: String, _ link: BandLink, _ mailbox: NotificationMailbox
    ) async throws(BlueZFailure) {
        let reply: [BusValue]
        do throws(BlueZFailure) {
            reply = try await call(
                path, BlueZName.characteristic, "AcquireNotify", [.properties([:])],
                deadline: timings.subscribe, during: .subscribe, device: link.path, takesFileDescriptors: true
            )
        } catch {
            // "InProgress" is how BlueZ says that another client has notifications on.
            throw error.kind == .inProgress ? error.as(.heldByAnother) : error
        }
        guard case .fileDescriptor(let descriptor) = reply.first else {
            for value in reply { value.closeFileDescriptors() }
            throw BlueZFailure(kind: .unknown, during: .subscribe, text: "the reply holds no socket")
        }
        guard link.isAlive, links[link.path]?.link === link, let drain else {
            BusValue.fileDescriptor(descriptor).closeFileDescriptors()
            throw BlueZFailure(kind: .notConnected, during: .subscribe)
        }
        endNotifications(of: link)
        links[link.path]?.notifications = .acquired(drain.add(descriptor, into: mailbox), mailbox)
    }

    private func startNotify(
        _ path: String, _ link: BandLink, _ mailbox: NotificationMailbox
    ) async throws(BlueZFailure) {
        guard links[link.path]?.link === link else {
            throw BlueZFailure(kind: .notConnected, during: .subscribe)
        }
        endNotifications(of: link)
        // Set before the call: a value may come before its reply.
        notified[path] = mailbox
        links[link.path]?.notifications = .signalled(path)
        do throws(BlueZFailure) {
            _ = try await call(
                path, BlueZName.characteristic, "StartNotify", deadline: timings.subscribe,
                during: .subscribe,
                device: link.path)
        } catch {
            if notified[path] === mailbox { endNotifications(of: link) }
            throw error
        }
    }

    private func endNotifications(of link: BandLink) {
        guard let state = links[link.path], state.link === link else { return }
        switch state.notifications {
        case .none: break
        case .acquired(let id, _): drain?.remove(id)
        case .signalled(let path): notified.removeValue(forKey: path)?.end()
        }
        links[link.path]?.notifications = .none
    }

    // MARK: acks without calls

    /// A socket whose packets become Write Commands; nil where BlueZ does not offer or give one.
    func acquireWrite(_ uuid: String, of link: BandLink) async -> Int32? {
        guard link.characteristic(uuid)?.offersWriteAcquire == true,
            let path = try? path(of: uuid, link, .write)
        else { return nil }
        let reply = try? await call(
            path, BlueZName.characteristic, "AcquireWrite", [.properties([:])], deadline: timings.ack,
            during: .write, device: link.path, takesFileDescriptors: true)
        guard case .fileDescriptor(let descriptor) = reply?.first else {
            for value in reply ?? [] { value.closeFileDescriptors() }
            return nil
        }
        return descriptor
    }

    // MARK: the end

    /// Some bluetoothds give a socket for some bands that ends before anything came while the link stands: the next links to such
    /// a band take signals, until another bluetoothd is there.
    private func judgeSocket(of link: BandLink) async {
        guard links[link.path]?.link === link, link.isAlive,
            case .acquired(_, let mailbox) = links[link.path]?.notifications, mailbox.endedUnused
        else { return }
        // A link that drops ends its socket too, and says so after it.
        let reply = try? await call(
            link.path, "org.freedesktop.DBus.Properties", "Get",
            [.string(BlueZName.device), .string("Connected")], deadline: timings.other, during: .read,
            device: link.path)
        guard reply?.first?.flag == true, link.isAlive else { return }
        withoutSockets.insert(link.address)
        log("the socket for a band's notifications ended at once: signals are taken", [])
    }

    func disconnect(link: BandLink) async {
        await judgeSocket(of: link)
        guard links[link.path]?.link === link else { return }
        // Lets bluetoothd switch notifications off before the link goes.
        endNotifications(of: link)
        await disconnect(path: link.path)
    }
}

extension BlueZFailure {
    func `as`(_ kind: BlueZFailureKind) -> BlueZFailure {
        BlueZFailure(kind: kind, during: operation, name: name, text: text)
    }
}
