import GatewayModel

/// Which moments of the host's clock are worth writing down: those that tell more of this boot than any before. Each costs
/// a look at all that was timed by worse ones.
public struct AnchorRule: Sendable {
    /// A bound that is smaller by less than this factor is no news.
    public static let improvement: Int64 = 4

    private var best: HostStamp?

    public init() {}

    public mutating func isWorthNoting(_ stamp: HostStamp) -> Bool {
        guard stamp.trust > .implausible else { return false }
        if let best, best.bootID == stamp.bootID {
            let known = best.boundMilliseconds + Drift.limit(over: stamp.monotonic - best.monotonic)
            let isBetter = stamp.trust > best.trust || stamp.boundMilliseconds < known / Self.improvement
            guard isBetter else { return false }
        }
        best = stamp
        return true
    }
}
