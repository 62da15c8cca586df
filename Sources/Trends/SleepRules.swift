/// When a stage ends, and when a sleep does. All in milliseconds.
public enum SleepRules {
    /// A stage lasts no longer, whatever comes after it.
    public static let longestStage: Int64 = 4 * 3_600_000
    /// As long awake in a row, or without any stage, ends a sleep.
    public static let longestPause: Int64 = 3_600_000
    /// A record that comes as long after the one before it always begins a sleep.
    public static let longestSilence = longestStage + longestPause

    /// The end of a stage that began at `start`: the next record, the beginning of a gap, or the longest stage.
    ///
    /// `gaps` are the beginnings of gaps in ascending order.
    static func end(of start: Int64, next: Int64?, gaps: [Int64]) -> Int64 {
        var (low, high) = (0, gaps.count)
        while low < high {
            let middle = (low + high) / 2
            if gaps[middle] < start { low = middle + 1 } else { high = middle }
        }
        let gap = low < gaps.count ? gaps[low] : Int64.max
        return min(next ?? .max, gap, start + longestStage)
    }
}
