import IngestAPI

/// For how long a person's pause still holds, by a clock that never steps: the host's wall clock may be years off when the
/// machine starts, and a pause of an hour must not last until it is right.
public struct PauseClock: Equatable, Sendable {
    /// The pause ends then; nil = when a person ends it.
    private var end: Duration?
    public private(set) var isSet = false

    public init() {}

    /// What is kept of it, read at `now`. Its whole length is the most that is left of it. Nil as `since` = there is none.
    public mutating func take(since: APITime?, until: APITime?, wallTime: APITime, now: Duration) {
        isSet = since != nil
        end = nil
        guard let since, let until else { return }
        let left = min(until.milliseconds - wallTime.milliseconds, until.milliseconds - since.milliseconds)
        end = now + .milliseconds(max(0, left))
    }

    public func holds(now: Duration) -> Bool { isSet && !isOver(now: now) }

    /// There was one, and its time is over.
    public func isOver(now: Duration) -> Bool { isSet && end.map { $0 <= now } ?? false }

    /// Nil = nobody knows when it ends.
    public func left(now: Duration) -> Duration? { end.map { max(.zero, $0 - now) } }
}
