/// What stands in the way of taking a band over from another gateway.
extension Condition {
    static let commandRows: [Condition] = [addressUnknown, addressTaken, inConfiguration, leaseHeld]

    public static let addressUnknown = Condition(
        "address_unknown", .warning,
        "The server does not know the address of {device}, and its name does not tell it.",
        fix: "Name it: bandferry replace {device} --address F0:F1:F2:F3:F4:F5")
    public static let addressTaken = Condition(
        "address_taken", .warning, "{address} is adopted here as {device}.",
        fix: "If that is wrong: bandferry forget {address}, and try again.")
    public static let inConfiguration = Condition(
        "in_configuration", .warning, "The configuration file says {what} for {address}, and the file wins.",
        fix: "Change it there (line {lines}) and restart the daemon.")
    public static let leaseHeld = Condition(
        "lease_held", .warning,
        "Another gateway ({holder}) owns the band until {until}: it may still be at work.",
        fix:
            "Switch that gateway off and try again after that time. With --force it is taken over now: it is stored and uploaded "
            + "at once, and acknowledged once the other's time is over.")
}
