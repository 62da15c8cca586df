import GatewayModel
import Locking
import UploadDecisions

/// What the upload thread shows to others, and the log that it speaks to. A problem is logged when it begins and when
/// it ends, not at every try.
final class UploadBoard: Sendable {
    private let state = Guarded(UploadSnapshot())
    private let total = Guarded(0)
    private let comparing = Guarded<ReconcileProgress?>(nil)
    let log: @Sendable (UploadEvent) -> Void

    init(log: @escaping @Sendable (UploadEvent) -> Void) { self.log = log }

    var snapshot: UploadSnapshot { state.withLock { $0 } }

    var pending: Int? {
        get { state.withLock { $0.pending } }
        set { state.withLock { $0.pending = newValue } }
    }

    /// Samples that the server confirmed since the start.
    var confirmedTotal: Int { total.withLock { $0 } }

    var waitsUntil: Timestamp? {
        get { state.withLock { $0.waitsUntil } }
        set { state.withLock { $0.waitsUntil = newValue } }
    }

    /// The comparison that is under way.
    var reconciling: ReconcileProgress? {
        get { comparing.withLock { $0 } }
        set { comparing.withLock { $0 = newValue } }
    }

    func confirmed(_ count: Int, at time: Timestamp) {
        total.withLock { $0 += count }
        state.withLock { state in
            state.lastSuccess = time
            state.pending = state.pending.map { max(0, $0 - count) }
        }
    }

    /// The batch that is under way; 0 = none.
    func sending(_ count: Int) { state.withLock { $0.inFlight = count } }

    func failed(_ code: String, at time: Timestamp) {
        state.withLock { state in
            state.lastErrorCode = code
            state.lastErrorAt = time
        }
    }

    /// History waits for a time or a connection that is not metered, or does not any more.
    func show(_ wait: MeteredWait?) {
        state.withLock { $0.meteredWait = wait }
        log(wait.map { .meteredWaitBegan($0) } ?? .meteredWaitEnded)
    }

    var isPaused: Bool {
        get { state.withLock { $0.isPaused } }
        set { state.withLock { $0.isPaused = newValue } }
    }

    /// Leases can't be asked for; nil = they can.
    func show(leaseProblem problem: UploadProblem?, now: Timestamp) {
        state.withLock { state in
            state.leaseProblem = problem.map { Problem($0, since: state.leaseProblem?.since ?? now) }
        }
    }

    func show(_ state: UploadSnapshot.State) { self.state.withLock { $0.state = state } }

    func show(_ problem: UploadProblem?, isSending: Bool, now: Timestamp) {
        let events: [UploadEvent] = state.withLock { state in
            state.state = isSending ? .sending : .waiting
            guard state.problem?.code != problem?.code else {
                // The same trouble in other words keeps its beginning.
                state.problem = problem.map { Problem($0, since: state.problem?.since ?? now) }
                return []
            }
            let old = state.problem
            state.problem = problem.map { Problem($0, since: now) }
            if let new = state.problem { return [.problemBegan(new)] }
            return old.map { [.problemEnded(code: $0.code)] } ?? []
        }
        for event in events { log(event) }
    }
}

extension Problem {
    init(_ problem: UploadProblem, since: Timestamp?) {
        self.init(problem.condition, problem.parameters, since: since)
    }
}
