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
        agents.add(.init(client: client, path: path, capability: capability))
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
            guard let agent = own ?? standard else {
                return simulator.finishPair(device, BlueZError.authenticationFailed)
            }
            simulator.authenticate(device, agent, asksForJustWorks: own == nil)
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
        device.pairingAgent = nil
        let call = device.pairCall
        device.pairCall = nil
        var error = error
        if error == nil, device.strikes(.pairFails) != nil { error = BlueZError.authenticationFailed }
        if error == nil, !device.isConnected { error = BlueZError.authenticationCanceled }
        if let error {
            if let call { fail(call, error) }
            let waiting = device.afterPairing
            device.afterPairing = []
            for request in waiting { request.refuse(self) }
            return
        }
        bond(device)
        if let call { reply(call) }
    }

    func cancelPairing(_ call: MethodCall) -> CallOutcome {
        guard let device = device(at: call.path), device.isPairing, device.pairCall != nil else {
            return .failure(BlueZError.doesNotExist)
        }
        if let agent = device.pairingAgent {
            try? bus.callWithoutReply(
                agent.client, path: agent.path, interface: "org.bluez.Agent1", "Cancel")
        }
        finishPair(device, BlueZError.authenticationCanceled)
        return .reply([])
    }

    private func bond(_ device: SimulatedDevice) {
        device.stored.isPaired = true
        device.stored.lostKeys = nil
        makePermanent(device)
        device.keeper.save()
        setDeviceProperties(device, ["Paired": .bool(true), "Bonded": .bool(true)])
        let waiting = device.afterPairing
        device.afterPairing = []
        for request in waiting { request.goOn(self) }
    }

    // MARK: the agent

    /// Makes the bond as the band wants it, asking the agent what BlueZ would ask.
    private func authenticate(
        _ device: SimulatedDevice, _ agent: AgentRegistry.Agent, asksForJustWorks: Bool
    ) {
        guard options.pairing.isPossible(with: agent.capability) else {
            after(scaled(.milliseconds(100))) { $0.finishPair(device, BlueZError.authenticationFailed) }
            return
        }
        device.pairingAgent = agent
        let passkey = options.passkey
        switch options.pairing {
        case .none, .justWorks:
            guard asksForJustWorks else {
                // The agent of the caller is not even asked.
                after(scaled(.milliseconds(300))) { $0.finishPair(device, nil) }
                return
            }
            ask(agent, device, "RequestAuthorization") {
                $0.finishPair(device, $1 != nil ? nil : BlueZError.authenticationRejected)
            }
        case .passkeyEntry:
            ask(agent, device, "RequestPasskey") { simulator, answer in
                let isRight = answer?.first == .uint32(passkey)
                simulator.finishPair(device, isRight ? nil : BlueZError.authenticationFailed)
            }
        case .passkeyDisplay:
            ask(agent, device, "DisplayPasskey", [.uint32(passkey), .uint16(0)]) { simulator, answer in
                guard answer != nil else {
                    return simulator.finishPair(device, BlueZError.authenticationFailed)
                }
                simulator.enter(passkey, digit: 1, device, agent)
            }
        case .numericComparison:
            ask(agent, device, "RequestConfirmation", [.uint32(passkey)]) {
                $0.finishPair(device, $1 != nil ? nil : BlueZError.authenticationRejected)
            }
        }
    }

    /// Somebody enters the passkey at the band; BlueZ tells the agent of each digit.
    private func enter(
        _ passkey: UInt32, digit: UInt16, _ device: SimulatedDevice, _ agent: AgentRegistry.Agent
    ) {
        guard digit <= 6 else { return finishPair(device, nil) }
        after(scaled(.milliseconds(300))) { simulator in
            guard device.isPairing else { return }
            simulator.ask(agent, device, "DisplayPasskey", [.uint32(passkey), .uint16(digit)]) {
                simulator, _ in
                simulator.enter(passkey, digit: digit + 1, device, agent)
            }
        }
    }

    /// Nil = it refused, or said nothing for 60 s, when BlueZ gives up.
    private func ask(
        _ agent: AgentRegistry.Agent, _ device: SimulatedDevice, _ method: String, _ more: [BusValue] = [],
        _ then: @escaping @Sendable (isolated BusSimulator, [BusValue]?) -> Void
    ) {
        let path = device.path
        Task {
            let answer = try? await bus.call(
                agent.client, path: agent.path, interface: "org.bluez.Agent1", method,
                [.objectPath(path)] + more, deadline: .seconds(60))
            then(self, answer)
        }
    }

    // MARK: bonds that a request asks for

    func needsBond(_ device: SimulatedDevice, _ characteristic: SimulatedCharacteristic) -> Bool {
        options.pairing != .none && characteristic.definition.role.isHistory && !device.stored.isPaired
    }

    /// Goes on with a request at once, or when the bond that the band asks for is there.
    ///
    /// BlueZ raises the security itself. Without an agent the request is never answered, and 30 s later the
    /// device is removed, connected as it is.
    func withBond(
        _ device: SimulatedDevice, _ characteristic: SimulatedCharacteristic,
        _ body: @escaping @Sendable (isolated BusSimulator) -> Void,
        refused: @escaping @Sendable (isolated BusSimulator) -> Void
    ) {
        guard needsBond(device, characteristic) else { return body(self) }
        device.afterPairing.append(AfterPairing(goOn: body, refuse: refused))
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
        authenticate(device, agent, asksForJustWorks: true)
    }
}
