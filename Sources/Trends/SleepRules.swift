import CivilTime

/// When one sleep ends and the next begins.
public enum SleepRules {
    /// A stage lasts no longer, whatever comes after it. Milliseconds.
    public static let longestStage: Int64 = 4 * 3_600_000
    /// As long awake in a row, or without any stage, ends a sleep. Milliseconds.
    public static let longestPause: Int64 = 3_600_000
}

/// Tells a reader that goes backwards through a band's stage records when it has enough of them to compute a day.
///
/// Forwards, a reader needs the records up to and including the first at or after `SleepLookback.end(of:)`.
public struct SleepLookback: Sendable {
    /// No moment at or after this, in milliseconds since 1970 UTC, belongs to the date, whatever the offset.
    public static func end(of date: CivilDate) -> Int64 {
        date.advanced(by: 1).midnight(offsetMinutes: -1439)
    }

    /// No moment before this belongs to the date, whatever the offset. Records from here on are needed in any case.
    public static func start(of date: CivilDate) -> Int64 {
        date.midnight(offsetMinutes: 1439)
    }

    /// `from` is the first day to be computed.
    public init(from date: CivilDate, gaps: [TrendGap]) {}

    /// Takes the next earlier record; true = enough, nothing earlier is needed. Begin with the last record before
    /// `start(of:)`.
    public mutating func isEnough(_ record: TrendSample) -> Bool { false }
}
