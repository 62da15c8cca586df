import Glibc
import IngestService
import IngestStore
import Locking
import Systemd

/// Serves until a signal asks to stop, then finishes what is in hand.
func serve(_ options: IngestOptions, _ signals: Signals) async throws {
    let log = Log.standard(identifier: "bandferry-ingest")
    var options = options
    let room = DescriptorLimit.raise()
    if options.maxConnections > room {
        log.warning(
            "fewer connections than asked for: the limit of open files is lower",
            [("connections", .count(room)), ("asked", .count(options.maxConnections))])
        options.maxConnections = room
    }
    let patience = StartPatience()
    let start = await signals.unlessStopped { [options] in
        await options.started { event in
            if case .preparing = event { patience.ask() }
            log.note(event)
        }
    }
    patience.end()
    guard let start else {
        // The store may hang, or be long at work on its tables: what it has not committed is as if it had not begun.
        ServiceManager.stopping()
        log.info("stopped before it had started")
        leave(log)
    }
    let server = try start.get()
    writeOut("listening on \(server.url)\n")
    ServiceManager.ready(status: "listening on \(server.address)")
    log.info(
        "listening",
        [
            ("address", .text("\(server.address)")), ("tls", .text(options.tls == nil ? "no" : "yes")),
            ("store", .text(options.store.kind)), ("connections", .count(options.maxConnections)),
        ])
    await signals.untilStop { reload(options, server, log) }
    ServiceManager.stopping()
    log.info("stopping")
    let isClosed = await server.stop(within: .seconds(10))
    if !isClosed { log.warning("the store does not answer: it is left as it is") }
    log.info("stopped")
    if !isClosed { leave(log) }
    log.flush()
}

/// Ends the process where threads still wait for the store: what exit(3) runs takes away what they use.
private func leave(_ log: Log) -> Never {
    log.flush()
    _exit(0)
}

/// Asks systemd for more time to start, again and again, from when the store said that it takes some.
private final class StartPatience: Sendable {
    private let task = Guarded(Task<Void, Never>?.none)

    func ask() {
        task.withLock { task in
            guard task == nil else { return }
            task = Task {
                while !Task.isCancelled {
                    ServiceManager.extendTimeout(.seconds(60))
                    try? await Task.sleep(for: .seconds(20))
                }
            }
        }
    }

    func end() { task.withLock { $0 }?.cancel() }
}

extension IngestOptions {
    fileprivate func started(
        report: @escaping @Sendable (ServiceEvent) -> Void
    ) async -> Result<IngestServer, ExitFailure> {
        do throws(ExitFailure) {
            return .success(try await start(report: report))
        } catch {
            return .failure(error)
        }
    }
}

private func reload(_ options: IngestOptions, _ server: IngestServer, _ log: Log) {
    do throws(ExitFailure) {
        let expires = try options.reload(server)
        log.notice("reloaded", expires.map { [("certificate_expires_s", .count($0))] } ?? [])
    } catch {
        log.error("reload refused: all stays as it was", [("reason", .text(error.message))])
    }
}

extension Log {
    fileprivate func note(_ event: ServiceEvent) {
        switch event {
        case .storageFailing(let failure):
            error(
                "storage fails", [("kind", .text(failure.kind.rawValue)), ("reason", .text(failure.message))])
        case .requestsFailing(let failure, let count):
            error(
                "requests fail",
                [
                    ("kind", .text(failure.kind.rawValue)), ("reason", .text(failure.message)),
                    ("count", .count(count)),
                ])
        case .dashboard(let note):
            warning("dashboard", [("reason", .text("\(note)"))])
        case .preparing(.upgrading(let old, let new)):
            notice("the store is brought up to date", [("from", .count(old)), ("to", .count(new))])
        case .preparing(.waiting):
            notice("waiting for another program that brings the store up to date")
        case .storageHealed:
            notice("storage works again")
        case .authenticationFailures(let count):
            notice("requests had a wrong token or none", [("count", .count(count))])
        }
    }
}

/// Writes to standard output at once, whatever it is connected to.
func writeOut(_ text: String) { write(text, to: STDOUT_FILENO) }

func writeError(_ text: String) { write(text, to: STDERR_FILENO) }

func end(_ failure: ExitFailure) -> Never {
    writeError("bandferry-ingest: \(failure.message)\n")
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
