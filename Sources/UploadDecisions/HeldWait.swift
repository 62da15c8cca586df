/// When a lease that another gateway holds is asked for again.
///
/// At its end, which is the server's word and is judged by this clock. Such an end may be over, or near, and the lease held
/// all the same: the two clocks differ, or its holder asks for some seconds at a time. So one that is less than a minute
/// away is waited for at least `shortest`, and longer each time; only one that is further away ends that.
public struct HeldWait: Equatable, Sendable {
    private static let shortest = Duration.seconds(5)
    private static let near = Duration.seconds(60)
    private static let longest = Duration.seconds(600)

    private var least = shortest

    public init() {}

    /// The lease is held, and by this clock for so long.
    public mutating func next(left: Duration) -> Duration {
        guard left < Self.near else {
            least = Self.shortest
            return min(left, Self.longest)
        }
        defer { least = min(least * 2, Self.longest) }
        return max(left, least)
    }
}
