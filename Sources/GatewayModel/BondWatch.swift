/// What is wrong between a band and this host's keys.
public enum BondTrouble: String, Sendable, CaseIterable {
    /// There is a bond here, and the band does not know it any more.
    case lost = "bond_lost"
    /// There never was one, and the band does not make one.
    case never = "never_paired"
    case wrongPasskey = "wrong_passkey"
    /// Whoever was asked said no, or nothing.
    case declined = "pairing_declined"
    /// The band is heard and bonded, and each connection breaks: it may have lost the bond.
    case doubtful = "bond_doubtful"

    /// Tries in a row before the band is left alone.
    public var tries: Int { self == .doubtful ? 5 : 3 }

    /// How long it is left alone then. Weak signals look like a lost bond, too: that is tried again sooner, and as soon as
    /// the band has been away and is back.
    public var rest: Duration { self == .doubtful ? .seconds(900) : .seconds(86_400) }

    /// A bond of this host stands in the way. It ends when somebody removes that bond; the others when there is one.
    public var isOfABond: Bool { self == .lost || self == .doubtful }
}

/// Keeps a band from being tried again and again when only a person can help. Kept in the store: a restart, or the reconnect
/// that is the remedy for other troubles, must not begin the count anew.
public struct BondWatch: Equatable, Sendable {
    public private(set) var trouble: BondTrouble?
    /// In a row, with this trouble.
    public private(set) var tries: Int
    /// Left alone until then; nil = it is tried.
    public private(set) var restUntil: Timestamp?

    public init(trouble: BondTrouble? = nil, tries: Int = 0, restUntil: Timestamp? = nil) {
        self.trouble = trouble
        self.tries = trouble == nil ? 0 : max(0, tries)
        self.restUntil = trouble == nil ? nil : restUntil
    }

    /// A person should know. A doubt is none before it has lasted.
    public var isNamed: Bool { trouble.map { $0 != .doubtful || tries >= $0.tries } ?? false }

    public mutating func failed(_ trouble: BondTrouble, at now: Timestamp) {
        // One certain sign ends a doubt; a doubt says nothing new about what is certain.
        let isSame = trouble == self.trouble || (trouble == .doubtful && self.trouble != nil)
        let kept = isSame ? self.trouble ?? trouble : trouble
        tries = isSame ? min(tries + 1, 1_000) : 1
        self.trouble = kept
        guard tries >= kept.tries else { return }
        restUntil = Timestamp(milliseconds: now.milliseconds + kept.rest.milliseconds)
    }

    /// It is out of reach. That ends the rest of a doubt, not the doubt: one more failure and it is left alone again.
    public mutating func wasMissed() {
        if trouble == .doubtful { restUntil = nil }
    }

    /// Nil = it may be tried. Never more than the whole rest: the host's clock may have stepped back.
    public func rest(at now: Timestamp) -> Duration? {
        guard let trouble, let restUntil else { return nil }
        let left = restUntil.milliseconds - now.milliseconds
        guard left > 0, left <= trouble.rest.milliseconds else { return nil }
        return .milliseconds(left)
    }
}

extension Duration {
    fileprivate var milliseconds: Int64 { Int64(self / .milliseconds(1)) }
}
