import GatewayModel

/// What a gap's cause means, for somebody who never heard of records or rings.
struct GapWords {
    /// How the records came to be missing, one sentence.
    var why: String
    /// Whether they can still come back, one sentence.
    var outlook: String
    /// What a person can do, now or so that it does not happen again.
    var remedy: String
    var canHeal: Bool

    private static let fromElsewhere =
        "They can still come back, but only if another gateway or a restored database has them."

    init(_ cause: GapCause) {
        switch cause {
        case .overwritten:
            self.init(
                healingBecause:
                    "The band's memory was full before it was read, and it wrote over its oldest records.",
                remedy: "Let the band come near this gateway more often, so that its memory does not fill up."
            )
        case .freedElsewhere:
            self.init(
                healingBecause:
                    "Another gateway or an app read these records and let the band erase them; they are neither here nor at the server.",
                remedy:
                    "Let the other gateway upload what it holds. Only one gateway should own a band; write "
                    + "mode = observe for it at the others.")
        case .reformatted:
            self.init(
                healingBecause:
                    "The band erased its whole memory and started to number from 1 again; what was not read by then went "
                    + "with it.",
                remedy: "Sync a band before it is reset or its firmware is updated.")
        case .storageLost:
            self.init(
                healingBecause:
                    "This gateway lost its own database after the band had been told that these records were safe here.",
                remedy:
                    "If there is an old database or a backup of it, put it back: what it holds is uploaded.")
        case .lostByBand:
            self.init(
                why:
                    "The band says that it has these records, but never sends them, though it was asked again and again.",
                outlook: "They will not come back: the band has lost them.",
                remedy: "If it happens again, update the band's firmware, or restart the band.",
                canHeal: false)
        case .unreadable:
            self.init(
                why: "What came for these records could not be read as measurements, here or by the server.",
                outlook: "The bytes are kept here as they came, but so far nobody can read them.",
                remedy:
                    "A newer version of bandferry may read them. If it happens again, update the band's firmware.",
                canHeal: false)
        }
    }

    private init(why: String, outlook: String, remedy: String, canHeal: Bool) {
        self.why = why
        self.outlook = outlook
        self.remedy = remedy
        self.canHeal = canHeal
    }

    private init(healingBecause why: String, remedy: String) {
        self.init(why: why, outlook: Self.fromElsewhere, remedy: remedy, canHeal: true)
    }
}
