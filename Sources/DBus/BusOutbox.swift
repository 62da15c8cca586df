import Locking

/// Messages on their way out, in the order in which they were posted from any thread, and the incoming calls
/// that still wait for an answer.
final class BusOutbox: Sendable {
    private struct State {
        var messages: [BusMessage] = []
        var drainIsScheduled = false
        var isClosed = false
        var openCalls: [UInt64: BusMessage] = [:]
        var lastToken: UInt64 = 0
    }

    private let state = Guarded(State())

    /// True when the caller must see to it that the queue drains.
    func post(_ message: BusMessage) -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            state.messages.append(message)
            defer { state.drainIsScheduled = true }
            return !state.drainIsScheduled
        }
    }

    /// Everything posted; a later post schedules anew.
    func takeMessages() -> [BusMessage] {
        state.withLock { state in
            state.drainIsScheduled = false
            defer { state.messages = [] }
            return state.messages
        }
    }

    func close() {
        state.withLock { state in
            state.isClosed = true
            state.messages = []
            state.openCalls = [:]
        }
    }

    // MARK: incoming calls

    /// Nil when too many calls wait already.
    func open(_ call: BusMessage) -> UInt64? {
        state.withLock { state in
            guard state.openCalls.count < MessageLimits.openCalls else { return nil }
            state.lastToken += 1
            state.openCalls[state.lastToken] = call
            return state.lastToken
        }
    }

    /// Each call is answered at most once: the second taker gets nil.
    func take(_ token: UInt64) -> BusMessage? {
        state.withLock { $0.openCalls.removeValue(forKey: token) }
    }
}
