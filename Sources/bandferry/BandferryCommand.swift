import BandProfile
import CommandLineText
import DBus
import GatewayBus
import GatewayConfiguration
import GatewayModel
import Glibc

/// `bandferry`: the gateway's command line for people and scripts.
@main
struct BandferryCommand {
    static func main() async {
        do {
            let invocation = try Invocation.parse(Array(CommandLine.arguments.dropFirst()))
            var command = BandferryCommand(invocation: invocation)
            let code = try await command.run()
            try command.output.flush()
            exit(code.rawValue)
        } catch {
            let failure = Failure(error)
            Output.complain(failure.message)
            exit(failure.code.rawValue)
        }
    }

    let invocation: Invocation
    private var output = Output()
    var terminal: Terminal { output.terminal }

    private mutating func run() async throws -> ExitCode {
        switch invocation.command {
        case .help(let topic): try help(topic)
        case .version:
            try show(ChangeText.version(Bandferry.version)) { _ in "bandferry \(Bandferry.version)\n" }
        case .status:
            let status = try await status()
            try show(StatusText.json(status)) { StatusText.rendered(status, now: .now, terminal: $0) }
        case .bands:
            let bands = try await status().bands
            try show(.array(bands.map(StatusText.json))) { StatusText.bands(bands, now: .now, terminal: $0) }
        case .scan(let seconds):
            let bands = try await daemon().scan(seconds: seconds)
            try show(ScanText.json(bands)) { ScanText.rendered(bands, terminal: $0) }
        case .adopt(let address, let mode, let ack, let device, let name, let pairs):
            let request = AdoptRequest(address: address, mode: mode, ack: ack, device: device, name: name)
            let client = try await daemon()
            if pairs, !invocation.json, Self.hasPerson {
                try await askingPerson(about: address, client) { (client) throws(GatewayBusFailure) in
                    try await client.adoptAsking(request)
                }
            } else {
                try await client.adopt(request)
            }
            let json = ChangeText.adopted(
                address, device ?? DeviceID(address), name: name, mode: mode, ack: ack)
            try show(json) { _ in
                "\(address) is adopted (\(mode.rawValue)). 'bandferry sync \(address)' syncs it now.\n"
            }
        case .pair(let name):
            let client = try await daemon()
            let address = try await client.address(of: name)
            guard Self.hasPerson else {
                throw Failure(.failed, "'pair' asks questions: run it at a terminal.")
            }
            try await askingPerson(about: address, client) { (client) throws(GatewayBusFailure) in
                try await client.pair(address)
            }
            try show(ChangeText.paired(address)) { _ in "\(address) is paired.\n" }
        case .forget(let name):
            let client = try await daemon()
            let address = try await client.address(of: name)
            try await client.forget(address)
            try show(ChangeText.forgotten(address)) { _ in
                "\(address) is forgotten. Its rows, if there are any, are kept and go on being uploaded.\n"
            }
        case .sync(let name, let noAck): return try await sync(name, noAck: noAck)
        case .upload(let command): return try await upload(command)
        case .reconcile(let band, let days, let isDryRun):
            return try await reconcile(band, days: days, isDryRun: isDryRun)
        case .replace(let request): return try await replace(request)
        case .person(let command): try await person(command)
        case .assign(let band, let person, let from, let to):
            try await assign(band, to: person, from: from, to: to)
        case .unassign(let band, let from): try await unassign(band, from: from)
        case .assignments(let band): try assignments(of: band)
        case .gaps(let device, let all): try gaps(of: device, all: all)
        case .trends(let request): try trends(request)
        case .export(let format, let device):
            try LocalState(settings()).export(format, of: device, to: &output)
        case .doctor: return try await doctor()
        case .recover(let startsEmpty):
            let recovered = try startsEmpty ? Recovery.startEmpty(settings()) : Recovery.salvage(settings())
            try show(recovered.json) { _ in recovered.text }
        }
        return .success
    }

    // MARK: commands

    private mutating func help(_ topic: String?) throws {
        guard let page = HelpText.page(topic) else {
            throw UsageError.noCommand(topic ?? "")
        }
        try output.write(page)
    }

    private func status() async throws -> GatewayStatus {
        try await asked { (client) throws(GatewayBusFailure) in
            try await client.status()
        } orRead: {
            try $0.status()
        }
    }

    /// From the daemon, else from the state directory.
    func asked<Value: Sendable>(
        _ ask: (GatewayBusClient) async throws(GatewayBusFailure) -> Value,
        orRead read: (LocalState) throws -> Value
    ) async throws -> Value {
        do throws(GatewayBusFailure) {
            let client = try await GatewayBusClient.connect()
            return try await ask(client)
        } catch {
            switch error {
            case .notRunning, .noBus, .notPermitted: break
            case .command, .broken: throw error
            }
            do {
                return try read(LocalState(settings()))
            } catch let failure as Failure where failure.code == .notPermitted {
                // Both ways are closed: the bus's reason is the one to mend.
                throw Failure(error)
            }
        }
    }

    func settings() throws -> Configuration { try Settings.read(invocation.configuration) }

    func daemon() async throws(GatewayBusFailure) -> GatewayBusClient { try await .connect() }

    private mutating func sync(_ name: String?, noAck: Bool) async throws -> ExitCode {
        let client = try await daemon()
        var address: BluetoothAddress?
        if let name { address = try await client.address(of: name) }
        let display = SyncDisplay(terminal: terminal, only: address)
        let following = Task { [shows = !invocation.json] in
            guard shows, let changes = try? await client.bandChanges() else { return }
            await display.follow(changes)
        }
        let result: Result<[SyncReport], GatewayBusFailure>
        do throws(GatewayBusFailure) {
            result = .success(try await client.sync(address, noAck: noAck))
        } catch {
            result = .failure(error)
        }
        following.cancel()
        await client.close()
        await following.value
        let reports = try result.get()
        try show(SyncText.json(reports)) { SyncText.rendered(reports, terminal: $0) }
        return SyncText.exitCode(reports)
    }

    // MARK: output

    mutating func show(_ json: JSONText, _ text: (Terminal) -> String) throws {
        try output.write(invocation.json ? json.text + "\n" : text(terminal))
    }
}
