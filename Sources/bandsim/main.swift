import BandModel
import BandSimulator
import Glibc
import ProcessSignals

// First of all, so that an early signal is not missed.
let (stops, stop) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
let signals = SignalReceiver([SIGTERM, SIGINT]) { _ in stop.yield() }

/// Returns when the process is asked to end.
func waitForEnd() async {
    for await _ in stops { return }
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
