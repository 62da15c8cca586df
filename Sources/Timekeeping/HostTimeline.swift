import GatewayModel

/// What the host's wall clock was worth over the time, by moments at which it could be believed.
///
/// Within a boot the monotonic clock ties all moments together: a clock that became right ten minutes after the
/// boot tells what time it was at the beginning.
public struct HostTimeline: Sendable {
    /// By boot. None of them implausible.
    private let anchors: [String: [HostStamp]]

    public init(anchors: [HostStamp]) {
        self.anchors = Dictionary(grouping: anchors.filter { $0.trust > .implausible }, by: \.bootID)
    }

    /// Some moment of this boot could be believed, so that all of them can be told.
    public func hasAnchors(boot: String) -> Bool { anchors[boot] != nil }

    /// The true time at a moment of a boot and its bound, ms; nil when nothing can be said.
    ///
    /// `own` is what the wall clock said at that moment itself.
    public func time(of own: HostStamp) -> (time: Timestamp, boundMilliseconds: Int64)? {
        var best: (time: Timestamp, boundMilliseconds: Int64)?
        if own.trust > .implausible { best = (own.wall, own.boundMilliseconds) }
        for anchor in anchors[own.bootID] ?? [] {
            let distance = own.monotonic - anchor.monotonic
            let bound = anchor.boundMilliseconds + Drift.limit(over: distance)
            guard bound < best?.boundMilliseconds ?? .max else { continue }
            best = (Timestamp(milliseconds: anchor.wall.milliseconds + distance), bound)
        }
        return best
    }
}
