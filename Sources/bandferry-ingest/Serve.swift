import Glibc
import IngestService
import Systemd

/// Serves until a signal asks to stop, then finishes what is in hand.
func serve(_ options: IngestOptions, until stop: StopSignals) async throws {
    let log = Log.standard(identifier: "bandferry-ingest")
    let server = try await options.start { event in
        switch event {
        case .storageFailing(let failure):
            log.error(
                "storage fails", [("kind", .text(failure.kind.rawValue)), ("reason", .text(failure.message))])
        case .storageHealed:
            log.notice("storage works again")
        case .dashboard(let note):
            log.warning("dashboard", [("reason", .text("\(note)"))])
        }
    }
    writeOut("listening on \(server.url)\n")
    ServiceManager.ready(status: "listening on \(server.address)")
    log.info("started")
    await stop.first()
    ServiceManager.stopping()
    await server.stop(within: .seconds(10))
    log.info("stopped")
    log.flush()
}

/// Writes to standard output at once, whatever it is connected to.
func writeOut(_ text: String) {
    write(text, to: STDOUT_FILENO)
}

func end(_ failure: ExitFailure) -> Never {
    write("bandferry-ingest: \(failure.message)\n", to: STDERR_FILENO)
    exit(failure.status)
}

private func write(_ text: String, to descriptor: Int32) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        if count < 0 {
            if errno == EINTR { continue }
            return
        }
        rest = rest.dropFirst(count)
    }
}
