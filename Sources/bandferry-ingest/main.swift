import GatewayModel
import Glibc
import IngestService
import Systemd

// A write beyond a file size limit, or to a client that is gone, is an error to report and not a death.
signal(SIGXFSZ, SIG_IGN)
signal(SIGPIPE, SIG_IGN)

do {
    switch try IngestCommand.parse(Array(CommandLine.arguments.dropFirst())) {
    case .showHelp: writeOut(IngestCommand.help)
    case .showVersion: writeOut("bandferry-ingest \(Bandferry.version)\n")
    case .serve(let options): try await serve(options, Signals())
    case .administer(let command):
        let result = try await command.run(report: { writeError("bandferry-ingest: \($0)\n") })
        writeOut(result.output)
        if !result.note.isEmpty { writeError("\(result.note)\n") }
    }
    exit(0)
} catch let failure as UsageFailure {
    end(.usage(failure))
} catch let failure as ExitFailure {
    end(failure)
}
