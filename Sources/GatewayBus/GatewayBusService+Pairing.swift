import BandProfile
import DBus
import GatewayModel

/// Pairings: each belongs to the client that began it, which alone is asked and alone may answer.
extension GatewayBusService {
    func servePairing() {
        handle("Pair") { try await $0.pair($1) }
        handle("AnswerPairing") { try $0.answerPairing($1) }
        handle("CancelPairing") { try $0.cancelPairing($1) }
    }

    /// Clients that go away take their pairings with them.
    func watchClients() async {
        await connection.setSignalHandler { [weak self] signal in
            guard signal.sender == "org.freedesktop.DBus", signal.member == "NameOwnerChanged",
                signal.arguments.count == 3, signal.arguments[2].text == "",
                let name = signal.arguments[0].text, name.hasPrefix(":")
            else { return }
            self?.assumeIsolated { $0.clientIsGone(name) }
        }
    }

    private func clientIsGone(_ name: String) {
        for talk in pairings.values where talk.client == name { talk.end() }
    }

    private func pair(_ call: MethodCall) async throws -> [BusValue] {
        let address = try Self.address(call.arguments.first?.text ?? "")
        if let option = call.arguments.last?.properties?.keys.first {
            throw CommandFailure(.invalidArguments, "unknown option: \(option.prefix(40))")
        }
        try await talking(about: address, with: call) { [commands] in
            try await commands.pair(address, asking: $0)
        }
        return []
    }

    /// Runs what may ask the caller something.
    func talking(
        about address: BluetoothAddress, with call: MethodCall,
        _ body: @escaping @Sendable (PairingTalk) async throws -> Void
    ) async throws {
        guard let client = call.sender else { throw CommandFailure(.failed, "the bus names no caller") }
        guard pairings[address] == nil else {
            throw CommandFailure(.inProgress, "\(address) is being paired already")
        }
        let talk = PairingTalk(address, with: client) { [connection] signal in
            // To this client alone: a passkey is nobody else's.
            try? connection.emit(signal, to: client)
        }
        pairings[address] = talk
        defer { pairings[address] = nil }
        let rule =
            "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',"
            + "member='NameOwnerChanged',arg0='\(client)'"
        try await connection.addMatch(rule)
        let task = Task { try await body(talk) }
        talk.onEnd { task.cancel() }
        // It may have gone before it was watched. Where the bus does not say, nobody would hear a question either. The task is
        // waited for in any case: the band is not free before it is over.
        do {
            if try await connection.owner(of: client) == nil { talk.end() }
        } catch {
            talk.end()
        }
        let result = await task.result
        try? await connection.removeMatch(rule)
        try result.get()
    }

    private func answerPairing(_ call: MethodCall) throws -> [BusValue] {
        let talk = try talk(of: call)
        guard talk.answer(try PairingReply.reading(call.arguments.last?.properties ?? [:])) else {
            throw CommandFailure(.notFound, "nothing is asked about \(talk.address) now")
        }
        return []
    }

    private func cancelPairing(_ call: MethodCall) throws -> [BusValue] {
        try talk(of: call).end()
        return []
    }

    private func talk(of call: MethodCall) throws -> PairingTalk {
        let address = try Self.address(call.arguments.first?.text ?? "")
        // Of another client's pairing nothing is said.
        guard let talk = pairings[address], talk.client == call.sender else {
            throw CommandFailure(.notFound, "this client pairs no band \(address)")
        }
        return talk
    }
}
