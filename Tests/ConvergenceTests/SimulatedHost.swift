import GatewayModel
import Timekeeping

/// A gateway's own clocks: the wall clock is off by no more than it says, unless nobody may believe it.
struct SimulatedHost {
    private let bootID: String
    private let bootedAt: Int64
    private var trust: HostTrust
    private var bound: Int64
    /// Add to true time to get the wall clock, ms.
    private var error: Int64
    private var rule = AnchorRule()

    init(boot: Int, name: String, at now: Int64, trust: HostTrust, random: inout SeededRandom) {
        bootID = "\(name)-\(boot)"
        bootedAt = now - 20_000
        self.trust = trust
        (bound, error) = Self.error(trust, random: &random)
    }

    /// The clock is set, or vouched for by somebody else.
    mutating func become(_ trust: HostTrust, random: inout SeededRandom) {
        self.trust = trust
        (bound, error) = Self.error(trust, random: &random)
    }

    private static func error(_ trust: HostTrust, random: inout SeededRandom) -> (bound: Int64, error: Int64)
    {
        let bound: Int64
        switch trust {
        case .implausible: return (0, -1_700_000_000_000 + Int64.random(in: 0...1_000_000, using: &random))
        case .plausible: bound = random.pick([300_000, 86_400_000])
        case .synchronised: bound = random.pick([100, 100, 100, 400, 1_500])
        }
        return (bound, Int64.random(in: -bound...bound, using: &random))
    }

    func stamp(at now: Int64) -> HostStamp {
        HostStamp(
            bootID: bootID, monotonic: now - bootedAt, wall: Timestamp(milliseconds: now + error),
            trust: trust,
            boundMilliseconds: bound)
    }

    /// What would be written down now.
    mutating func anchor(at now: Int64) -> HostStamp? {
        let stamp = stamp(at: now)
        return rule.isWorthNoting(stamp) ? stamp : nil
    }
}
