import BandProfile
import BlueZModel
import DBus
import GatewayModel

/// Who may pair: the bands that are being paired or were adopted, and nobody else.
public typealias AgentPolicy = @Sendable (BluetoothAddress) -> Bool

// An agent must exist for Pair() to succeed, even where nothing is asked of people.

extension BlueZClient {
    private static let agentPath = "/org/bandferry/agent"

    /// What the agent should say of itself. With a keyboard and a display bands ask for passkeys, which nobody would answer
    /// by day.
    private var wantedCapability: String { people.isEmpty ? Self.nobody : "KeyboardDisplay" }
    private static let nobody = "NoInputNoOutput"

    /// Registers an agent without keyboard and display. It stays registered across restarts of bluetoothd; where BlueZ
    /// refuses it, which is thrown, it is tried again by itself.
    public func registerAgent(authorising policy: @escaping AgentPolicy) async throws(BlueZFailure) {
        agentPolicy = policy
        try await settleAgent()
    }

    func registerAgentQuietly() async {
        do throws(BlueZFailure) {
            try await settleAgent()
        } catch {
            log("the pairing agent was not registered", [("error", error.code), ("text", error.text)])
        }
    }

    /// From now on questions about this band go to a person. To be ended by `endPairing`, unless it throws.
    public func beginPairing(
        with address: BluetoothAddress, asking person: any PairingPerson
    ) async throws(BlueZFailure) {
        guard people[address] == nil else {
            throw BlueZFailure(kind: .inProgress, during: .pair, text: "the band is being paired already")
        }
        people[address] = person
        do throws(BlueZFailure) {
            try await settleAgent()
        } catch {
            people[address] = nil
            // Whoever waits for this may be cancelled, and need not wait for it.
            Task { await self.registerAgentQuietly() }
            throw error
        }
    }

    public func endPairing(with address: BluetoothAddress) async {
        guard people.removeValue(forKey: address) != nil else { return }
        await registerAgentQuietly()
    }

    /// What BlueZ asked about a band since it was last connected.
    public func pairingDemand(of address: BluetoothAddress) -> PairingDemand { demands[address] ?? .nothing }

    /// Why the last link to a band dropped; nil where BlueZ did not say so, as before 5.83.
    public func dropReason(of address: BluetoothAddress, on adapter: BluetoothAddress? = nil) -> String? {
        find(address, on: adapter).flatMap { dropReasons[$0.path] }
    }

    /// Has BlueZ know of the agent what is wanted now. One after the other, and never cancelled half-way: a registration
    /// that nobody finishes would leave the agent with a keyboard, or bluetoothd without an agent.
    private func settleAgent() async throws(BlueZFailure) {
        let before = agentWork
        let work = Task {
            await before?.value
            return await self.registerAsWanted()
        }
        agentWork = Task { _ = await work.value }
        if case .failure(let failure) = await work.value { throw failure }
    }

    private func registerAsWanted() async -> Result<Void, BlueZFailure> {
        guard agentPolicy != nil, owner != nil else { return .success(()) }
        let wanted = wantedCapability
        guard registeredCapability != wanted else { return .success(()) }
        do throws(BlueZFailure) {
            // BlueZ takes what an agent can do from its registration.
            if registeredCapability != nil { await unregisterAgent() }
            try await register(wanted)
            agentRetryPause = timings.agentRetry
            return .success(())
        } catch {
            retryAgentLater()
            return .failure(error)
        }
    }

    private func register(_ capability: String) async throws(BlueZFailure) {
        do throws(BlueZFailure) {
            try await callRegister(capability)
        } catch {
            guard error.kind == .alreadyDone else { throw error }
            // By a call whose answer never came: what it said of the agent is not known.
            await unregisterAgent()
            try await callRegister(capability)
        }
        // Without a default agent a pairing that BlueZ begins by itself hangs for 30 s.
        _ = try await call(
            BlueZPath.manager, BlueZName.agentManager, "RequestDefaultAgent",
            [.objectPath(Self.agentPath)], deadline: timings.other, during: .registerAgent)
        registeredCapability = owner == nil ? nil : capability
    }

    private func callRegister(_ capability: String) async throws(BlueZFailure) {
        _ = try await call(
            BlueZPath.manager, BlueZName.agentManager, "RegisterAgent",
            [.objectPath(Self.agentPath), .string(capability)], deadline: timings.other,
            during: .registerAgent)
    }

    /// Without an agent nothing is paired: it is tried again, at growing distances.
    private func retryAgentLater() {
        guard !agentRetryIsScheduled else { return }
        agentRetryIsScheduled = true
        let pause = agentRetryPause ?? timings.agentRetry
        agentRetryPause = min(pause * 2, timings.agentRetryMost)
        after(pause) { client in
            client.agentRetryIsScheduled = false
            Task { await client.registerAgentQuietly() }
        }
    }

    func unregisterAgent() async {
        guard agentPolicy != nil, owner != nil else { return }
        registeredCapability = nil
        _ = try? await call(
            BlueZPath.manager, BlueZName.agentManager, "UnregisterAgent", [.objectPath(Self.agentPath)],
            deadline: timings.other, during: .registerAgent)
    }

    /// Exports the agent's object; it is harmless until it is registered.
    func serveAgent(on connection: BusConnection) {
        let tree = ObjectTree(root: Self.agentPath)
        tree.export(Self.agentPath, [Self.agentInterface], signal: false)
        for method in Self.agentInterface.methods {
            tree.onCall(BlueZName.agent, method.name) { [weak self] call in
                self?.assumeIsolated { $0.answerAgent(call) } ?? .never
            }
        }
        connection.assumeIsolated { $0.serve(tree) }
    }

    private func answerAgent(_ call: MethodCall) -> CallOutcome {
        let rejected = CallOutcome.failure(
            BusError(name: "org.bluez.Error.Rejected", message: "not authorised by this gateway"))
        guard let owner, call.sender == owner else { return rejected }
        let address = call.arguments.first?.text.flatMap { BlueZPath($0)?.device }
        switch call.member {
        case "Release": return .reply([])
        case "Cancel":
            // BlueZ asks an agent one thing at a time, and names no band here.
            if let asked = askedLast { people[asked]?.withdraw() }
            askedLast = nil
            return .reply([])
        case "RequestAuthorization", "AuthorizeService":
            guard let address, agentPolicy?(address) == true || people[address] != nil else { break }
            return .reply([])
        case "RequestConfirmation":
            guard let address else { break }
            if let number = call.arguments.last?.integer, let person = people[address] {
                return ask(person, .comparePasskey(UInt32(clamping: number)), call, address)
            }
            // Digits that nobody compared are worth nothing. There are none, only a yes, where BlueZ knows of no display;
            // what it was last told counts, not what it is being told.
            guard people.isEmpty, registeredCapability == Self.nobody, agentPolicy?(address) == true else {
                noteUnanswered(address)
                break
            }
            return .reply([])
        case "RequestPasskey":
            guard let address else { break }
            guard let person = people[address] else {
                noteUnanswered(address)
                break
            }
            return ask(person, .enterPasskey, call, address)
        case "DisplayPasskey":
            guard let address, let person = people[address], call.arguments.count == 3,
                let passkey = call.arguments[1].integer, let entered = call.arguments[2].integer
            else { break }
            demands[address] = .shown
            askedLast = address
            let question = PairingQuestion.showPasskey(UInt32(clamping: passkey), entered: entered)
            Task { _ = await person.ask(question) }
            return .reply([])
        // PIN codes are classic Bluetooth's.
        default: break
        }
        log("a pairing was rejected", [("method", call.member)])
        return rejected
    }

    /// Only of bands that may pair: any device near by may ask.
    private func noteUnanswered(_ address: BluetoothAddress) {
        guard agentPolicy?(address) == true else { return }
        let isOurs = people.isEmpty && registeredCapability == Self.nobody
        demands[address] = isOurs ? .nobodyThere : .notNow
    }

    private func ask(
        _ person: any PairingPerson, _ question: PairingQuestion, _ call: MethodCall,
        _ address: BluetoothAddress
    ) -> CallOutcome {
        demands[address] = .declined
        askedLast = address
        Task {
            let reply = await person.ask(question)
            if self.askedLast == address { self.askedLast = nil }
            let outcome: CallOutcome
            switch (question, reply) {
            case (.enterPasskey, .passkey(let passkey)): outcome = .reply([.uint32(passkey)])
            case (.comparePasskey, .same): outcome = .reply([])
            default:
                outcome = .failure(
                    BusError(name: "org.bluez.Error.Rejected", message: "nobody confirmed the pairing"))
            }
            if case .reply = outcome { self.demands[address] = .answered }
            self.connection?.reply(to: call.token, with: outcome)
        }
        return .later
    }

    private static let agentInterface: InterfaceDescription = {
        typealias Argument = InterfaceDescription.Argument
        let device = Argument("device", "o")
        return InterfaceDescription(
            BlueZName.agent,
            methods: [
                .init("Release"), .init("Cancel"),
                .init("RequestPinCode", takes: [device], returns: [Argument("pincode", "s")]),
                .init("DisplayPinCode", takes: [device, Argument("pincode", "s")]),
                .init("RequestPasskey", takes: [device], returns: [Argument("passkey", "u")]),
                .init("DisplayPasskey", takes: [device, Argument("passkey", "u"), Argument("entered", "q")]),
                .init("RequestConfirmation", takes: [device, Argument("passkey", "u")]),
                .init("RequestAuthorization", takes: [device]),
                .init("AuthorizeService", takes: [device, Argument("uuid", "s")]),
            ])
    }()
}
