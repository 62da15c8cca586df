import BandModel
import BandProfile
import DBus

// Reads and writes.

extension BusSimulator {
    func answerValueCalls() {
        let interface = BlueZInterfaces.characteristic.name
        on(interface, "ReadValue") { $0.readValue($1) }
        on(interface, "WriteValue") { $0.writeValue($1) }
        on(interface, "AcquireWrite") { $0.acquireWrite($1) }
        on(BlueZInterfaces.descriptor.name, "ReadValue") { $0.readDescriptor($1) }
        // The configuration is BlueZ's own.
        on(BlueZInterfaces.descriptor.name, "WriteValue") { _, _ in .failure(BlueZError.att(0x03)) }
    }

    func characteristic(at path: String) -> (SimulatedDevice, SimulatedCharacteristic)? {
        guard let device = device(at: path) else { return nil }
        return device.characteristics.first { $0.path == path }.map { (device, $0) }
    }

    /// Sends an ATT request: `body` runs when the response is there, unless the link ended meanwhile.
    func request(_ device: SimulatedDevice, _ body: @escaping @Sendable (isolated BusSimulator) -> Void) {
        let link = device.linkNumber
        if device.strikes(.silent) != nil, !device.isSilent {
            device.isSilent = true
            // The ATT transaction timeout; BlueZ shuts the bearer then.
            after(scaled(.seconds(30))) { simulator in
                guard device.linkNumber == link, device.isConnected else { return }
                simulator.shutBearer(device)
            }
        }
        after(scaled(options.attLatency)) { simulator in
            guard device.linkNumber == link, device.hasGATT, !device.isSilent else { return }
            body(simulator)
        }
    }

    /// Every request that waits fails; later ones are refused as if there were no link.
    private func shutBearer(_ device: SimulatedDevice) {
        device.isBearerShut = true
        device.keeper.band.enableNotifications(false)
        failRequests(device)
    }

    // MARK: reading

    private func readValue(_ call: MethodCall) -> CallOutcome {
        guard let (device, characteristic) = characteristic(at: call.path) else { return .never }
        guard device.hasGATT else { return .failure(BlueZError.gattNotConnected) }
        guard let offset = Self.offset(call.arguments.first) else {
            return .failure(BlueZError.invalidArguments)
        }
        if let read = characteristic.read {
            // Equal reads share one request.
            guard read.offset == offset else { return .failure(BlueZError.inProgress) }
            characteristic.read?.calls.append(call.token)
            return .later
        }
        characteristic.read = (offset, [call.token])
        request(device) { simulator in
            simulator.withBond(device, characteristic) {
                $0.finishRead(device, characteristic)
            } refused: { simulator in
                let calls = characteristic.read?.calls ?? []
                characteristic.read = nil
                for call in calls { simulator.fail(call, BlueZError.att(0x05)) }
            }
        }
        return .later
    }

    private func finishRead(_ device: SimulatedDevice, _ characteristic: SimulatedCharacteristic) {
        guard let read = characteristic.read else { return }
        characteristic.read = nil
        var failure: BusError?
        var value: [UInt8] = []
        if !characteristic.definition.has("read") {
            failure = BlueZError.att(0x02)
        } else {
            value = self.value(characteristic.definition.role, device)
            if read.offset > value.count {
                failure = BlueZError.att(0x07)
            } else {
                value.removeFirst(read.offset)
            }
        }
        if failure == nil {
            // Whoever has notifications on sees a read as one.
            tree.setProperties(
                characteristic.path, BlueZInterfaces.characteristic.name, ["Value": .bytes(value)])
        }
        for call in read.calls {
            if let failure { fail(call, failure) } else { reply(call, [.bytes(value)]) }
        }
    }

    private func value(_ role: GATTLayout.Role, _ device: SimulatedDevice) -> [UInt8] {
        switch role {
        case .info: device.keeper.band.info().encoded
        case .clock: device.keeper.band.clock(now: SystemClock.wallMilliseconds).encoded
        case .batteryLevel: [device.keeper.setup.battery]
        default: Array((GATTLayout.text(role) ?? "").utf8)
        }
    }

    private func readDescriptor(_ call: MethodCall) -> CallOutcome {
        guard let end = call.path.lastIndex(of: "/"),
            let (device, characteristic) = characteristic(at: String(call.path[..<end]))
        else { return .never }
        guard device.hasGATT else { return .failure(BlueZError.gattNotConnected) }
        let bit: UInt8 = characteristic.definition.has("notify") ? 1 : 2
        let value: [UInt8] = [characteristic.isNotifying ? bit : 0, 0]
        request(device) { $0.reply(call.token, [.bytes(value)]) }
        return .later
    }

    // MARK: writing

    private func writeValue(_ call: MethodCall) -> CallOutcome {
        guard let (device, characteristic) = characteristic(at: call.path) else { return .never }
        guard device.hasGATT else { return .failure(BlueZError.gattNotConnected) }
        guard let bytes = call.arguments.first?.bytes, let offset = Self.offset(call.arguments.last) else {
            return .failure(BlueZError.invalidArguments)
        }
        guard characteristic.acquiredWrite == nil else { return .failure(BlueZError.writeAcquired) }
        let definition = characteristic.definition
        let isCommand: Bool
        // An explicit type is obeyed whatever the flags say.
        switch call.arguments.last?.properties?["type"]?.text {
        case "command": isCommand = true
        case "request", "reliable": isCommand = false
        case nil where definition.has("write"): isCommand = false
        case nil where definition.has("write-without-response"): isCommand = true
        default: return .failure(BlueZError.notSupported)
        }
        if isCommand {
            guard bytes.count <= device.mtu - 3 else {
                return .failure(BlueZError.failed("Failed to initiate write"))
            }
            receiveCommand(device, characteristic, bytes)
            return .reply([])
        }
        guard characteristic.write == nil else { return .failure(BlueZError.inProgress) }
        characteristic.write = call.token
        // A long write is prepared writes, and the band knows none.
        let isLong = bytes.count > device.mtu - 3 || offset > 0
        request(device) { simulator in
            simulator.withBond(device, characteristic) { simulator in
                simulator.finishWrite(device, characteristic, isLong ? nil : bytes)
            } refused: { simulator in
                guard let call = characteristic.write else { return }
                characteristic.write = nil
                simulator.fail(call, BlueZError.att(0x05))
            }
        }
        return .later
    }

    private func finishWrite(
        _ device: SimulatedDevice, _ characteristic: SimulatedCharacteristic, _ bytes: [UInt8]?
    ) {
        guard let call = characteristic.write else { return }
        characteristic.write = nil
        guard let bytes else { return fail(call, BlueZError.notSupported) }
        guard characteristic.definition.role == .controlPoint else { return fail(call, BlueZError.att(0x03)) }
        device.keeper.band.advance(to: SystemClock.wallMilliseconds)
        if let error = device.keeper.band.writeControlPoint(bytes) {
            fail(call, BlueZError.att(error.rawValue))
        } else {
            reply(call)
        }
        pump(device)
    }

    /// A write without response: what the band does not take is lost without a word.
    private func receiveCommand(
        _ device: SimulatedDevice, _ characteristic: SimulatedCharacteristic, _ bytes: [UInt8]
    ) {
        guard characteristic.definition.role == .ack, !needsBond(device, characteristic) else { return }
        device.keeper.ack(bytes, host: device.host)
        saveSoon()
        pump(device)
    }

    private func acquireWrite(_ call: MethodCall) -> CallOutcome {
        guard let (device, characteristic) = characteristic(at: call.path) else { return .never }
        guard device.hasGATT else { return .failure(BlueZError.gattNotConnected) }
        guard characteristic.definition.has("write-without-response") else {
            return .failure(BlueZError.notSupported)
        }
        guard characteristic.acquiredWrite == nil else { return .failure(BlueZError.writeAcquired) }
        let limit = device.mtu - 3
        let pair = PacketSocket.pair(
            sendBuffer: options.socketBuffer, queue: bus.executor.queue,
            received: { [weak self] packet in
                self?.assumeIsolated { simulator in
                    guard packet.count <= limit, device.isConnected else { return }
                    simulator.receiveCommand(device, characteristic, packet)
                }
            },
            closed: { [weak self] in
                self?.assumeIsolated { $0.releaseWrite(characteristic) }
            })
        guard let pair else { return .failure(BlueZError.failed("Input/output error")) }
        characteristic.acquiredWrite = pair.ours
        reply(call.token, [.fileDescriptor(pair.theirs), .uint16(UInt16(clamping: device.mtu))])
        tree.setProperties(
            characteristic.path, BlueZInterfaces.characteristic.name, ["WriteAcquired": .bool(true)])
        return .later
    }

    private func releaseWrite(_ characteristic: SimulatedCharacteristic) {
        guard characteristic.acquiredWrite != nil else { return }
        characteristic.acquiredWrite?.shut()
        characteristic.acquiredWrite = nil
        tree.setProperties(
            characteristic.path, BlueZInterfaces.characteristic.name, ["WriteAcquired": .bool(false)])
    }

    /// Option "offset"; nil = it is of the wrong type.
    private static func offset(_ options: BusValue?) -> Int? {
        switch options?.properties?["offset"] {
        case nil: 0
        case .uint16(let offset): Int(offset)
        default: nil
        }
    }
}
