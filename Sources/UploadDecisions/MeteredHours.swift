import IngestAPI

/// Times of the day at which history is not uploaded, by the host's local time.
///
/// The clock on the wall decides: where it is put forward, a span that it jumps over is not there on that day; where it is
/// put back, one that comes twice counts twice.
public struct MeteredHours: Equatable, Sendable {
    public static let minutesInDay = 1440

    public struct Span: Equatable, Sendable {
        /// Minutes since midnight; `to` is the first that is free again, 1440 at most. `to` below `from` is on the next
        /// day.
        public var from: Int
        public var to: Int

        public init(from: Int, to: Int) {
            self.from = from
            self.to = to
        }

        func contains(_ minute: Int) -> Bool {
            from < to ? (from..<to).contains(minute) : minute >= from || minute < to
        }
    }

    public var spans: [Span]

    public init(_ spans: [Span] = []) { self.spans = spans }

    public func contains(_ minute: Int) -> Bool { spans.contains { $0.contains(minute) } }

    /// Nothing would ever go up.
    public var coverTheDay: Bool { (0..<Self.minutesInDay).allSatisfy(contains) }

    /// The minute of the day at which history may go again; nil = it may now.
    public func end(after minute: Int) -> Int? {
        guard contains(minute) else { return nil }
        return (1..<Self.minutesInDay).lazy.map { (minute + $0) % Self.minutesInDay }.first { !contains($0) }
    }

    /// What a clock shows that is `offsetMinutes` ahead of UTC, in minutes since midnight.
    public static func minute(of time: APITime, offsetMinutes: Int) -> Int {
        let minutes =
            (time.milliseconds - (time.milliseconds < 0 ? 59_999 : 0)) / 60_000 + Int64(offsetMinutes)
        let minute = Int(minutes % Int64(minutesInDay))
        return minute < 0 ? minute + minutesInDay : minute
    }
}

/// What to do on a connection that is paid by volume.
public enum OnMetered: String, Sendable, CaseIterable {
    case upload
    case wait
}

/// Why history waits though nothing failed. Questions that a band waits for, what the server knows of a band, persons,
/// gaps and status still go: some hundred bytes each.
public enum MeteredWait: Equatable, Sendable {
    /// `until` = minutes since midnight.
    case hours(until: Int)
    case connection

    /// Nil = everything may go.
    public static func decide(
        _ hours: MeteredHours, minute: @autoclosure () -> Int, _ onMetered: OnMetered, _ network: NetworkState
    ) -> MeteredWait? {
        if onMetered == .wait, network.isMetered { return .connection }
        guard !hours.spans.isEmpty else { return nil }
        return hours.end(after: minute()).map { .hours(until: $0) }
    }
}
