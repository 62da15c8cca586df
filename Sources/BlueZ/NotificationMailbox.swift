import DBus
import Locking

/// Notifications between the thread that takes them off the socket and the session that commits them.
///
/// It holds at most `capacity` notifications. When it is full the newest is dropped and counted; the hole shows
/// by its seqs and is asked for again.
public final class NotificationMailbox: Sendable {
    /// What was waiting.
    public struct Contents: Sendable, Equatable {
        public var run: NotificationRun
        /// The stream of this link has ended and nothing is left after `run`.
        public var ended: Bool
        /// Notifications dropped since the last take, because the mailbox was full.
        public var dropped: Int
    }

    private struct State {
        var run = NotificationRun()
        var dropped = 0
        var ended = false
        var everHeld = false
        var waker: (@Sendable () -> Void)?
    }

    public static let defaultCapacity = 4_096
    private let capacity: Int
    private let state = Guarded(State())

    public init(capacity: Int = NotificationMailbox.defaultCapacity) {
        self.capacity = capacity
    }

    /// Called whenever the mailbox stops being empty, and at the end of the stream; on the filling thread, so it
    /// must return at once. Called immediately when something waits already.
    public func setWaker(_ wake: @escaping @Sendable () -> Void) {
        let waits = state.withLock { state in
            state.waker = wake
            return !state.run.isEmpty || state.ended
        }
        if waits { wake() }
    }

    /// Takes the oldest notifications, at most `max`. When more is left no further wake comes: take again.
    public func take(max: Int) -> Contents {
        state.withLock { state in
            let run = state.run.takeFirst(max)
            defer { state.dropped = 0 }
            return Contents(run: run, ended: state.ended && state.run.isEmpty, dropped: state.dropped)
        }
    }

    /// Notifications that wait.
    public var count: Int { state.withLock { $0.run.count } }

    /// It ended before anything came.
    var endedUnused: Bool { state.withLock { $0.ended && !$0.everHeld } }

    // MARK: filling

    func append(_ notification: UnsafeRawBufferPointer) {
        append(count: 1) { _ in notification }
    }

    /// Appends several under one lock; `at` gives each.
    func append(count: Int, at notification: (Int) -> UnsafeRawBufferPointer) {
        let wake = state.withLock { state -> (@Sendable () -> Void)? in
            // A stream that has ended takes nothing more: a later link has a mailbox of its own.
            guard count > 0, !state.ended else { return nil }
            let wasEmpty = state.run.isEmpty
            state.everHeld = true
            if wasEmpty { state.run.reserve(bytes: 16_384, notifications: 64) }
            for index in 0..<count {
                guard state.run.count < capacity else {
                    state.dropped += count - index
                    break
                }
                state.run.append(notification(index))
            }
            return wasEmpty ? state.waker : nil
        }
        wake?()
    }

    /// The stream is over: end of file, or the link dropped.
    func end() {
        let wake = state.withLock { state -> (@Sendable () -> Void)? in
            guard !state.ended else { return nil }
            state.ended = true
            return state.waker
        }
        wake?()
    }
}
