import GatewayModel

/// What the kernel says of its own wall clock. adjtimex(2).
public struct KernelClock: Equatable, Sendable {
    /// The kernel counts it as disciplined: neither TIME_ERROR nor STA_UNSYNC.
    public var isSynchronised: Bool
    /// `maxerror`, rounded up to ms.
    public var maxErrorMilliseconds: Int64

    public init(isSynchronised: Bool, maxErrorMilliseconds: Int64) {
        self.isSynchronised = isSynchronised
        self.maxErrorMilliseconds = maxErrorMilliseconds
    }

    /// Nothing is known.
    public static let unsynchronised = KernelClock(isSynchronised: false, maxErrorMilliseconds: 0)
}

/// What is known of this host beside its clocks.
public struct HostClockFacts: Equatable, Sendable {
    /// No true time is before it: when this program was built, or the last time that was stored.
    public var notBefore: Timestamp
    /// A clock that runs while the host is off.
    public var hasBatteryClock: Bool
    /// `[time] trust = always`.
    public var isVouchedFor: Bool

    public init(notBefore: Timestamp, hasBatteryClock: Bool, isVouchedFor: Bool = false) {
        self.notBefore = notBefore
        self.hasBatteryClock = hasBatteryClock
        self.isVouchedFor = isVouchedFor
    }
}

/// Judges the host's wall clock, look by look, over one run of the daemon.
public struct HostClockJudge: Sendable {
    /// A disciplined clock over the internet is no better than this, whatever the kernel computes.
    public static let leastBoundMilliseconds: Int64 = 100
    /// Of a clock that was set once and runs on a battery.
    public static let batteryBoundMilliseconds: Int64 = 5 * 60_000
    /// Without a battery the clock goes on from where it was saved at the last shutdown.
    public static let savedBoundMilliseconds: Int64 = 86_400_000
    /// An HTTP date has whole seconds.
    public static let servedBoundMilliseconds: Int64 = 1_000
    /// More than this between wall and monotonic is a step, not a slew: NTP slews at most 500 ppm.
    static let stepMilliseconds: Int64 = 1_000
    static let slewPPM: Int64 = 500

    private let facts: HostClockFacts
    private var last: (monotonic: Int64, difference: Int64)?
    private var wasStepped = false
    /// By a server's date: add to monotonic to get the true time, and its bound.
    private var served: (monotonic: Int64, difference: Int64, bound: Int64)?

    public init(facts: HostClockFacts) { self.facts = facts }

    /// The state at a moment; `stepped` when the wall clock jumped since the look before.
    public mutating func judge(
        wall: Timestamp, monotonic: Int64, kernel: KernelClock
    ) -> (trust: HostTrust, boundMilliseconds: Int64, stepped: Bool) {
        let difference = wall.milliseconds - monotonic
        var stepped = false
        if let last {
            let slewed = abs(monotonic - last.monotonic) * Self.slewPPM / 1_000_000
            stepped = abs(difference - last.difference) > Self.stepMilliseconds + slewed
        }
        last = (monotonic, difference)
        if stepped { wasStepped = true }
        if facts.isVouchedFor { return (.synchronised, Self.leastBoundMilliseconds, stepped) }
        if kernel.isSynchronised {
            let bound = max(Self.leastBoundMilliseconds, kernel.maxErrorMilliseconds)
            return (.synchronised, bound, stepped)
        }
        if let bound = servedBound(wall: wall, monotonic: monotonic) {
            return (.synchronised, bound, stepped)
        }
        if wall < facts.notBefore || wasStepped { return (.implausible, 0, stepped) }
        let bound = facts.hasBatteryClock ? Self.batteryBoundMilliseconds : Self.savedBoundMilliseconds
        return (.plausible, bound, stepped)
    }

    /// A server, over TLS that was verified, said `date` in an answer to a request sent at `sent` and answered at
    /// `answered`, both monotonic. The date was true somewhere between, and for the second that follows it.
    public mutating func served(date: Timestamp, sent: Int64, answered: Int64) {
        let half = max(0, answered - sent) / 2
        let bound = half + Self.servedBoundMilliseconds
        let difference = date.milliseconds + 500 - (sent + half)
        if let served, servedBound(served, at: answered) < bound { return }
        served = (sent + half, difference, bound)
    }

    /// How far the wall clock may be off by what a server said; nil when no server did.
    private func servedBound(wall: Timestamp, monotonic: Int64) -> Int64? {
        served.map { served in
            abs(wall.milliseconds - monotonic - served.difference) + servedBound(served, at: monotonic)
        }
    }

    private func servedBound(
        _ served: (monotonic: Int64, difference: Int64, bound: Int64), at monotonic: Int64
    ) -> Int64 { served.bound + Drift.limit(over: monotonic - served.monotonic) }
}
