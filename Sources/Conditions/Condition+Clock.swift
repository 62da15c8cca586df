/// What this host's clock is worth.
extension Condition {
    static let clockRows: [Condition] = [clockUnsynchronised, clockImplausible]

    private static let clockFix =
        "See `timedatectl`: turn on network time (`timedatectl set-ntp true`) and connect this host to a network, or give it a "
        + "real-time clock with a battery. If the clock is right all the same, write trust = always under [time] of the "
        + "configuration."

    public static let clockUnsynchronised = Condition(
        "clock_unsynchronised", .warning,
        "This host's clock is not synchronised, so nobody vouches for its time. New samples go up with how far off their times "
            + "may be, and are corrected once it is synchronised.", fix: clockFix)
    public static let clockImplausible = Condition(
        "clock_implausible", .error,
        "This host's clock shows a time that can't be right. New samples wait for one that is, a day at most; then they go up "
            + "marked as uncertain, and are corrected once the time is known.", fix: clockFix)
}
