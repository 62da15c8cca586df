/// Limits of a session. Defaults are the profile's own: Band History Profile 1, "What the gateway owes the band".
public struct SessionRules: Equatable, Sendable {
    /// Duty 5: silence in an open stream before the ack is repeated, and again before ABORT.
    public var silenceMilliseconds: Int64 = 5_000
    /// Duty 5: how long END may take after ABORT.
    public var endMilliseconds: Int64 = 5_000
    /// After taking a link over there may be no stream, and then no END.
    public var takeoverDrainMilliseconds: Int64 = 500
    /// Duty 7.
    public var tries = 3
    public var connections = 2
    /// Stalls without any progress before the radio is given up.
    public var stalls = 3
    /// SEND FROM refused as busy, END with an internal error, subscriptions lost: each this often.
    public var refusals = 3
    /// Undecodable notifications that one chunk takes.
    public var rawPerChunk = 64

    public init() {}
}
