import GatewayModel
import IngestAPI
import Locking
import UploadDecisions

/// What people ask of the upload while it runs. All of it is done by the upload thread, between two requests.
extension Uploader {
    /// A person paused or resumed it: what the store keeps of that is read now.
    public func pauseChanged() { _ = mailbox.give { $0?.pauseChanged() } }

    /// Sends what there is now, whatever the gateway's own waits are, and answers when nothing more can go or the time
    /// is over. Any number of people may ask: what they wait for is one run. Zero = it is only begun.
    public func uploadNow(deadline: Duration) async -> UploadReport {
        let answer = OneShot<UploadReport?>()
        let before = board.confirmedTotal
        guard mailbox.give({ worker in worker?.uploadNow(answer) ?? answer.set(nil) }) else {
            return report(since: before, isCut: true)
        }
        guard deadline > .zero else { return report(since: before, isCut: true) }
        return await answer.value(within: deadline, else: nil) ?? report(since: before, isCut: true)
    }

    /// What the server refused is tried again; nil = of every band. Returns how many samples.
    public func retryRefused(_ device: DeviceID?) async throws(UploadProblem) -> Int {
        let answer = OneShot<Result<Int, UploadProblem>>()
        let order: Mailbox.Order = { worker in
            answer.set(worker?.retryRefused(device) ?? .failure(.noAnswer(.aborted)))
        }
        guard mailbox.give(order) else { throw .noAnswer(.aborted) }
        return try await answer.value(within: .seconds(300), else: .failure(.noAnswer(.timedOut))).get()
    }

    /// Compares all that is here of a device with what the server has, of the last `days` UTC days or of all. What the
    /// server lacks goes up again, unless it is only a dry run. Nil = another comparison is under way.
    public func reconcile(_ device: DeviceID, days: Int?, isDryRun: Bool) async -> ReconcileReport? {
        let answer = OneShot<ReconcileReport?>()
        let limits = settings.intervals.limits.backOff
        let today = APITime(clock.wall).dayNumber
        let order: Mailbox.Order = { worker in
            let run = ReconcileRun(
                device: device, firstDay: days.map { today - Int64($0) + 1 }, isDryRun: isDryRun,
                limits: limits, answer: answer)
            guard let worker else { return run.answerStopped() }
            if !worker.reconcile(run) { answer.set(nil) }
        }
        guard mailbox.give(order) else { return nil }
        return await answer.value()
    }

    /// How far the comparison that is under way is.
    public var reconciling: ReconcileProgress? { board.reconciling }

    private func report(since before: Int, isCut: Bool) -> UploadReport {
        let snapshot = board.snapshot
        return UploadReport(
            sent: board.confirmedTotal - before, left: snapshot.pending ?? 0, problem: snapshot.problem,
            waitsUntil: snapshot.waitsUntil, isCut: isCut)
    }
}
