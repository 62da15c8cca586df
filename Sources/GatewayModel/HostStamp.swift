/// How far this host's wall clock can be believed.
public enum HostTrust: Int, Comparable, Sendable, CaseIterable {
    /// Before the build, before something that was stored, or stepped since the boot: it says nothing.
    case implausible = 0
    /// Nothing speaks against it, and nobody vouches for it.
    case plausible = 1
    /// The kernel says that it is disciplined (adjtimex(2)), a server over verified TLS said so, or the configuration does.
    case synchronised = 2

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// A moment by the host's clocks, and what its wall clock was worth then.
public struct HostStamp: Equatable, Sendable {
    /// Names the boot that `monotonic` counts from.
    public var bootID: String
    /// CLOCK_BOOTTIME, ms.
    public var monotonic: Int64
    public var wall: Timestamp
    public var trust: HostTrust
    /// The wall clock is within this many ms of the truth; means nothing while implausible.
    public var boundMilliseconds: Int64

    public init(
        bootID: String, monotonic: Int64, wall: Timestamp, trust: HostTrust, boundMilliseconds: Int64
    ) {
        self.bootID = bootID
        self.monotonic = monotonic
        self.wall = wall
        self.trust = trust
        self.boundMilliseconds = boundMilliseconds
    }
}
