import GatewayModel
import IngestAPI
import Locking
import Store
import UploadDecisions

/// A pause, `upload now` and `upload retry`, as the upload thread does them.
extension UploadWorker {
    struct CommandState {
        /// People who wait for what goes up now.
        var runs: [Run] = []
        /// What is compared with the server for a person.
        var reconciliation: ReconcileRun?
        /// Devices whose gaps are to be looked for without a person, one after the other: when each is due.
        var gapLooks: [DeviceID: Duration] = [:]
        var leases: LeaseNotes
        var pause = PauseClock()
        /// As the store keeps it; nil = it was not read yet, or somebody changed it.
        var record: UploadRecord?
        /// The last failure that was written down.
        var noted: (code: String, at: Timestamp, writtenAt: Duration)?

        init(leases: LeaseNotes) { self.leases = leases }

        struct Run {
            var answer: OneShot<UploadReport?>
            var confirmedBefore: Int
        }
    }

    /// The thread ends: nobody waits for it any longer.
    func stopCommands() {
        for run in commands.runs { run.answer.set(nil) }
        commands.runs = []
        endReconcile(.noAnswer(.aborted))
    }

    // MARK: now

    func uploadNow(_ answer: OneShot<UploadReport?>) {
        let now = clock.monotonic
        commands.runs.append(.init(answer: answer, confirmedBefore: board.confirmedTotal))
        if let until = schedule.personAsks(now: now) {
            board.waitsUntil = wall(until, now: now)
            return settleRuns(problem: board.snapshot.problem)
        }
        reports.surroundingsChanged()
        nextLook = now
        // What waits for consent, too.
        nextRelease = now
    }

    /// A person waits for what goes up: it does not wait for cheaper hours then.
    var wantsAllNow: Bool { !commands.runs.isEmpty }

    /// After each look. Returns after what time at most there has to be another one.
    func lookEnded(goesOn: Bool) -> Duration {
        let now = clock.monotonic
        let until = schedule.wait(now: now) ?? schedule.resting(now: now).until
        board.waitsUntil = until.map { wall($0, now: now) }
        noteError()
        if goesOn { return settings.intervals.idle }
        let pause = commands.pause.holds(now: now) ? commands.record?.pause : nil
        settleRuns(problem: pause?.problem ?? board.snapshot.problem)
        guard let lease = nextLease(after: now) else { return settings.intervals.idle }
        nextLook = min(nextLook, lease)
        return lease - now
    }

    private func settleRuns(problem: Problem?) {
        for run in commands.runs {
            run.answer.set(
                UploadReport(
                    sent: board.confirmedTotal - run.confirmedBefore, left: board.pending ?? 0,
                    problem: problem, waitsUntil: board.waitsUntil))
        }
        commands.runs = []
    }

    private func wall(_ moment: Duration, now: Duration) -> Timestamp {
        Timestamp(milliseconds: clock.wall.milliseconds + Int64((moment - now) / .milliseconds(1)))
    }

    // MARK: pause

    func pauseChanged() {
        commands.record = nil
        nextLook = clock.monotonic
    }

    /// Nil = it is not paused. While it is, only questions are asked, as a band waits for their answers with an open link
    /// and what no answer came for may not be acked; and leases are kept.
    func restPaused(_ outbox: any UploadOutbox, now: Duration) throws -> Duration? {
        if commands.record == nil {
            let record = try outbox.record()
            commands.record = record
            commands.pause.take(
                since: record.pause.map { APITime($0.since) }, until: record.pause?.until.map { APITime($0) },
                wallTime: wallTime, now: now)
        }
        if commands.pause.isOver(now: now), let pause = commands.record?.pause {
            try outbox.endPause(pause)
            commands.record = nil
            return try restPaused(outbox, now: now)
        }
        let isPaused = commands.pause.holds(now: now)
        board.isPaused = isPaused
        guard isPaused else { return nil }
        // Some hundred bytes each; without them another gateway would take the bands.
        if let token = currentToken(), try keepLeases(outbox, token: token, now: now) { return .zero }
        try endLook(outbox, now: now)
        if let left = commands.pause.left(now: now) { nextLook = min(nextLook, now + left) }
        return max(.milliseconds(1), nextLook - now)
    }

    // MARK: retry

    func retryRefused(_ device: DeviceID?) -> Result<Int, UploadProblem> {
        do {
            let count = try openedOutbox().releaseRefused(device)
            if count > 0 { nextLook = min(nextLook, clock.monotonic + settings.intervals.merge) }
            return .success(count)
        } catch {
            return .failure(.outbox("\(error)"))
        }
    }

    // MARK: what outlives the daemon

    /// Written when a failure begins, becomes another or goes on for a while, not at every try.
    private func noteError() {
        let snapshot = board.snapshot
        guard let code = snapshot.lastErrorCode, let at = snapshot.lastErrorAt else { return }
        if let noted = commands.noted {
            guard noted.at != at else { return }
            let interval = noted.code == code ? Self.sameErrorInterval : Self.otherErrorInterval
            if clock.monotonic < noted.writtenAt + interval { return }
        }
        guard let outbox = try? openedOutbox(), (try? outbox.noteError(code, at: at)) != nil else { return }
        commands.noted = (code, at, clock.monotonic)
    }

    private static let sameErrorInterval = Duration.seconds(600)
    private static let otherErrorInterval = Duration.seconds(60)
}
