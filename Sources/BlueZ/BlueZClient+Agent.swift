import BandProfile
import BlueZModel
import DBus

/// Who may pair: the bands that are being paired or were adopted, and nobody else.
public typealias AgentPolicy = @Sendable (BluetoothAddress) -> Bool

// An agent must exist for Pair() to succeed, even where nothing is asked of people.

extension BlueZClient {
    private static let agentPath = "/org/bandferry/agent"

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
                [path, .string("NoInputNoOutput")],
                deadline: timings.other, during: .registerAgent)
        } catch {
            guard error.kind == .alreadyDone else { throw error }
        }
        // Without a default agent a pairing that BlueZ begins by itself hangs for 30 s.
        _ = try await call(
            BlueZPath.manager, BlueZName.agentManager, "RequestDefaultAgent", [path], deadline: timings.other,
            during: .registerAgent)
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
        switch call.member {
        case "Release", "Cancel": return .reply([])
        case "RequestConfirmation", "RequestAuthorization", "AuthorizeService":
            guard let address = call.arguments.first?.text.flatMap({ BlueZPath($0)?.device }),
                agentPolicy?(address) == true
            else {
                log("a pairing was rejected", [("method", call.member)])
                return rejected
            }
            return .reply([])
        // We have neither keyboard nor display.
        default: return rejected
        }
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
