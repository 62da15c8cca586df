import GatewayModel
import Glibc
import IngestService
import Systemd

// A write beyond a file size limit, or to a client that is gone, is an error to report and not a death.
signal(SIGXFSZ, SIG_IGN)
signal(SIGPIPE, SIG_IGN)

let stop = StopSignals()
do {
    switch try IngestOptions.parse(Array(CommandLine.arguments.dropFirst())) {
    case .help: writeOut(IngestOptions.help)
    case .version: writeOut("bandferry-ingest \(Bandferry.version)\n")
    case .run(let options): try await serve(options, until: stop)
    }
    exit(0)
} catch let failure as UsageFailure {
    end(.usage(failure))
} catch let failure as ExitFailure {
    end(failure)
}
