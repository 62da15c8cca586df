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
            // Not what `best` is worth by now: a steady clock would be noted again and again.
            let isBetter =
                stamp.trust > best.trust
                || stamp.boundMilliseconds < best.boundMilliseconds / Self.improvement
            guard isBetter else { return false }
        }
        best = stamp
        return true
    }
}
