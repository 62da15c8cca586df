/// The 30 minutes of the lowest mean, as sum and count.
public struct RestingWindow: Hashable, Sendable {
    public var sum: Int64
    public var count: Int

    public init(sum: Int64, count: Int) {
        self.sum = sum
        self.count = count
    }

    /// Milliseconds.
    static let length: Int64 = 30 * 60_000
    /// Fewer samples say nothing.
    static let fewestSamples = 10

    /// Compares the means without rounding.
    func isLower(than other: Self) -> Bool { sum * Int64(other.count) < other.sum * Int64(count) }

    /// The lower one; the first of equals.
    static func lower(_ first: Self?, _ second: Self?) -> Self? {
        guard let first, let second else { return first ?? second }
        return second.isLower(than: first) ? second : first
    }

    /// Over every window that begins at a sample; the samples are in order of time.
    static func lowest(in samples: [PlacedSample]) -> Self? {
        var lowest: Self?
        var sum: Int64 = 0
        var end = 0
        for (start, sample) in samples.enumerated() {
            while end < samples.count, samples[end].at - sample.at < length {
                sum += Int64(samples[end].value)
                end += 1
            }
            // A window takes all samples of its first instant.
            let isFirstOfInstant = start == 0 || samples[start - 1].at < sample.at
            if isFirstOfInstant, end - start >= fewestSamples {
                lowest = lower(lowest, RestingWindow(sum: sum, count: end - start))
            }
            sum -= Int64(sample.value)
        }
        return lowest
    }
}
