import BandProfile
import BlueZModel
import DBus
import GatewayModel

/// Who may pair: the bands that are being paired or were adopted, and nobody else.
public typealias AgentPolicy = @Sendable (BluetoothAddress) -> Bool

// An agent must exist for Pair() to succeed, even where nothing is asked of people.

extension BlueZClient {
    private static let agentPath = "/org/bandferry/agent"

    /// What the agent says of itself. With a keyboard and a display bands ask for passkeys, which nobody would answer by day.
    private var capability: String { people.isEmpty ? "NoInputNoOutput" : "KeyboardDisplay" }

    /// Registers an agent without keyboard and display. It stays registered across restarts of bluetoothd.
    public func registerAgent(authorising policy: @escaping AgentPolicy) async throws(BlueZFailure) {
        agentPolicy = policy
        guard owner != nil else { return }
        try await register()
    }

    func registerAgentQuietly() async {
        do throws(BlueZFailure) {
            try await register()
        } catch {
            log("the pairing agent was not registered", [("error", error.code), ("text", error.text)])
        }
    }

    private func register() async throws(BlueZFailure) {
        let path = BusValue.objectPath(Self.agentPath)
        do throws(BlueZFailure) {
            _ = try await call(
                BlueZPath.manager, BlueZName.agentManager, "RegisterAgent",
                [path, .string(capability)],
                deadline: timings.other, during: .registerAgent)
        } catch {
            guard error.kind == .alreadyDone else { throw error }
        }
        // Without a default agent a pairing that BlueZ begins by itself hangs for 30 s.
        _ = try await call(
            BlueZPath.manager, BlueZName.agentManager, "RequestDefaultAgent", [path], deadline: timings.other,
            during: .registerAgent)
    }

    /// From now on questions about this band go to a person. To be ended by `endPairing`.
    public func beginPairing(
        with address: BluetoothAddress, asking person: any PairingPerson
    ) async throws(BlueZFailure) {
        guard people[address] == nil else {
            throw BlueZFailure(kind: .inProgress, during: .pair, text: "the band is being paired already")
        }
        people[address] = person
        if people.count == 1 { try await registerAnew() }
    }

    public func endPairing(with address: BluetoothAddress) async {
        guard people.removeValue(forKey: address) != nil, people.isEmpty else { return }
        do throws(BlueZFailure) {
            try await registerAnew()
        } catch {
            log("the pairing agent was not registered", [("error", error.code), ("text", error.text)])
        }
    }

    /// What BlueZ asked about a band since it was last connected.
    public func pairingDemand(of address: BluetoothAddress) -> PairingDemand { demands[address] ?? .nothing }

    /// Why the last link to a band dropped; nil where BlueZ did not say so, as before 5.83.
    public func dropReason(of address: BluetoothAddress, on adapter: BluetoothAddress? = nil) -> String? {
        find(address, on: adapter).flatMap { dropReasons[$0.path] }
    }

    /// BlueZ takes what an agent can do from its registration.
    private func registerAnew() async throws(BlueZFailure) {
        guard agentPolicy != nil, owner != nil else { return }
        await unregisterAgent()
        try await register()
    }

    func unregisterAgent() async {
        guard agentPolicy != nil, owner != nil else { return }
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
            for person in people.values { person.withdraw() }
            return .reply([])
        case "RequestAuthorization", "AuthorizeService":
            guard let address, agentPolicy?(address) == true || people[address] != nil else { break }
            return .reply([])
        case "RequestConfirmation":
            guard let address else { break }
            if let number = call.arguments.last?.integer, let person = people[address] {
                return ask(person, .comparePasskey(UInt32(clamping: number)), call, address)
            }
            // Digits that nobody compared are worth nothing; without a display there are none, only a yes.
            guard people.isEmpty, agentPolicy?(address) == true else {
                demands[address] = .nobodyThere
                break
            }
            return .reply([])
        case "RequestPasskey":
            guard let address else { break }
            guard let person = people[address] else {
                demands[address] = .nobodyThere
                break
            }
            return ask(person, .enterPasskey, call, address)
        case "DisplayPasskey":
            guard let address, let person = people[address], call.arguments.count == 3,
                let passkey = call.arguments[1].integer, let entered = call.arguments[2].integer
            else { break }
            demands[address] = .shown
            let question = PairingQuestion.showPasskey(UInt32(clamping: passkey), entered: entered)
            Task { _ = await person.ask(question) }
            return .reply([])
        // PIN codes are classic Bluetooth's.
        default: break
        }
        log("a pairing was rejected", [("method", call.member)])
        return rejected
    }

    private func ask(
        _ person: any PairingPerson, _ question: PairingQuestion, _ call: MethodCall,
        _ address: BluetoothAddress
    ) -> CallOutcome {
        demands[address] = .declined
        Task {
            let reply = await person.ask(question)
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
