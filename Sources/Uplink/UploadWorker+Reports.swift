import GatewayModel
import IngestAPI
import UploadDecisions

/// What is not samples: the server's state of a device, its gaps, its status.
extension UploadWorker {
    private static let gapsPerRequest = 500

    func readState(of device: DeviceID, token: String) {
        let outcome = server.deviceState(device, token: token)
        let (decision, state) = StatusTable.decideState(outcome, device: device.text, wallTime: wallTime)
        schedule.requestEnded(decision, device: device.text, now: clock.monotonic, using: &random)
        switch decision {
        case .taken:
            guard let state = state.map({ ServerDeviceState($0) }) else { return }
            notes[device]?.isStateRead = true
            serverState(device, state)
        case .unknownDevice:
            notes[device]?.isStateRead = true
            serverState(device, nil)
        case .passOver:
            // A server that can't say what it has can still take samples.
            notes[device]?.isStateRead = true
        case .settle, .halve, .quarantine, .sendIdentity, .waitForCredentials, .pause, .backOff, .stop:
            break
        }
    }

    func mayReport(_ device: DeviceID, now: Duration) -> Bool {
        guard let note = notes[device] else { return false }
        return note.reportsRestUntil.map { $0 <= now } ?? true
    }

    /// False when there was none to send.
    func sendGaps(of device: DeviceID, _ outbox: any UploadOutbox, token: String, now: Duration) throws
        -> Bool
    {
        let gaps = try outbox.unsentGaps(of: device, limit: Self.gapsPerRequest)
        guard !gaps.isEmpty else { return false }
        let outcome = server.putGaps(gaps, of: device, token: token)
        guard ended(outcome, device: device, now: now) else { return true }
        try outbox.markSent(gaps, of: device)
        board.log(.gapsSent(device: device, count: gaps.count))
        return true
    }

    /// - Parameter atRest: nothing else is left to send, so a first report is up to date.
    func sendReport(
        of device: DeviceID, _ outbox: any UploadOutbox, token: String, now: Duration, atRest: Bool
    ) throws -> Bool {
        guard let note = notes[device] else { return false }
        let isFirst = atRest && note.lastReport == nil
        guard isFirst || now >= note.reportedAt + settings.intervals.report else { return false }
        guard let report = try outbox.report(of: device), report != note.lastReport else { return false }
        let outcome = server.putStatus(report, of: device, token: token)
        if ended(outcome, device: device, now: now) {
            notes[device]?.lastReport = report
            notes[device]?.reportedAt = now
        }
        return true
    }

    /// Judges the answer to a PUT; true = taken.
    private func ended(_ outcome: AttemptOutcome, device: DeviceID, now: Duration) -> Bool {
        let decision = StatusTable.decidePut(outcome, wallTime: wallTime)
        schedule.requestEnded(decision, device: device.text, now: clock.monotonic, using: &random)
        switch decision {
        case .taken:
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
