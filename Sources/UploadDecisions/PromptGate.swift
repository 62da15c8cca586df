/// "Try at once", however often it is said: once in `interval` at most.
public struct PromptGate: Equatable, Sendable {
    public let interval: Duration
    private var due: Duration?
    private var last: Duration?

    public init(interval: Duration) { self.interval = interval }

    public mutating func prompted(now: Duration) {
        guard due == nil else { return }
        due = last.map { max(now, $0 + interval) } ?? now
    }

    /// True once for each time that it is to be tried.
    public mutating func isDue(now: Duration) -> Bool {
        guard let due, due <= now else { return false }
        self.due = nil
        last = now
        return true
    }

    /// Nil = nobody said so.
    public func wait(now: Duration) -> Duration? { due.map { max(.zero, $0 - now) } }
}
