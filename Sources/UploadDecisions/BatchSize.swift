/// How many samples the server takes at once, by its 413s: no sample is suspected for them before it is alone.
public struct BatchSize: Equatable, Sendable {
    /// So many batches in a row of a size, and twice as much is tried again.
    static let passesToGrow = 8

    public private(set) var limit: Int?
    private var passes = 0

    public init() {}

    public mutating func tooLarge(_ count: Int) {
        passes = 0
        limit = count > 1 ? count / 2 : nil
    }

    public mutating func passed(_ count: Int, full: Int) {
        guard let limit, count >= limit else { return }
        passes += 1
        guard passes >= Self.passesToGrow else { return }
        passes = 0
        self.limit = limit * 2 < full ? limit * 2 : nil
    }
}
