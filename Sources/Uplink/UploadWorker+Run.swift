import GatewayModel
import UploadDecisions

/// Runs, as the log and the board see them.
extension UploadWorker {
    /// What is remembered from one run to the next.
    struct RunNotes {
        /// Failures that the board was told of.
        var failuresShown = 0
        /// Failures before the open run.
        var failuresBefore = 0
        /// The cause of the last run's failure; nil = it finished.
        var lastCause: String?
    }

    /// Just before a batch goes out, so that the start names it.
    func runSends(_ syncID: String, samples: Int) {
        guard run.sending(syncID, samples: samples, at: clock.monotonic) else { return }
        board.log(
            .runStarted(syncID: syncID, pending: board.pending, isRepeat: runNotes.lastCause != nil))
    }

    func stepEnded(since start: Duration, goesOn: Bool) {
        run.stepped(takeTraffic(), since: start)
        if schedule.failureCount > runNotes.failuresShown, let failure = schedule.lastFailure {
            runNotes.failuresShown = schedule.failureCount
            board.failed(explained(failure).apiCode, at: clock.wall)
        }
        guard !goesOn else { return }
        endRun(board.isPaused ? .paused : host.metered == nil ? .idle : .metered)
    }

    /// What failed and still does is a failure; what failed and came right within the run is none.
    func endRun(_ end: UploadEvent.RunEnd) {
        defer { runNotes.failuresBefore = schedule.failureCount }
        guard run.isOpen else { return }
        let wasTold = run.isTold
        let report = run.close(at: clock.monotonic)
        let hasFailed = schedule.failureCount > runNotes.failuresBefore && schedule.problem != nil
        guard hasFailed, let failure = schedule.lastFailure.map(explained) else {
            if schedule.problem == nil { runNotes.lastCause = nil }
            if wasTold { board.log(.runFinished(report, end: end, pending: board.pending)) }
            return
        }
        let isRepeat = runNotes.lastCause == failure.code
        if !wasTold {
            board.log(.runStarted(syncID: nil, pending: board.pending, isRepeat: runNotes.lastCause != nil))
        }
        runNotes.lastCause = failure.code
        board.log(
            .runFailed(
                report, code: failure.apiCode, cause: failure.code, pending: board.pending, isRepeat: isRepeat
            ))
    }
}
