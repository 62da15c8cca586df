import GatewayModel
import IngestAPI
import UploadDecisions

/// What is not samples: the server's state of a device, its gaps, its status.
extension UploadWorker {
    private static let gapsPerRequest = 500

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
        return note.reportsRestUntil.map { $0 <= now } ?? true
    }

    /// False when there was none to send.
    func sendGaps(of device: DeviceID, _ outbox: any UploadOutbox, token: String, now: Duration) throws
        -> Bool
    {
        var gaps = try outbox.unsentGaps(of: device, limit: Self.gapsPerRequest)
        guard !gaps.isEmpty else { return false }
        if gaps.contains(where: { $0.cause == .freedElsewhere && $0.healedAt == nil }) {
            guard try learnCauses(of: device, outbox, token: token) else { return true }
            gaps = try outbox.unsentGaps(of: device, limit: Self.gapsPerRequest)
        }
        let put = gaps.map { APIGap($0) }
        let (decision, isShown) = StatusTable.decidePut(
            server.putGaps(put, of: device, token: token), wallTime: wallTime
        ) { PutProof.shows(put, $0) }
        // Records are complete through a gap that the server has: only what it shows counts as that. An answer that shows
        // nothing is none yet, and ends no back-off.
        let isHeld =
            decision == .taken && !isShown
            ? hasGaps(put, of: device, token: token, now: now) : ended(decision, device: device, now: now)
        guard isHeld else { return true }
        try outbox.markSent(gaps, of: device)
        board.log(.gapsSent(device: device, count: gaps.count))
        return true
    }

    /// The server says that it took them, and not what it took.
    private func hasGaps(_ gaps: [APIGap], of device: DeviceID, token: String, now: Duration) -> Bool {
        let decision = StatusTable.decideGapsHeld(
            server.gaps(of: device, token: token), gaps, wallTime: wallTime)
        return ended(decision, device: device, now: now)
    }

    /// Whoever freed records that it could not read has said so, and is not to be overruled by who only found them gone.
    /// False = this is no time for requests.
    private func learnCauses(of device: DeviceID, _ outbox: any UploadOutbox, token: String) throws -> Bool {
        let (decision, gaps) = StatusTable.decideGaps(
            server.gaps(of: device, token: token), wallTime: wallTime)
        switch decision {
        case .taken:
            _ = try outbox.learnCauses((gaps ?? []).compactMap { Gap($0) }, of: device)
            return true
        case .unknownDevice, .passOver, .waitForCredentials(.forbidden):
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
        guard let note = notes[device] else { return false }
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
        if ended(decision, device: device, now: now) {
            try outbox.noteTaken(report, of: device)
            notes[device]?.lastReport = report
            notes[device]?.isReportDoubted = !isShown
            notes[device]?.reportedAt = now
        }
        return true
    }

    /// What the answer to a PUT means for what follows; true = taken.
    private func ended(_ decision: UploadDecision, device: DeviceID, now: Duration) -> Bool {
        schedule.requestEnded(decision, device: device.text, now: clock.monotonic, using: &random)
        switch decision {
        case .taken:
            schedule.reportTaken(device: device.text)
            return true
        case .unknownDevice, .passOver:
            // The first batch makes a device known; until then, and with a server that refuses, look again slowly.
            notes[device]?.reportsRestUntil = now + settings.intervals.refusedReport
            return false
        case .settle, .halve, .quarantine, .sendIdentity, .waitForCredentials, .pause, .backOff, .stop:
            return false
        }
    }
}
