import Locking

/// Where answers wait for their turn: see `AnswerTurns`.
final class AnswerLine: Sendable {
    private struct Waiter {
        var continuation: CheckedContinuation<Bool, Never>
        /// Ends the waiting when it has been too long; cancelled when it is over before.
        var timer: Task<Void, Never>
    }

    private struct State {
        var turns: AnswerTurns
        var asked: UInt64 = 0
        var waiting: [UInt64: Waiter] = [:]
    }

    private let patience: Duration
    private let sleep: @Sendable (Duration) async throws -> Void
    private let state: Guarded<State>

    /// `patience`: how long one waits. `sleep`: throws when its task is cancelled.
    init(
        _ limits: AnswerTurns.Limits, patience: Duration,
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.patience = patience
        self.sleep = sleep
        state = Guarded(State(turns: AnswerTurns(limits: limits)))
    }

    /// Those whose turn it is not yet.
    var waiting: Int { state.withLock { $0.waiting.count } }

    /// `LongAnswers.Overload` when it can't be its turn soon.
    func inTurn<Value>(_ account: String, _ body: () async throws -> Value) async throws -> Value {
        guard await takeTurn(account) else { throw LongAnswers.Overload() }
        defer { leave(account) }
        return try await body()
    }

    private func takeTurn(_ account: String) async -> Bool {
        await withCheckedContinuation { continuation in
            let answer = state.withLock { state in
                state.asked += 1
                let id = state.asked
                let answer = state.turns.ask(id, account: account)
                // Under the lock: whoever ends the waiting finds what to cancel.
                if answer == .wait {
                    state.waiting[id] = Waiter(continuation: continuation, timer: timer(id))
                }
                return answer
            }
            switch answer {
            case .go: continuation.resume(returning: true)
            case .refused: continuation.resume(returning: false)
            case .wait: break
            }
        }
    }

    private func timer(_ id: UInt64) -> Task<Void, Never> {
        Task { [sleep, patience] in
            do {
                try await sleep(patience)
            } catch {
                return
            }
            self.giveUp(id)
        }
    }

    private func leave(_ account: String) {
        let next = state.withLock { state in
            state.turns.leave(account: account).flatMap { state.waiting.removeValue(forKey: $0) }
        }
        next?.timer.cancel()
        next?.continuation.resume(returning: true)
    }

    private func giveUp(_ id: UInt64) {
        let waiter = state.withLock { state in
            state.turns.giveUp(id) ? state.waiting.removeValue(forKey: id) : nil
        }
        waiter?.continuation.resume(returning: false)
    }
}
