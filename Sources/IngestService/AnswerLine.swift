import Locking

/// Where answers wait for their turn: see `AnswerTurns`.
final class AnswerLine: Sendable {
    private struct State {
        var turns: AnswerTurns
        var asked: UInt64 = 0
        var waiting: [UInt64: CheckedContinuation<Bool, Never>] = [:]
    }

    private let patience: Duration
    private let state: Guarded<State>

    /// `patience`: how long one waits.
    init(_ limits: AnswerTurns.Limits, patience: Duration) {
        self.patience = patience
        state = Guarded(State(turns: AnswerTurns(limits: limits)))
    }

    /// `LongAnswers.Overload` when it can't be its turn soon.
    func inTurn<Value>(_ account: String, _ body: () async throws -> Value) async throws -> Value {
        guard await takeTurn(account) else { throw LongAnswers.Overload() }
        defer { leave(account) }
        return try await body()
    }

    private func takeTurn(_ account: String) async -> Bool {
        await withCheckedContinuation { continuation in
            let (id, answer) = state.withLock { state in
                state.asked += 1
                let answer = state.turns.ask(state.asked, account: account)
                if answer == .wait { state.waiting[state.asked] = continuation }
                return (state.asked, answer)
            }
            switch answer {
            case .go: continuation.resume(returning: true)
            case .refused: continuation.resume(returning: false)
            case .wait:
                Task {
                    try? await Task.sleep(for: patience)
                    self.giveUp(id)
                }
            }
        }
    }

    private func leave(_ account: String) {
        let next = state.withLock { state in
            state.turns.leave(account: account).flatMap { state.waiting.removeValue(forKey: $0) }
        }
        next?.resume(returning: true)
    }

    private func giveUp(_ id: UInt64) {
        let waiter = state.withLock { state in
            state.turns.giveUp(id) ? state.waiting.removeValue(forKey: id) : nil
        }
        waiter?.resume(returning: false)
    }
}
