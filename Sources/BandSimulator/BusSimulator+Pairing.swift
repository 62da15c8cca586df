import BandModel
import DBus

// Agents and bonds.

extension BusSimulator {
    func answerAgentCalls() {
        let interface = BlueZInterfaces.agentManager.name
        on(interface, "RegisterAgent") { $0.registerAgent($1) }
        on(interface, "UnregisterAgent") { simulator, call in
            guard let client = call.sender, let agent = simulator.agents.agent(of: client),
                agent.path == call.arguments.first?.text
            else { return .failure(BlueZError.doesNotExist) }
            simulator.removeAgent(of: client)
            return .reply([])
        }
        on(interface, "RequestDefaultAgent") { simulator, call in
            guard let client = call.sender, let agent = simulator.agents.agent(of: client),
                agent.path == call.arguments.first?.text
            else { return .failure(BlueZError.doesNotExist) }
            simulator.agents.choose(client)
            return .reply([])
        }
    }

    private func registerAgent(_ call: MethodCall) -> CallOutcome {
        guard let client = call.sender, let path = call.arguments.first?.text,
            let capability = call.arguments.last?.text, AgentRegistry.capabilities.contains(capability)
        else { return .failure(BlueZError.invalidArguments) }
        guard agents.agent(of: client) == nil else { return .failure(BlueZError.alreadyExists) }
        let isFirst = agents.isEmpty
        agents.add(.init(client: client, path: path))
        if isFirst { setAdapter(["Pairable": .bool(true)]) }
        return .reply([])
    }

    func removeAgent(of client: String) {
        agents.remove(client)
        if agents.isEmpty { setAdapter(["Pairable": .bool(false)]) }
    }

    // MARK: Pair

    func pair(_ call: MethodCall) -> CallOutcome {
        guard let device = device(at: call.path) else { return .never }
        guard !device.stored.isPaired else { return .failure(BlueZError.alreadyExists) }
        guard !device.isPairing else { return .failure(BlueZError.inProgress) }
        guard isPowered else { return .failure(BlueZError.notReady) }
        let own = call.sender.flatMap { agents.agent(of: $0) }
        device.isPairing = true
        device.pairCall = call.token
        let standard = agents.standard
        device.afterConnecting = { simulator, error in
            guard error == nil else { return simulator.finishPair(device, BlueZError.pageTimeout) }
            if own != nil {
                // Just works: the agent of the caller is not even asked.
                simulator.after(simulator.scaled(.milliseconds(300))) { $0.finishPair(device, nil) }
            } else if let standard {
                simulator.ask(standard, device) {
                    $0.finishPair(device, $1 ? nil : BlueZError.authenticationRejected)
                }
            } else {
                simulator.finishPair(device, BlueZError.authenticationFailed)
            }
        }
        switch device.link {
        case .up:
            let body = device.afterConnecting
            device.afterConnecting = nil
            body?(self, nil)
        case .connecting: break
        case .down: startConnecting(device)
        case .disconnecting: finishPair(device, BlueZError.pageTimeout)
        }
        return .later
    }

    private func finishPair(_ device: SimulatedDevice, _ error: BusError?) {
        guard device.isPairing else { return }
        device.isPairing = false
        device.afterConnecting = nil
        let call = device.pairCall
        device.pairCall = nil
        var error = error
        if error == nil, device.strikes(.pairFails) != nil { error = BlueZError.authenticationFailed }
        if error == nil, !device.isConnected { error = BlueZError.authenticationCanceled }
        if let error {
            if let call { fail(call, error) }
            return
        }
        bond(device)
        if let call { reply(call) }
    }

    func cancelPairing(_ call: MethodCall) -> CallOutcome {
        guard let device = device(at: call.path), device.isPairing, device.pairCall != nil else {
            return .failure(BlueZError.doesNotExist)
        }
        finishPair(device, BlueZError.authenticationCanceled)
        return .reply([])
    }

    private func bond(_ device: SimulatedDevice) {
        device.stored.isPaired = true
        makePermanent(device)
        device.keeper.save()
        setDeviceProperties(device, ["Paired": .bool(true), "Bonded": .bool(true)])
        let waiting = device.afterPairing
        device.afterPairing = []
        for body in waiting { body(self) }
    }

    private func ask(
        _ agent: AgentRegistry.Agent, _ device: SimulatedDevice,
        _ then: @escaping @Sendable (isolated BusSimulator, Bool) -> Void
    ) {
        let path = device.path
        Task {
            // Agent calls time out after 60 s.
            let answer = try? await bus.call(
                agent.client, path: agent.path, interface: "org.bluez.Agent1", "RequestAuthorization",
                [.objectPath(path)], deadline: .seconds(60))
            then(self, answer != nil)
        }
    }

    // MARK: bonds that a request asks for

    func needsBond(_ device: SimulatedDevice, _ characteristic: SimulatedCharacteristic) -> Bool {
        options.requirePairing && characteristic.definition.role.isHistory && !device.stored.isPaired
    }

    /// Goes on with a request at once, or when the bond that the band asks for is there.
    ///
    /// BlueZ raises the security itself. Without an agent the request is never answered, and 30 s later the
    /// device is removed, connected as it is.
    func withBond(
        _ device: SimulatedDevice, _ characteristic: SimulatedCharacteristic,
        _ body: @escaping @Sendable (isolated BusSimulator) -> Void
    ) {
        guard needsBond(device, characteristic) else { return body(self) }
        device.afterPairing.append(body)
        guard !device.isPairing else { return }
        guard let agent = agents.standard else {
            let link = device.linkNumber
            after(scaled(.seconds(30))) { simulator in
                guard device.linkNumber == link, !device.stored.isPaired else { return }
                simulator.removeDevice(device)
            }
            return
        }
        device.isPairing = true
        ask(agent, device) { simulator, isAuthorized in
            simulator.finishPair(device, isAuthorized ? nil : BlueZError.authenticationRejected)
        }
    }
}
