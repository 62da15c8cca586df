import BandProfile
import BlueZ
import BlueZModel
import GatewayModel
import HistorySync
import Locking
import RadioSchedule
import Store
import Systemd

/// Keeps one band synced: when the radio gives it a turn it connects, runs one session, and says how that ended.
actor BandKeeper {
    let band: AdoptedBand
    let parts: GatewayParts
    let log: BandLog

    private var isStopping = false
    private var starting: Task<Void, Never>?
    /// Of the session that runs.
    private var inbox: SessionInbox?
    /// A person asked for a sync without acks.
    private var isAckForbidden = false
    private var isLooking = false
    private var looksAgain = false
    /// It is left alone for that.
    var rests: BondTrouble?
    private var requests: [SyncRequest] = []
    /// Sessions in a row that stored nothing and asked for a new connection.
    private var fruitless = 0
    private let membership = RadioMember.Identity()
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

    func start() async {
        let work = Task { await begin() }
        starting = work
        await work.value
    }

    private func begin() async {
        guard !isStopping else { return }
        let rest = await rest()
        rests = rest?.trouble
        guard !isStopping else { return }
        await parts.radio.keep(
            band.address, resting: rest?.left ?? .zero, looking: rest?.trouble == .doubtful,
            RadioMember(
                identity: membership, device: band.device,
                takeTurn: { [weak self] turn in await self?.take(turn) ?? TurnEnd(outcome: .again) },
                couldNot: { [weak self] failure in await self?.couldNot(failure) },
                isAskedFor: { [weak self] in await self?.isAskedFor ?? false }))
        // Asked for before anybody could hear it.
        if !requests.isEmpty { await parts.radio.ask(for: band.address) }
    }

    /// Ends the session, disconnects the band, and returns when nothing of it runs any more.
    func stop() async {
        isStopping = true
        inbox?.stop()
        // A connect waits up to a minute; it may begin between two looks.
        let cancelling = Task { [parts, band] in
            while !Task.isCancelled {
                await parts.blueZ.cancelConnect(band.address)
                try? await Task.sleep(for: .seconds(1))
            }
        }
        // What is kept after this would take the place of the next keeper's.
        await starting?.value
        await parts.radio.drop(band.address, membership)
        cancelling.cancel()
        for request in requests {
            request.answer.resume(returning: SyncResult(stored: 0, problem: .stopping))
        }
        requests = []
    }

    /// Asks for a turn; returns when that sync has ended, or the band was not heard.
    func sync(noAck: Bool) async -> SyncResult {
        guard !isStopping else { return SyncResult(stored: 0, problem: .stopping) }
        return await withCheckedContinuation { answer in
            requests.append(SyncRequest(noAck: noAck, answer: answer))
            Task { [parts, band] in await parts.radio.ask(for: band.address) }
        }
    }

    /// The server said more of who owns the band or of what it has, or a question was answered.
    func acksMayHaveChanged() async {
        // One look after the other, so that the last one is the newest.
        looksAgain = true
        guard !isLooking else { return }
        isLooking = true
        while looksAgain {
            looksAgain = false
            await lookAtAcks()
        }
        isLooking = false
    }

    private func lookAtAcks() async {
        guard let inbox, !isAckForbidden else { return }
        let lease = await parts.ownership.lastSaid(of: band)
        guard inbox === self.inbox else { return }
        inbox.modeChanged(to: band.mode.effective(lease))
        guard let ring = live.value.ring,
            let point = try? await parts.store.ackPoint(of: band.device, ring: ring, ack: band.ack),
            // Another link may be up by now, and acks carry no ring id.
            inbox === self.inbox, live.value.ring == ring
        else { return }
        inbox.ackPointRaised(to: point)
    }

    /// A session that runs goes by it from now on, and one more comes at once.
    func ownerChanged() async {
        await parts.radio.isDue(band.address)
        await acksMayHaveChanged()
    }

    /// Something of the band changed at BlueZ: somebody may have removed the bond for which it is left alone, or made one.
    func changedAtBlueZ() async {
        guard let trouble = rests, await parts.blueZ.isServiceRunning, await isBonded != trouble.isOfABond,
            rests == trouble
        else { return }
        rests = nil
        await parts.radio.endRest(of: band.address)
    }

    /// Answers when this keeper is not stuck.
    func roundTrip() {}

    // MARK: a turn

    private func take(_ turn: RadioTurn) async -> TurnEnd {
        guard !isStopping else { return TurnEnd(outcome: .again) }
        let served = requests
        requests = []
        let result: SyncResult
        // The wall clock may have been stepped since the rest began.
        if served.isEmpty, let rest = await rest() {
            result = leaveAlone(for: rest)
        } else {
            result = await syncOnce(turn, noAck: served.contains(where: \.noAck))
        }
        for request in served { request.answer.resume(returning: result) }
        // Who asked while it ran, and it ended well, has been served too: the session looked once more at its end.
        if result.problem == nil {
            for request in requests where !request.noAck { request.answer.resume(returning: result) }
            requests.removeAll { !$0.noAck }
        }
        return TurnEnd(
            outcome: result.outcome, failure: result.failure, moved: result.moved)
    }

    private var isAskedFor: Bool { !requests.isEmpty && !isStopping }

    /// There was no turn: the band was not heard, or there is no adapter.
    private func couldNot(_ failure: BlueZFailure) async {
        guard !isStopping else { return }
        if failure == .notHeard { await wentAway() }
        let problem = failure.problem(of: band.address)
        parts.meter.failed(problem)
        await note(problem: problem)
        let result = SyncResult(stored: 0, problem: problem)
        for request in requests { request.answer.resume(returning: result) }
        requests = []
    }

    private func syncOnce(_ turn: RadioTurn, noAck: Bool) async -> SyncResult {
        let started = parts.clock.monotonic()
        let wasBonded = await parts.blueZ.isPaired(band.address, on: turn.adapter)
        do {
            // A store that can't take anything is found out before the band's radio is used.
            try await parts.store.checkHealth()
            let inbox = SessionInbox()
            let link = try await connect(turn, inbox)
            return await runSession(over: link, turn, inbox, noAck: noAck, started: started)
        } catch {
            // A stop is no problem of the band: nothing to show, or to keep for the next start.
            if isStopping { return SyncResult(stored: 0, problem: .stopping) }
            let failure = error as? BlueZFailure
            if let result = await bondFailed(failure, wasBonded: wasBonded, on: turn.adapter) {
                return result
            }
            guard let failure else { return await failed(.unexpected(error), stored: 0) }
            var result = await failed(
                failure.problem(of: band.address), stored: 0, SyncOutcome(failure, moved: false))
            result.failure = failure
            return result
        }
    }

    /// It was heard just now: longer than this it does not take, and an attempt to a band that went away keeps the radio
    /// from everything else, on some boards Wi-Fi too.
    static let connectDeadline = Duration.seconds(25)

    private func connect(_ turn: RadioTurn, _ inbox: SessionInbox) async throws -> BandLink {
        guard !isStopping else { throw BlueZFailure.stopped }
        // For a bulk transfer; where this process may not ask, the controller's default is slower, no more.
        _ = await parts.blueZ.requestShortInterval(for: [band.address], on: turn.adapter)
        return try await parts.blueZ.connect(
            band.address, on: turn.adapter, deadline: Self.connectDeadline, onConnected: turn.linked
        ) { _ in
            inbox.linkLost()
        }
    }

    private func runSession(
        over link: BandLink, _ turn: RadioTurn, _ inbox: SessionInbox, noAck: Bool, started: MonotonicTime
    ) async -> SyncResult {
        // Together: a look at the acks may come with the next await.
        isAckForbidden = noAck
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
        let mode = noAck ? .observe : band.mode.effective(await parts.ownership.lease(of: band))
        if !noAck {
            // A look that began before the server was asked says less than its answer.
            if isLooking { looksAgain = true }
            inbox.modeChanged(to: mode)
        }
        let runner = SessionRunner(
            link: link, inbox: inbox, device: band.device, mode: mode, ack: band.ack,
            connectionID: parts.newConnectionID(), store: parts.store, clock: parts.clock,
            hostWatch: parts.hostWatch, hooks: hooks(), meter: parts.meter,
            log: log)
        let wasBonded = await parts.blueZ.isPaired(band.address, on: turn.adapter)
        let (end, summary) = await runner.run()
        self.inbox = nil
        show { $0.syncing = false }
        await link.disconnect()
        show { $0.connected = false }
        let took = parts.clock.monotonic().milliseconds - started.milliseconds
        log.ended(end, summary, took: .milliseconds(took))
        let failure = await runner.linkFailure(end)
        if live.value.ring != nil {
            await bondWorked()
        } else if !isStopping,
            let result = await bondFailed(failure, wasBonded: wasBonded, on: turn.adapter)
        {
            return result
        }
        // What breaks while this stops is no problem of the band, nothing to keep for the next start.
        if isStopping, end != .caughtUp { return SyncResult(stored: summary.stored, problem: .stopping) }
        var result = await settle(end, summary)
        result.failure = failure
        return result
    }

    private func settle(_ end: SessionEnd, _ summary: SessionSummary) async -> SyncResult {
        switch end {
        case .caughtUp:
            fruitless = 0
            await note(problem: nil)
            return SyncResult(stored: summary.stored, problem: nil, outcome: .caughtUp, moved: true)
        case .stopped:
            return SyncResult(stored: summary.stored, problem: .stopping)
        case .retryOnNewConnection, .ringChanged:
            fruitless = summary.stored > 0 ? 0 : fruitless + 1
            return SyncResult(
                stored: summary.stored, problem: .interrupted, outcome: .goingOn(fruitless: fruitless),
                moved: summary.stored > 0)
        case .linkLost:
            return await failed(.interrupted, stored: summary.stored)
        case .stalled:
            return await failed(.stalled, stored: summary.stored)
        case .protocolFault(let text):
            return await failed(.protocolFault(text), stored: summary.stored)
        case .failed(.link(let problem)), .failed(.store(let problem)):
            return await failed(problem, stored: summary.stored)
        }
    }

    func failed(_ problem: Problem, stored: Int, _ outcome: SyncOutcome? = nil) async -> SyncResult {
        show { live in
            live.connected = false
            live.syncing = false
        }
        parts.meter.failed(problem)
        await note(problem: problem)
        return SyncResult(
            stored: stored, problem: problem, outcome: outcome ?? .failed(moved: stored > 0),
            moved: stored > 0)
    }

    // MARK: what status shows

    private func noteContact(_ link: BandLink) async {
        // Together: where nothing answers they cost one deadline, not three.
        async let mtu = link.mtu()
        async let battery = link.battery()
        async let firmware = link.firmware()
        async let name = parts.blueZ.device(band.address)?.name
        let contact = ContactNote(
            time: parts.clock.wall(), mtu: await mtu, battery: await battery, firmware: await firmware,
            name: await name)
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

/// How one sync ended, for whoever asked and for the band's next turn.
struct SyncResult: Sendable {
    var stored: Int
    var problem: Problem?
    var outcome = SyncOutcome.again
    var failure: BlueZFailure?
    /// The radio works: records came, or the band had none.
    var moved = false
}
