import Conditions
import GatewayModel

/// What `status` says of this host's clock.
extension Problem {
    /// Nil while the clock can be believed.
    static func hostClock(_ trust: HostTrust) -> Problem? {
        switch trust {
        case .synchronised: nil
        case .plausible: Problem(.clockUnsynchronised)
        case .implausible: Problem(.clockImplausible)
        }
    }
}
