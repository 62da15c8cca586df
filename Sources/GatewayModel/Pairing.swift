/// What has to be asked of a person, or shown to one, while a band is paired.
public enum PairingQuestion: Equatable, Sendable {
    /// The band shows six digits: which?
    case enterPasskey
    /// To be entered at the band. `entered`: digits that it has so far. Nothing is answered.
    case showPasskey(UInt32, entered: Int)
    /// Does the band show these six digits?
    case comparePasskey(UInt32)
}

public enum PairingReply: Equatable, Sendable {
    /// 0 to 999999.
    case passkey(UInt32)
    /// The digits are the same.
    case same
}

/// How far a pairing is.
public enum PairingProgress: String, Sendable, CaseIterable {
    /// The band is listened for.
    case searching
    case connecting
    /// There is a bond now.
    case paired
    /// There was one before, and it works.
    case bondWorks = "bond_works"
    /// The band gives its history without a bond.
    case notAsked = "not_asked"
    /// It was not heard: it is paired when it is there.
    case notInRange = "not_in_range"
}

/// Somebody who may be asked, for as long as a pairing takes.
public protocol PairingPerson: Sendable {
    /// Nil = no, or no answer in time.
    func ask(_ question: PairingQuestion) async -> PairingReply?
    /// BlueZ gave up on what it asked last.
    func withdraw()
    func told(_ progress: PairingProgress)
    /// Nobody waits for the outcome any more.
    var isGone: Bool { get }
}

/// What BlueZ asked during a pairing, and what came of it.
public enum PairingDemand: Equatable, Sendable {
    case nothing
    /// A passkey was entered, or digits were said to be the same.
    case answered
    /// A passkey was shown.
    case shown
    /// The person said no, or nothing.
    case declined
    /// There was nobody to ask.
    case nobodyThere
    /// A person was there for another band: BlueZ asked about this one only because of the keyboard that is lent meanwhile.
    case notNow
}
