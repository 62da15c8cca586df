import HistorySync
import Locking

/// Lets one task wait for "something happened" or a deadline. A signal given while nobody waits is kept; more
/// than one are merged.
final class WakeGate: Sendable {
    private struct State {
        var isSignalled = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Guarded(State())

    func signal() {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard let waiter = state.waiter else {
                state.isSignalled = true
                return nil
            }
            state.waiter = nil
            return waiter
        }
        waiter?.resume()
    }

    /// Returns at the next signal, or after `limit`; nil = no limit.
    func wait(atMost limit: Duration?) async {
        if takeSignal() { return }
        guard let limit else { return await waitForSignal() }
        guard limit > .zero else { return }
        let timer = Task { [self] in
            if (try? await Task.sleep(for: limit, clock: .suspending)) != nil { signal() }
        }
        await waitForSignal()
        timer.cancel()
    }

    private func takeSignal() -> Bool {
        state.withLock { state in
            defer { state.isSignalled = false }
            return state.isSignalled
        }
    }

    private func waitForSignal() async {
        await withCheckedContinuation { continuation in
            let goesOn = state.withLock { state -> Bool in
                guard !state.isSignalled else {
                    state.isSignalled = false
                    return true
                }
                state.waiter = continuation
                return false
            }
            if goesOn { continuation.resume() }
        }
    }
}
