/// A value that is set once, from any thread, and awaited by one task.
public final class OneShot<Value: Sendable>: Sendable {
    private enum State {
        case empty
        case awaited(CheckedContinuation<Value, Never>)
        case set(Value)
    }

    private let state = Guarded(State.empty)

    public init() {}

    /// The first call decides; later ones change nothing.
    public func set(_ value: Value) {
        let waiter: CheckedContinuation<Value, Never>? = state.withLock { state in
            switch state {
            case .empty:
                state = .set(value)
                return nil
            case .awaited(let continuation):
                state = .set(value)
                return continuation
            case .set:
                return nil
            }
        }
        waiter?.resume(returning: value)
    }

    public var isSet: Bool { peek != nil }

    /// The value, if there is one yet.
    public var peek: Value? {
        state.withLock { if case .set(let value) = $0 { value } else { nil } }
    }

    /// Awaited at most once.
    public func value() async -> Value {
        await withCheckedContinuation { continuation in
            let ready: Value? = state.withLock { state in
                if case .set(let value) = state { return value }
                state = .awaited(continuation)
                return nil
            }
            if let ready { continuation.resume(returning: ready) }
        }
    }

    /// The value, or `fallback` once the deadline is over or the task is cancelled. The clock is the machine's own.
    public func value(within deadline: Duration, else fallback: Value) async -> Value {
        let timer = Task {
            try? await Task.sleep(for: deadline)
            self.set(fallback)
        }
        defer { timer.cancel() }
        return await withTaskCancellationHandler {
            await value()
        } onCancel: {
            self.set(fallback)
        }
    }
}
