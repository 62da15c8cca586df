import IngestStore

/// What the storage said of tokens a moment ago.
///
/// An answer counts for ten seconds: so soon a revocation takes effect. Known tokens and wrong ones are kept
/// apart, each with a bound, so that no flood of wrong tokens pushes out a right one.
struct TokenCache {
    enum Finding: Equatable {
        case known(Identity)
        case denied
        /// The storage has to be asked. `wasKnown` = it was a right token when it was last asked.
        case unknown(wasKnown: Bool)
    }

    static let lifetime = Duration.seconds(10)

    private struct Entry {
        /// Nil = revoked since.
        var identity: Identity?
        var at: ContinuousClock.Instant
    }

    private var known: RecencyMap<[UInt8], Entry>
    private var denied: RecencyMap<[UInt8], ContinuousClock.Instant>

    init(known: Int = 65_536, denied: Int = 16_384) {
        self.known = RecencyMap(capacity: known)
        self.denied = RecencyMap(capacity: denied)
    }

    mutating func find(_ digest: [UInt8], now: ContinuousClock.Instant) -> Finding {
        if let entry = known.use(digest), let identity = entry.identity {
            return now - entry.at < Self.lifetime ? .known(identity) : .unknown(wasKnown: true)
        }
        if let at = denied.peek(digest), now - at < Self.lifetime { return .denied }
        return .unknown(wasKnown: false)
    }

    /// `asked` is when the storage was asked: what it said may be as old as that.
    mutating func note(_ identity: Identity?, for digest: [UInt8], asked: ContinuousClock.Instant) {
        if identity != nil || known.peek(digest) != nil {
            known.set(Entry(identity: identity, at: asked), for: digest)
        }
        if identity == nil { denied.set(asked, for: digest) }
    }
}
