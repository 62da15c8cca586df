import BandProfile
import GatewayModel
import IngestAPI
import Store
import UploadDecisions

/// The gaps of a device: what is missing for good is said to the server, before the batches whose `complete_through` counts it.
extension UploadWorker {
    /// Gaps that were found gone, and of which the server was asked a moment ago whether somebody knows better.
    struct KnownCauses {
        private var keys: Set<GapKey> = []
        private var until: Duration?

        /// True for one that may go up with the cause that it has.
        func mayGo(_ gap: APIGap) -> Bool {
            gap.cause != .freedElsewhere || gap.healedAt != nil || keys.contains(GapKey(gap))
        }

        mutating func expire(now: Duration) {
            if let until, until <= now { self = KnownCauses() }
        }

        /// - Parameter gaps: a page at most.
        mutating func asked(about gaps: [APIGap], until: Duration) {
            keys = Set(gaps.map(GapKey.init))
            self.until = until
        }
    }

    /// At most one request. False when there was none to make.
    func sendGaps(of device: DeviceID, _ outbox: any UploadOutbox, token: String, now: Duration) throws
        -> Bool
    {
        guard reports.isDue(.gaps, of: device.text, now: now), notes[device]?.gapLists.mayGo(now: now) == true
        else { return false }
        notes[device]?.causes.expire(now: now)
        var gaps = try nextGaps(of: device, outbox)
        if let causes = notes[device]?.causes, gaps.contains(where: { !causes.mayGo(APIGap($0)) }) {
            if reports.isDue(.causes, of: device.text, now: now) {
                try learnCauses(of: device, outbox, token: token, now: now)
                return true
            }
            // The others need not wait for that.
            gaps = try nextGaps(of: device, outbox) { !causes.mayGo($0) }
        }
        guard !gaps.isEmpty else {
            if notes[device]?.gapLists.isWhole == true { schedule.reportTaken(.gaps, device: device.text) }
            return try checkLedger(of: device, outbox, token: token, now: now)
        }
        try put(gaps, of: device, outbox, token: token, now: now)
        return true
    }

    /// The last PUT of a gap counts, also when it is an old one that came late: what the server has is looked at once after a
    /// start, and after a PUT of which nobody knows what became of it. False when there was no request to make.
    private func checkLedger(
        of device: DeviceID, _ outbox: any UploadOutbox, token: String, now: Duration
    ) throws -> Bool {
        guard notes[device]?.isLedgerChecked == false, reports.isDue(.causes, of: device.text, now: now)
        else { return false }
        guard try outbox.hasSentGaps(of: device) else {
            notes[device]?.isLedgerChecked = true
            return false
        }
        switch readLedger(of: device, token: token, now: now) {
        case .shown(let ledger):
            let places = ledger.compactMap { key, gap in GapPlace(key).map { ($0, gap.lastSeq) } }
            _ = try outbox.sendGapsAgain(
                of: device, besides: Dictionary(places, uniquingKeysWith: { $1 }))
        case .unknownDevice:
            // They go again once a batch has made it known.
            _ = reportEnded(.unknownDevice, .gaps, of: device, since: now)
            return true
        case .notNow: return true
        case .never: break
        }
        notes[device]?.isLedgerChecked = true
        return true
    }

    private enum Ledger {
        case shown([GapKey: ShownGap])
        case unknownDevice
        case notNow
        /// The server does not show it, or has not for long.
        case never
    }

    private func readLedger(of device: DeviceID, token: String, now: Duration) -> Ledger {
        let (decision, ledger) = StatusTable.decideLedger(
            server.gaps(of: device, token: token), wallTime: wallTime)
        if decision == .unknownDevice {
            schedule.requestEnded(.taken, device: device.text, now: clock.monotonic, using: &random)
            return .unknownDevice
        }
        if reportEnded(decision, .causes, of: device, since: now) == .failed {
            return reports.isGivenUp(.causes, of: device.text, schedule) ? .never : .notNow
        }
        return ledger.map { .shown($0) } ?? .never
    }

    /// One list; empty when nothing may go now.
    private func nextGaps(
        of device: DeviceID, _ outbox: any UploadOutbox, keptBack: (APIGap) -> Bool = { _ in false }
    ) throws -> [Gap] {
        let (page, list) = try nextPage(of: device, outbox, keptBack: keptBack)
        return list.map { page[$0].gap }
    }

    /// One list, as indices into what was read for it.
    private func nextPage(
        of device: DeviceID, _ outbox: any UploadOutbox, keptBack: (APIGap) -> Bool = { _ in false }
    ) throws -> (page: [UnsentRow], list: [Int]) {
        var place = notes[device]?.gapLists.behind.flatMap { GapPlace($0) }
        while let lists = notes[device]?.gapLists {
            let page = try outbox.unsentGaps(of: device, behind: place, limit: GapLists.full)
            let unsent = page.map { UnsentGap(APIGap($0.gap), isFollowed: $0.isFollowed) }
            let list = lists.next(of: unsent, keptBack: keptBack)
            if !list.isEmpty { return (page, list) }
            if page.count == GapLists.full, let last = page.last {
                place = GapPlace(ring: last.gap.ring, firstSeq: last.gap.firstSeq)
            } else if notes[device]?.gapLists.wrap() == true {
                place = nil
            } else {
                break
            }
        }
        return ([], [])
    }

    private func put(
        _ gaps: [Gap], of device: DeviceID, _ outbox: any UploadOutbox, token: String, now: Duration
    ) throws {
        let put = gaps.map { APIGap($0) }
        var held: Set<GapKey> = []
        var (decision, isShown) = StatusTable.decidePut(
            server.putGaps(put, of: device, token: token), wallTime: wallTime
        ) { body in
            held = PutProof.held(put, body)
            return held.count == put.count
        }
        if decision == .taken, !isShown {
            // The server says that it took them, and not what it took.
            let (read, heldThere) = StatusTable.decideGapsHeld(
                server.gaps(of: device, token: token), put, wallTime: wallTime)
            held.formUnion(heldThere)
            decision = read
            isShown = held.count == put.count
        }
        // Records are complete through a gap that the server has: only what it shows counts as that.
        if !held.isEmpty {
            let sent = zip(gaps, put).filter { held.contains(GapKey($1)) }.map(\.0)
            try outbox.markSent(sent, of: device)
            notes[device]?.gapLists.taken(sent.count)
            board.log(.gapsSent(device: device, count: sent.count))
        }
        gapsEnded(decision, put, missing: put.filter { !held.contains(GapKey($0)) }, of: device, since: now)
    }

    /// - Parameter missing: those of `put` that the server did not show.
    private func gapsEnded(
        _ decision: UploadDecision, _ put: [APIGap], missing: [APIGap], of device: DeviceID,
        since start: Duration
    ) {
        let until = start + settings.intervals.refusedReport
        switch decision {
        // It shows nothing of them, or can't: an answer that says nothing ends no back-off.
        case .taken where missing.count == put.count, .passOver(.notStored) where missing.count == put.count:
            notes[device]?.gapLists.rest(until: until)
            schedule.reportRefused(.gaps, code: Refusal.notStored.code, device: device.text)
        case .taken, .passOver(.notStored):
            _ = reportEnded(.taken, .gaps, of: device, since: start)
            if !missing.isEmpty {
                notes[device]?.gapLists.passOver(missing, until: until)
                schedule.reportRefused(.gaps, code: Refusal.notStored.code, device: device.text)
            } else if notes[device]?.gapLists.isWhole == true {
                schedule.reportTaken(.gaps, device: device.text)
            }
        case .passOver(let refusal):
            _ = reportEnded(decision, .gaps, of: device, since: start)
            if notes[device]?.gapLists.refused(put, until: until) == true {
                schedule.reportRefused(.gaps, code: refusal.code, device: device.text)
            }
        case .backOff, .stop:
            // It may come to the server late, after a newer one.
            notes[device]?.isLedgerChecked = false
            _ = reportEnded(decision, .gaps, of: device, since: start)
        case .unknownDevice, .settle, .halve, .quarantine, .sendIdentity, .waitForCredentials, .pause:
            _ = reportEnded(decision, .gaps, of: device, since: start)
        }
    }

    /// Whoever freed records that it could not read has said so, and is not to be overruled by who only found them gone.
    private func learnCauses(
        of device: DeviceID, _ outbox: any UploadOutbox, token: String, now: Duration
    ) throws {
        switch readLedger(of: device, token: token, now: now) {
        case .shown(let ledger):
            _ = try outbox.learnCauses(ledger.compactMap { $1.gap($0).flatMap { Gap($0) } }, of: device)
        // Gaps that are not told at all would be worse than a cause that is not exact.
        case .unknownDevice, .never: break
        case .notNow: return
        }
        // Those after the next list too: a server that refuses some is sent many lists in a row.
        let next = try nextPage(of: device, outbox).page.map { APIGap($0.gap) }
        notes[device]?.causes.asked(about: next, until: clock.monotonic + settings.intervals.idle)
    }
}

extension GapPlace {
    /// Nil for a name that is no ring's.
    fileprivate init?(_ key: GapKey) {
        guard let ring = RingID(key.ring) else { return nil }
        self.init(ring: ring, firstSeq: key.firstSeq)
    }
}
