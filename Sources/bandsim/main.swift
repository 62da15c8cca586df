import BandModel
import BandSimulator
import Dispatch
import Glibc

/// Returns when the process is asked to end.
func waitForEnd() async {
    for signal in [SIGTERM, SIGINT] { Glibc.signal(signal, SIG_IGN) }
    let sources = [SIGTERM, SIGINT].map { DispatchSource.makeSignalSource(signal: $0) }
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        let once = Once { continuation.resume() }
        for source in sources {
            source.setEventHandler { @Sendable in once.run() }
            source.resume()
        }
    }
    for source in sources { source.cancel() }
}

/// Runs its body the first time only. Used on the main queue.
final class Once: @unchecked Sendable {
    private var body: (() -> Void)?
    init(_ body: @escaping () -> Void) { self.body = body }
    func run() {
        body?()
        body = nil
    }
}

do {
    switch try SimulatorCommand(Array(CommandLine.arguments.dropFirst())) {
    case .help: Terminal.say(SimulatorHelp.text)
    case .truth(let directory): try BandRecords.printTruth(stateDirectory: directory)
    case .bus(let options, let others):
        let simulators = try await BusSimulator.start(options, alsoOn: others)
        Terminal.say("bandsim: ready, \(options.bands.count) bands")
        await waitForEnd()
        for simulator in simulators { await simulator.stop() }
    case .radio(let options):
        let radio = try await RadioSimulator.start(options)
        Terminal.say("bandsim: ready, advertising on \(options.adapter)")
        await waitForEnd()
        await radio.stop()
    }
} catch {
    Terminal.complain("bandsim: \(error)")
    exit(1)
}
