/// When a lease that another gateway holds is asked for again.
///
/// At its end, which is the server's word and is judged by this clock. The two may differ: an end that seems to be over,
/// or always near, while the lease is held all the same is waited for longer each time.
public struct HeldWait: Equatable, Sendable {
    private static let shortest = Duration.seconds(1)
    private static let longest = Duration.seconds(600)

    private var least = shortest

    public init() {}

    /// The lease is held, and by this clock for so long.
    public mutating func next(left: Duration) -> Duration {
        guard left < least else {
            least = Self.shortest
            return min(left, Self.longest)
        }
        defer { least = min(least * 2, Self.longest) }
        return least
    }
}
