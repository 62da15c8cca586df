import Locking

/// One who finds something out, and others who come meanwhile and are told the same.
///
/// It is asked outside the connection's actor: while that waits for a database, nobody else's question is kept by it.
final class SharedProbe: Sendable {
    typealias Outcome = Result<Void, StorageFailure>

    private enum Turn {
        case finds
        case isTold(Outcome)
    }

    private struct State {
        var isRunning = false
        var waiting: [CheckedContinuation<Turn, Never>] = []
    }

    private let state = Guarded(State())
    /// Past it whoever asks is refused, not kept.
    private let mostWaiting: Int

    init(mostWaiting: Int = 1024) { self.mostWaiting = mostWaiting }

    /// Those who wait for what somebody else finds.
    var waiting: Int { state.withLock { $0.waiting.count } }

    /// What `find` comes to, or what that of somebody else does, which runs already.
    func outcome(_ find: () async throws(StorageFailure) -> Void) async throws(StorageFailure) {
        switch await turn() {
        case .isTold(let outcome): return try outcome.get()
        case .finds: break
        }
        let outcome: Outcome
        do throws(StorageFailure) {
            outcome = .success(try await find())
        } catch {
            outcome = .failure(error)
        }
        let others = state.withLock { state in
            defer { state = State() }
            return state.waiting
        }
        for other in others { other.resume(returning: .isTold(outcome)) }
        return try outcome.get()
    }

    private func turn() async -> Turn {
        await withCheckedContinuation { continuation in
            let turn: Turn? = state.withLock { state in
                guard state.isRunning else {
                    state.isRunning = true
                    return .finds
                }
                guard state.waiting.count < mostWaiting else {
                    return .isTold(
                        .failure(StorageFailure(.overloaded, "\(mostWaiting) wait for the same answer")))
                }
                state.waiting.append(continuation)
                return nil
            }
            if let turn { continuation.resume(returning: turn) }
        }
    }
}
