/// Bonds that give trouble: after a few tries the band is left alone.
extension Condition {
    static let bondRows: [Condition] = [
        bondLost, neverPaired, wrongPasskey, pairingDeclined, bondDoubtful,
    ]

    public static let bondLost = Condition(
        "bond_lost", .error,
        "Could not {operation}: the band has lost the bond that this host still has{detail}.",
        fix:
            "Put the band into pairing mode and run 'bandferry pair {band}': it removes the old bond and makes a new one."
    )
    public static let neverPaired = Condition(
        "never_paired", .error,
        "The band asks for pairing and refuses it: it is not in pairing mode, or it wants a passkey.",
        fix:
            "Put the band into pairing mode and run 'bandferry pair {band}' at a terminal: it asks for the passkey where there "
            + "is one.")
    public static let wrongPasskey = Condition(
        "wrong_passkey", .error, "The passkey was wrong, or came too late.",
        fix:
            "Put the band into pairing mode and run 'bandferry pair {band}' again, with the digits that the band shows."
    )
    public static let pairingDeclined = Condition(
        "pairing_declined", .error, "The pairing was declined, or nobody answered in time.",
        fix: "Put the band into pairing mode and run 'bandferry pair {band}' and answer what it asks.")
    public static let bondDoubtful = Condition(
        "bond_doubtful", .error,
        "The band is heard, and each connection breaks: it may have lost the bond that this host has.",
        fix:
            "Bring the band nearer. If it stays so: put the band into pairing mode and run 'bandferry pair {band}'."
    )
}
