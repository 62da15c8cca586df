import BandProfile
import BlueZ
import BlueZModel
import GatewayModel
import HistorySync
import Locking
import Store
import Systemd

/// Keeps one band synced: waits until it is due, connects, runs one session, decides when to come again.
actor BandKeeper {
    let band: AdoptedBand
    private let parts: GatewayParts
    private let log: BandLog
    private let dueGate = WakeGate()

    private var loop: Task<Void, Never>?
    private var isStopping = false
    /// Of the session that runs.
    private var inbox: SessionInbox?
    private var backOff = BackOff()
    private var requests: [SyncRequest] = []
    /// Live values that `status` shows over what is stored.
    nonisolated let live = LiveState()

    struct SyncRequest {
        var noAck: Bool
        var answer: CheckedContinuation<SyncResult, Never>
    }

    init(band: AdoptedBand, parts: GatewayParts) {
        self.band = band
        self.parts = parts
        log = BandLog(log: parts.log, address: band.address)
    }

    func start() {
        loop = Task { await run() }
    }

    /// Ends the session, disconnects the band, and returns when nothing of it runs any more.
    func stop() async {
        isStopping = true
        inbox?.stop()
        dueGate.signal()
        // A connect waits up to a minute; it may begin between two looks.
        let cancelling = Task { [parts, band] in
            while !Task.isCancelled {
                await parts.blueZ.cancelConnect(band.address)
                try? await Task.sleep(for: .seconds(1))
            }
        }
        await loop?.value
        cancelling.cancel()
        for request in requests {
            request.answer.resume(returning: SyncResult(stored: 0, problem: .stopping))
        }
        requests = []
    }

    /// Syncs now, or joins in when it is this band's turn; returns when that sync has ended.
    func sync(noAck: Bool) async -> SyncResult {
        guard !isStopping else { return SyncResult(stored: 0, problem: .stopping) }
        return await withCheckedContinuation { answer in
            requests.append(SyncRequest(noAck: noAck, answer: answer))
            dueGate.signal()
        }
    }

    func ackPointRaised(to seq: UInt32, ring: RingID) {
        guard live.value.ring == ring else { return }
        inbox?.ackPointRaised(to: seq)
    }

    /// Answers when this keeper is not stuck.
    func roundTrip() {}

    // MARK: the loop

    private func run() async {
        while !isStopping {
            let served = requests
            requests = []
            let result = await syncOnce(noAck: served.contains(where: \.noAck))
            for request in served { request.answer.resume(returning: result) }
            // Who asked while it ran, and it ended well, has been served too: the session looked once more at its end.
            if result.problem == nil {
                for request in requests where !request.noAck { request.answer.resume(returning: result) }
                requests.removeAll { !$0.noAck }
            }
            guard !isStopping, requests.isEmpty else { continue }
            await dueGate.wait(atMost: result.pause)
        }
    }

    private func syncOnce(noAck: Bool) async -> SyncResult {
        let started = parts.clock.monotonic()
        do {
            // A store that can't take anything is found out before radio time is spent.
            try await parts.store.checkHealth()
            try await parts.scanner.find(band.address, atMost: .seconds(20)) { [self] in await isStopping }
            await parts.links.take()
            let result: SyncResult
            do {
                let inbox = SessionInbox()
                let link = try await connect(inbox)
                result = await runSession(over: link, inbox, noAck: noAck, started: started)
            } catch {
                await parts.links.give()
                throw error
            }
            await parts.links.give()
            return result
        } catch {
            // A stop is no problem of the band: nothing to show, or to keep for the next start.
            if isStopping { return SyncResult(stored: 0, problem: .stopping) }
            return await failed(.unexpected(error), stored: 0)
        }
    }

    private func connect(_ inbox: SessionInbox) async throws -> BandLink {
        await parts.attempts.take()
        do {
            guard !isStopping else { throw BlueZFailure.stopped }
            // For a bulk transfer; where this process may not ask, the controller's default is slower, no more.
            _ = await parts.blueZ.requestShortInterval(for: [band.address])
            let link = try await parts.blueZ.connect(band.address, deadline: .seconds(60)) { _ in
                inbox.linkLost()
            }
            await parts.attempts.give()
            return link
        } catch {
            await parts.attempts.give()
            throw error
        }
    }

    private func runSession(
        over link: BandLink, _ inbox: SessionInbox, noAck: Bool, started: MonotonicTime
    ) async -> SyncResult {
        self.inbox = inbox
        parts.meter.connected(band.device)
        if isStopping { inbox.stop() }
        show { live in
            live.connected = true
            live.syncing = true
            // Until Info was read on this link: acks carry no ring id, so no ack point of an earlier ring may pass.
            (live.ring, live.nextSeq, live.newestSeq) = (nil, nil, nil)
        }
        await noteContact(link)
        // As it was when the session began: what is acked in it is durable here and goes up, whoever owns the band.
        let lease = try? await parts.store.lease(of: band.device)
        let mode = noAck ? .observe : band.mode.effective(lease)
        let runner = SessionRunner(
            link: link, inbox: inbox, device: band.device, mode: mode,
            connectionID: parts.newConnectionID(), store: parts.store, clock: parts.clock,
            hostWatch: parts.hostWatch, hooks: hooks(), meter: parts.meter,
            log: log)
        let (end, summary) = await runner.run()
        self.inbox = nil
        show { $0.syncing = false }
        await link.disconnect()
        show { $0.connected = false }
        let took = parts.clock.monotonic().milliseconds - started.milliseconds
        log.ended(end, summary, took: .milliseconds(took))
        return await settle(end, summary)
    }

    private func settle(_ end: SessionEnd, _ summary: SessionSummary) async -> SyncResult {
        switch end {
        case .caughtUp:
            backOff.succeeded()
            await note(problem: nil)
            return SyncResult(stored: summary.stored, problem: nil, pause: parts.syncInterval)
        case .stopped:
            return SyncResult(stored: summary.stored, problem: .stopping, pause: .zero)
        case .retryOnNewConnection, .ringChanged:
            return SyncResult(stored: summary.stored, problem: .interrupted, pause: .milliseconds(200))
        case .linkLost:
            if summary.stored > 0 { backOff.succeeded() }
            return await failed(.interrupted, stored: summary.stored)
        case .stalled:
            return await failed(.stalled, stored: summary.stored)
        case .protocolFault(let text):
            return await failed(.protocolFault(text), stored: summary.stored)
        case .failed(.link(let problem)), .failed(.store(let problem)):
            return await failed(problem, stored: summary.stored)
        }
    }

    private func failed(_ problem: Problem, stored: Int) async -> SyncResult {
        show { live in
            live.connected = false
            live.syncing = false
        }
        parts.meter.failed(problem)
        let pause = backOff.failed(jitter: parts.jitter())
        await note(problem: problem)
        return SyncResult(
            stored: stored, problem: problem, pause: min(pause, max(parts.syncInterval, .seconds(5))))
    }

    // MARK: what status shows

    private func noteContact(_ link: BandLink) async {
        let contact = ContactNote(
            time: parts.clock.wall(), mtu: await link.mtu(), battery: await link.battery(),
            firmware: await link.firmware(),
            name: await parts.blueZ.device(band.address)?.name)
        show { $0.mtu = contact.mtu }
        do { try await parts.store.noteContact(band.device, contact) } catch {
            log.log.warning("the contact could not be noted", [("error", .error(error))])
        }
    }

    private func note(problem: Problem?) async {
        show { $0.problem = problem }
        // Where the store itself is the problem this can't be kept either; the live value says it.
        do { try await parts.store.setProblem(device: band.device, problem) } catch {}
    }

    private func hooks() -> SessionHooks {
        SessionHooks(
            ringSeen: { [parts, band] info in await parts.resolver.ringSeen(info.ring, of: band.device) },
            progressed: { [live, parts] ring, next, newest in
                let moved = live.update { live -> Bool in
                    defer { (live.ring, live.nextSeq, live.newestSeq) = (ring, next, newest) }
                    return live.nextSeq != next || live.newestSeq != newest
                }
                if moved { parts.changed() }
            },
            committed: { [parts] chunk in
                parts.uploadWake()
                if !chunk.openQuestions.isEmpty { parts.resolver.wake() }
            })
    }

    private func show(_ change: (inout LiveBand) -> Void) {
        live.update(change)
        parts.changed()
    }
}

/// What only a running gateway knows of a band.
struct LiveBand: Sendable {
    var connected = false
    var syncing = false
    var mtu: Int?
    var ring: RingID?
    var nextSeq: UInt32?
    var newestSeq: UInt32?
    var problem: Problem?
}

/// Written by the session as it goes, read by `status` at any time.
final class LiveState: Sendable {
    private let state = Guarded(LiveBand())

    var value: LiveBand { state.withLock { $0 } }

    @discardableResult
    func update<Value: Sendable>(_ change: (inout LiveBand) -> Value) -> Value {
        state.withLock { change(&$0) }
    }
}

/// How one sync ended, and when the next is due.
struct SyncResult: Sendable {
    var stored: Int
    var problem: Problem?
    var pause: Duration = .zero
}
