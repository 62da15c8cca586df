import GatewayModel

/// What `status` says of this host's clock.
extension Problem {
    /// Nil while the clock can be believed.
    static func hostClock(_ trust: HostTrust) -> Problem? {
        switch trust {
        case .synchronised: nil
        case .plausible:
            Problem(
                code: "clock_unsynchronised",
                text: "This host's clock is not synchronised, so nobody vouches for its time. New samples go "
                    + "up with how far off their times may be, and are corrected once it is synchronised.",
                remedy: clockRemedy)
        case .implausible:
            Problem(
                code: "clock_implausible",
                text: "This host's clock shows a time that can't be right. New samples wait for one that is, "
                    + "a day at most; then they go up marked as uncertain, and are corrected once the time is "
                    + "known.",
                remedy: clockRemedy)
        }
    }

    private static let clockRemedy =
        "See `timedatectl`: turn on network time (`timedatectl set-ntp true`) and connect this host to a "
        + "network, or give it a real-time clock with a battery. If the clock is right all the same, write "
        + "trust = always under [time] of the configuration."
}
