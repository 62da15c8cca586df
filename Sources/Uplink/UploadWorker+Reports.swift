import GatewayModel
import IngestAPI
import UploadDecisions

/// What is not samples: the server's state of a device, its gaps, its status.
extension UploadWorker {
    /// Before the first batch of a device, and from time to time: other gateways may be at work on it. Best just before
    /// a status is put, when the one that is there is another's if anybody put one since the last time.
    func wantsState(_ device: DeviceID, now: Duration, beforeReport: Bool = false) -> Bool {
        guard let note = notes[device] else { return false }
        let age = settings.intervals.state * (beforeReport ? 1 : 2)
        return !note.isStateRead || now >= (note.stateAskedAt ?? now) + age
    }

    func readState(of device: DeviceID, _ outbox: any UploadOutbox, token: String, now: Duration) throws {
        notes[device]?.stateAskedAt = now
        let isFirst = notes[device]?.isStateRead == false
        let outcome = server.deviceState(device, token: token)
        let (decision, state) = StatusTable.decideState(outcome, device: device.text, wallTime: wallTime)
        schedule.requestEnded(decision, device: device.text, now: clock.monotonic, using: &random)
        switch decision {
        case .taken:
            guard let state else { return }
            try takeOver(state, of: device, outbox, onlyNews: !isFirst)
            notes[device]?.isStateRead = true
            // A server that was away has not said yet who owns it.
            if isFirst {
                lookAtLeases(of: device)
                hooks.serverState(device, ServerDeviceState(state))
            }
        case .unknownDevice:
            notes[device]?.isStateRead = true
            if isFirst {
                lookAtLeases(of: device)
                hooks.serverState(device, nil)
            }
        case .passOver:
            // A server that can't say what it has can still take samples.
            notes[device]?.isStateRead = true
        case .settle, .halve, .quarantine, .sendIdentity, .waitForCredentials, .pause, .backOff, .stop:
            break
        }
    }

    /// Corrections that wait go above what the server has seen, before any of them is sent.
    private func takeOver(
        _ state: DeviceState, of device: DeviceID, _ outbox: any UploadOutbox, onlyNews: Bool
    ) throws {
        let news = try outbox.raiseVersions(
            of: device, above: ServerDeviceState(state).maxVersion,
            onlyNews: onlyNews)
        if news.raised > 0 { board.log(.versionsRaised(device: device, count: news.raised)) }
        let isForeign = try state.status.map { try !outbox.mayBeOurs($0, of: device) } ?? false
        if news.isNews || isForeign { try outbox.noteOthers(of: device) }
    }

    func mayReport(_ device: DeviceID, now: Duration) -> Bool {
        guard let note = notes[device] else { return false }
        return note.unknownUntil.map { $0 <= now } ?? true
    }

    /// False when there was none to send.
    func sendGaps(of device: DeviceID, _ outbox: any UploadOutbox, token: String, now: Duration) throws
        -> Bool
    {
        var gaps = try nextGaps(of: device, outbox)
        guard !gaps.isEmpty else { return false }
        if gaps.contains(where: { $0.cause == .freedElsewhere && $0.healedAt == nil }) {
            guard try learnCauses(of: device, outbox, token: token) else { return true }
            gaps = try nextGaps(of: device, outbox)
            guard !gaps.isEmpty else { return true }
        }
        let put = gaps.map { APIGap($0) }
        let (decision, isShown) = StatusTable.decidePut(
            server.putGaps(put, of: device, token: token), wallTime: wallTime
        ) { PutProof.shows(put, $0) }
        // Records are complete through a gap that the server has: only what it shows counts as that. An answer that shows
        // nothing is none yet, and ends no back-off.
        let held =
            decision == .taken && !isShown ? readBack(put, of: device, token: token) : decision
        guard gapsEnded(held, put, of: device, now: now) else { return true }
        try outbox.markSent(gaps, of: device)
        board.log(.gapsSent(device: device, count: gaps.count))
        return true
    }

    private func nextGaps(of device: DeviceID, _ outbox: any UploadOutbox) throws -> [Gap] {
        let lists = notes[device]?.gapLists ?? GapLists()
        let gaps = try outbox.unsentGaps(of: device, limit: lists.readLimit)
        return lists.next(of: gaps.map { APIGap($0) }).map { gaps[$0] }
    }

    /// The server says that it took them, and not what it took.
    private func readBack(_ gaps: [APIGap], of device: DeviceID, token: String) -> UploadDecision {
        StatusTable.decideGapsHeld(server.gaps(of: device, token: token), gaps, wallTime: wallTime)
    }

    /// True = the server has them.
    private func gapsEnded(
        _ decision: UploadDecision, _ gaps: [APIGap], of device: DeviceID, now: Duration
    ) -> Bool {
        let until = now + settings.intervals.refusedReport
        switch decision {
        // Shown nothing, or something else: that ends no back-off, and fewer of them would not be shown either.
        case .passOver(.notStored):
            notes[device]?.gapLists.rest(until: until)
            schedule.reportRefused(.gaps, code: Refusal.notStored.code, device: device.text)
            return false
        case .passOver(let refusal):
            schedule.requestEnded(.taken, device: device.text, now: clock.monotonic, using: &random)
            if notes[device]?.gapLists.refused(gaps, until: until) == true {
                schedule.reportRefused(.gaps, code: refusal.code, device: device.text)
            }
            return false
        case .taken:
            schedule.requestEnded(.taken, device: device.text, now: clock.monotonic, using: &random)
            notes[device]?.gapLists.taken(gaps.count)
            if notes[device]?.gapLists.isWhole == true {
                schedule.reportTaken(.gaps, device: device.text)
            }
            return true
        case .unknownDevice, .settle, .halve, .quarantine, .sendIdentity, .waitForCredentials, .pause,
            .backOff, .stop:
            notTaken(decision, of: device, now: now)
            return false
        }
    }

    /// Whoever freed records that it could not read has said so, and is not to be overruled by who only found them gone.
    /// False = this is no time for requests.
    private func learnCauses(of device: DeviceID, _ outbox: any UploadOutbox, token: String) throws -> Bool {
        let (decision, gaps) = StatusTable.decideGaps(
            server.gaps(of: device, token: token), wallTime: wallTime)
        switch decision.asNotShown {
        case .taken:
            _ = try outbox.learnCauses((gaps ?? []).compactMap { Gap($0) }, of: device)
            return true
        case .unknownDevice, .passOver:
            return true
        case .settle, .halve, .quarantine, .sendIdentity, .waitForCredentials, .pause, .backOff, .stop:
            schedule.requestEnded(decision, device: device.text, now: clock.monotonic, using: &random)
            return false
        }
    }

    /// - Parameter atRest: nothing else is left to send, so a first report is up to date.
    func sendReport(
        of device: DeviceID, _ outbox: any UploadOutbox, token: String, now: Duration, atRest: Bool
    ) throws -> Bool {
        guard let note = notes[device], note.statusRestsUntil.map({ $0 <= now }) ?? true else {
            return false
        }
        let isFirst = atRest && note.lastReport == nil
        guard isFirst || now >= note.reportedAt + settings.intervals.report else { return false }
        guard let report = try outbox.report(of: device) else { return false }
        // One that may not have been stored goes again, if more slowly.
        let isAgain = note.isReportDoubted && now >= note.reportedAt + settings.intervals.refusedReport
        guard report != note.lastReport || isAgain else { return false }
        if wantsState(device, now: now, beforeReport: true) {
            try readState(of: device, outbox, token: token, now: now)
            return true
        }
        try outbox.noteSending(report, of: device)
        let (decision, isShown) = StatusTable.decidePut(
            server.putStatus(report, of: device, token: token), wallTime: wallTime
        ) { PutProof.shows(report, $0) }
        // One that is not shown may have been stored: it counts as sent for a while, and ends no back-off.
        let isDoubted = decision == .taken && !isShown
        if isDoubted { schedule.reportTaken(.status, device: device.text) }
        if isDoubted || statusEnded(decision, of: device, now: now) {
            try outbox.noteTaken(report, of: device)
            notes[device]?.lastReport = report
            notes[device]?.isReportDoubted = isDoubted
            notes[device]?.reportedAt = now
        }
        return true
    }

    /// True = taken.
    private func statusEnded(_ decision: UploadDecision, of device: DeviceID, now: Duration) -> Bool {
        switch decision {
        case .taken:
            schedule.requestEnded(.taken, device: device.text, now: clock.monotonic, using: &random)
            schedule.reportTaken(.status, device: device.text)
            return true
        case .passOver(let refusal):
            schedule.requestEnded(.taken, device: device.text, now: clock.monotonic, using: &random)
            schedule.reportRefused(.status, code: refusal.code, device: device.text)
            notes[device]?.statusRestsUntil = now + settings.intervals.refusedReport
            return false
        case .unknownDevice, .settle, .halve, .quarantine, .sendIdentity, .waitForCredentials, .pause,
            .backOff, .stop:
            notTaken(decision, of: device, now: now)
            return false
        }
    }

    /// A PUT was not taken, for nothing that was in it.
    private func notTaken(_ decision: UploadDecision, of device: DeviceID, now: Duration) {
        schedule.requestEnded(decision, device: device.text, now: clock.monotonic, using: &random)
        // The first batch makes a device known; until then look again slowly.
        if decision == .unknownDevice {
            notes[device]?.unknownUntil = now + settings.intervals.refusedReport
        }
    }
}
