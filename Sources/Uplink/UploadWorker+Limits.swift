import GatewayModel
import IngestAPI
import UploadDecisions

/// What holds the upload back though nothing failed, and what lets it try again sooner.
extension UploadWorker {
    /// A step of the wall clock this large may make a certificate valid, ms.
    private static let clockStep: Int64 = 30_000

    /// What is known of the host besides the answers.
    struct HostNotes {
        var prompts: PromptGate
        var budget: SendBudget
        var metered: MeteredWait?
        /// Requests that are counted already.
        var counted = Traffic()
        /// Wall minus monotonic time, ms, when a certificate was refused for its time.
        var clockOffset: Int64?
        /// The last look ended because what was sent is not paid for yet.
        var isPaced = false
    }

    // MARK: what is sent is counted

    func takeTraffic() -> Traffic {
        let traffic = server.notes.total - host.counted
        host.counted = server.notes.total
        host.budget.spent(traffic, now: clock.monotonic)
        return traffic
    }

    /// Nil = the next request may go. It is the same run that goes on then.
    func restPaced(now: Duration) -> Duration? {
        guard let until = host.budget.wait(now: now) else { return nil }
        host.isPaced = true
        return min(until - now, settings.intervals.idle)
    }

    // MARK: metered time and connections

    /// Nil = history may go; also while a person waits who asked for it.
    func meteredWait() -> MeteredWait? {
        let wall = clock.wall
        let decided = MeteredWait.decide(
            settings.limits.meteredHours,
            minute: MeteredHours.minute(of: APITime(wall), offsetMinutes: hooks.hostOffset(wall)),
            settings.limits.onMetered, hooks.network())
        let wait = commands.runs.isEmpty ? decided : nil
        if wait != host.metered {
            host.metered = wait
            board.show(wait)
        }
        return wait
    }

    // MARK: surroundings

    /// The network came, say.
    func prompted() { host.prompts.prompted(now: clock.monotonic) }

    /// True = what waited on the gateway's own account is tried now.
    func takePrompt(now: Duration) -> Bool {
        guard host.prompts.isDue(now: now) else { return false }
        surroundingsChanged(now: now)
        return true
    }

    /// Looked at while the schedule waits.
    func lookAround(now: Duration) {
        if server.transport.filesChanged() { surroundingsChanged(now: now) }
        guard case .noAnswer(.certificateTime) = schedule.lastFailure, schedule.problem != nil else {
            return host.clockOffset = nil
        }
        let offset = clock.wall.milliseconds - Int64(clock.monotonic / .milliseconds(1))
        guard let before = host.clockOffset else { return host.clockOffset = offset }
        guard abs(offset - before) >= Self.clockStep else { return }
        host.clockOffset = offset
        surroundingsChanged(now: now)
    }

    private func surroundingsChanged(now: Duration) {
        schedule.surroundingsChanged(now: now)
        reports.surroundingsChanged()
        personReads.surroundingsChanged()
        personWrites.surroundingsChanged()
        comparisonSchedule.surroundingsChanged()
        commands.leases.schedule.surroundingsChanged()
        commands.leases.lookAt = .zero
    }

    /// With what is known besides the answers.
    func explained(_ problem: UploadProblem) -> UploadProblem {
        problem.seen(
            in: Surroundings(
                network: hooks.network(), certificate: server.notes.refused(at: wallTime), wall: wallTime,
                clock: hooks.hostTrust()))
    }
}
