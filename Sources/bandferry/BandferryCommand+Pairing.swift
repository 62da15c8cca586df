import BandProfile
import CommandLineText
import Dispatch
import GatewayBus
import GatewayModel
import Glibc
import Locking

/// Adopting and pairing at a terminal.
extension BandferryCommand {
    /// A person can be asked: input and output are a terminal.
    static var hasPerson: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }

    /// Runs a call of the daemon that may ask something, and answers it. Ctrl-C gives the pairing up.
    func askingPerson(
        about address: BluetoothAddress, _ client: GatewayBusClient,
        _ body: (GatewayBusClient) async throws(GatewayBusFailure) -> Void
    ) async throws {
        let news = await client.pairingNews(of: address)
        let talk = TerminalTalk(address: address, client: client)
        let interrupt = InterruptWatch { talk.cancel() }
        defer { interrupt.end() }
        let talking = Task { await talk.run(news) }
        let result: Result<Void, any Error>
        do throws(GatewayBusFailure) {
            try await body(client)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        // Ends the news; what was said last is still shown.
        await client.close()
        await talking.value
        guard talk.isCancelled, case .failure(let error) = result else { return try result.get() }
        // The daemon says what has become of an old bond.
        if case .command(let refusal)? = error as? GatewayBusFailure {
            throw Failure(.failed, refusal.message)
        }
        throw Failure(.failed, "The pairing was given up; 'bandferry status' says how the band stands.")
    }
}

/// Shows what a pairing says, and reads answers from the terminal.
final class TerminalTalk: Sendable {
    private let address: BluetoothAddress
    private let client: GatewayBusClient
    private let cancelled = Guarded(false)

    init(address: BluetoothAddress, client: GatewayBusClient) {
        self.address = address
        self.client = client
    }

    var isCancelled: Bool { cancelled.withLock { $0 } }

    func cancel() {
        let isFirst = cancelled.withLock { cancelled in
            defer { cancelled = true }
            return !cancelled
        }
        guard isFirst else { return }
        Self.say("\n")
        Task { [client, address] in try? await client.cancelPairing(address) }
    }

    func run(_ news: AsyncStream<PairingNews>) async {
        var asking: Task<Void, Never>?
        for await one in news {
            switch one {
            case .progress(let progress):
                if let line = PairingText.line(progress, address) { Self.say(line + "\n") }
            case .withdrawn:
                asking?.cancel()
                asking = nil
            case .asked(let question, let limit):
                asking?.cancel()
                await asking?.value
                let seconds = Int(limit / .seconds(1))
                Self.say(PairingText.question(question, seconds: seconds))
                if case .showPasskey = question { continue }
                asking = Task { await answer(question, within: limit) }
            }
        }
        asking?.cancel()
        await asking?.value
    }

    private func answer(_ question: PairingQuestion, within limit: Duration) async {
        let end = ContinuousClock.now + limit
        while let line = await Self.line(until: end) {
            switch PairingText.answer(line, to: question) {
            case .reply(let reply):
                try? await client.answerPairing(address, reply)
                return
            case .no:
                try? await client.answerPairing(address, nil)
                return
            case nil:
                let left = max(0, Int((end - .now) / .seconds(1)))
                Self.say(PairingText.notAnAnswer(question) + PairingText.question(question, seconds: left))
            }
        }
        guard !Task.isCancelled, !isCancelled else { return }
        Self.say("\n")
        // End of input, or too late: an answer, so that nobody waits any longer.
        try? await client.answerPairing(address, nil)
    }

    private static func say(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// A line of the terminal, which gives whole ones; nil at the end of input or of the time, and when it is cancelled.
    private static func line(until end: ContinuousClock.Instant) async -> String? {
        while ContinuousClock.now < end, !Task.isCancelled {
            var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            if poll(&input, 1, 0) > 0 {
                var bytes = [UInt8](repeating: 0, count: 256)
                let count = read(STDIN_FILENO, &bytes, bytes.count)
                guard count > 0 else { return nil }
                return String(decoding: bytes[..<count], as: UTF8.self)
            }
            try? await Task.sleep(for: .milliseconds(50))
        }
        return nil
    }
}

/// Ctrl-C, for as long as there is something to give up.
private struct InterruptWatch {
    private let source: any DispatchSourceSignal

    init(_ interrupted: @escaping @Sendable () -> Void) {
        signal(SIGINT, SIG_IGN)
        source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
        source.setEventHandler { @Sendable in interrupted() }
        source.resume()
    }

    func end() {
        source.cancel()
        signal(SIGINT, SIG_DFL)
    }
}
