import GatewayModel
import IngestAPI
import UploadDecisions

/// The server's state of a device, and what is put of its status.
extension UploadWorker {
    /// Before the first batch of a device, and from time to time: other gateways may be at work on it. Best just before
    /// a status is put, when the one that is there is another's if anybody put one since the last time.
    func wantsState(_ device: DeviceID, now: Duration, beforeReport: Bool = false) -> Bool {
        guard let note = notes[device] else { return false }
        let age = settings.intervals.state * (beforeReport ? 1 : 2)
        return now >= (note.stateAskedAt ?? now) + age && reports.isDue(.state, of: device.text, now: now)
    }

    func readState(of device: DeviceID, _ outbox: any UploadOutbox, token: String, now: Duration) throws {
        notes[device]?.stateAskedAt = now
        let isFirst = notes[device]?.isStateRead == false
        let outcome = server.deviceState(device, token: token)
        let (decision, state) = StatusTable.decideState(outcome, device: device.text, wallTime: wallTime)
        if isFirst {
            schedule.stateEnded(decision, device: device.text, now: clock.monotonic, using: &random)
        } else {
            _ = reportEnded(decision, .state, of: device, since: now)
        }
        switch decision {
        case .taken:
            guard let state else { return }
            try compareCounts(state, of: device, outbox)
            try takeOver(state, of: device, outbox, onlyNews: !isFirst)
            stateIsKnown(ServerDeviceState(state), of: device, isFirst: isFirst)
        // A server that can't say what it has can still take samples.
        case .unknownDevice, .passOver:
            if decision == .unknownDevice {
                try compareCounts(DeviceState(deviceID: device.text), of: device, outbox)
            }
            stateIsKnown(nil, of: device, isFirst: isFirst, isSaid: decision == .unknownDevice)
        case .settle, .halve, .quarantine, .sendIdentity, .waitForCredentials, .pause, .backOff, .stop:
            break
        }
    }

    /// A server that was put back to an older backup lacks what it confirmed. That is told, and only a person's `reconcile` sends it
    /// again: it may be another account's server, or one on which somebody had it erased.
    private func compareCounts(_ state: DeviceState, of device: DeviceID, _ outbox: any UploadOutbox) throws {
        guard let there = state.count else { return }
        noteLacking(try outbox.lacking(device, there: there), of: device)
    }

    func noteLacking(_ count: Int, of device: DeviceID) {
        notes[device]?.lacking = count
        if count > 0 {
            schedule.reportStands(.samples, .serverLacks(count: count), device: device.text)
        } else {
            schedule.reportTaken(.samples, device: device.text)
        }
    }

    private func stateIsKnown(
        _ state: ServerDeviceState?, of device: DeviceID, isFirst: Bool, isSaid: Bool = true
    ) {
        notes[device]?.isStateRead = true
        guard isFirst else { return }
        // A server that was away has not said yet who owns it.
        lookAtLeases(of: device)
        if isSaid { hooks.serverState(device, state) }
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

    /// What came of a request that samples do not wait for.
    func reportEnded(
        _ decision: UploadDecision, _ request: ReportSchedule.Request, of device: DeviceID,
        since start: Duration
    ) -> SideSchedule.Outcome {
        reports.ended(
            decision, request, of: device.text, since: start, unknownRest: settings.intervals.refusedReport,
            schedule: &schedule, now: clock.monotonic, using: &random)
    }

    /// - Parameter atRest: nothing else is left to send, so a first report is up to date.
    func sendReport(
        of device: DeviceID, _ outbox: any UploadOutbox, token: String, now: Duration, atRest: Bool
    ) throws -> Bool {
        guard let note = notes[device], reports.isDue(.status, of: device.text, now: now) else {
            return false
        }
        let isFirst = atRest && note.lastReport == nil
        guard isFirst || now >= note.reportedAt + settings.intervals.report else { return false }
        guard let report = try outbox.report(of: device) else { return false }
        // One that may not have been stored goes again, if more slowly.
        let isAgain = note.isReportDoubted && now >= note.reportedAt + settings.intervals.refusedReport
        guard report != note.lastReport || isAgain else {
            // One that was not taken is out of date, and the server has this one.
            schedule.reportTaken(.status, device: device.text)
            return false
        }
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
        if isDoubted || statusEnded(decision, of: device, since: now) {
            try outbox.noteTaken(report, of: device)
            notes[device]?.lastReport = report
            notes[device]?.isReportDoubted = isDoubted
            notes[device]?.reportedAt = now
        }
        return true
    }

    /// True = taken.
    private func statusEnded(_ decision: UploadDecision, of device: DeviceID, since start: Duration) -> Bool {
        switch reportEnded(decision, .status, of: device, since: start) {
        case .answered:
            schedule.reportTaken(.status, device: device.text)
            return true
        case .refused:
            if case .passOver(let refusal) = decision {
                schedule.reportRefused(.status, code: refusal.code, device: device.text)
            }
            reports.rest(.status, of: device.text, until: start + settings.intervals.refusedReport)
            return false
        case .failed:
            return false
        }
    }
}
