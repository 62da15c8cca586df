/// How the radio is shared. All durations in milliseconds.
///
/// What the numbers cost in radio time is reckoned in docs/decisions/0011.
public struct RadioSettings: Equatable, Sendable {
    /// Between two syncs of a band that is in range.
    public var syncInterval: Int64
    /// Links that one adapter holds at the same time, those of other programs included.
    public var maxLinks: Int
    /// Discovery for a band that was in range so far. It ends as soon as all are heard that are looked for.
    public var firstLook: Int64 = 10_000
    /// Discovery for a band that a person asks for.
    public var askedLook: Int64 = 20_000
    /// Discovery for bands that were missed before: long enough for two advertisements of a band that sends one a second.
    public var look: Int64 = 4_000
    /// From one look for an absent band to the next: with the look and the connection well within a minute.
    public var lookEvery: Int64
    /// The same for bands that are away so long that nobody waits for them.
    public var longLookEvery: Int64 = 300_000
    public var longAbsence: Int64 = 7 * 86_400_000
    /// A band is only connected to while it was heard so recently; BlueZ forgets strangers 30 s after their last advertisement.
    public var freshness: Int64 = 25_000
    /// When several bands are looked for, others are listened for so long before the first is connected to.
    public var gathering: Int64 = 500
    /// A look that is owed waits so long behind connections, then these wait for it.
    public var patience: Int64 = 30_000
    /// How long the number of links at which an adapter refused one more is remembered.
    public var limitMemory: Int64 = 3_600_000
    /// An adapter on which discovery failed is left alone so long; doubles, up to 16 times.
    public var scanRetry: Int64 = 2_000
    /// An adapter that hears nothing for so long, though it heard bands before, may be deaf.
    public var silence: Int64 = 3_600_000

    public init(syncInterval: Int64, maxLinks: Int) {
        self.syncInterval = max(1, syncInterval)
        self.maxLinks = max(1, maxLinks)
        lookEvery = min(40_000, max(5_000, syncInterval))
    }
}
