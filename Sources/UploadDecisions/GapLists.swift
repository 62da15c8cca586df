import IngestAPI

/// A gap that waits to be sent.
public struct UnsentGap: Equatable, Sendable {
    public var gap: APIGap
    /// The one that begins right behind its end waits, too.
    public var isFollowed: Bool

    public init(_ gap: APIGap, isFollowed: Bool) {
        self.gap = gap
        self.isFollowed = isFollowed
    }
}

/// Which gaps go in one list, after lists that the server refused: those that it takes go all the same.
///
/// A list goes on behind the one before it, from the highest seq of a ring to its lowest. A gap may have become shorter
/// since the server took it, and what it does not cover any more is named by those that follow: so it goes together with
/// them or after them, never before. Gaps are disjoint and what they cover together never becomes less, so the server
/// always has all of it.
///
/// What is refused alone is passed over for a while, the next ones go on. Where that is too many of them, all rest, and go on
/// behind them afterwards: whichever are refused, each of the others has its turn, but for those that end right below one.
public struct GapLists: Equatable, Sendable {
    /// Ingest API 1 names no bound; so many are some 80 kB.
    public static let full = 500
    /// So many are passed over at most; one costs ten lists at most, until it is found.
    static let passedOverLimit = 16

    private var limit = Self.full
    /// Refused alone; nothing is passed over any more after `passedOverUntil`.
    private var passedOver: Set<GapKey> = []
    private var passedOverUntil: Duration?
    private var restsUntil: Duration?
    /// The next list begins behind it; nil = with the first gap there is.
    public private(set) var behind: GapKey?

    public init() {}

    /// Nothing is refused as far as is known.
    public var isWhole: Bool { passedOver.isEmpty && restsUntil == nil && behind == nil }

    /// False while all of them rest.
    public mutating func mayGo(now: Duration) -> Bool {
        if let until = restsUntil, until <= now {
            restsUntil = nil
            passedOverUntil = now
        }
        if let until = passedOverUntil, until <= now {
            passedOver = []
            passedOverUntil = nil
        }
        return restsUntil == nil
    }

    /// The indices of those that go next.
    ///
    /// - Parameters:
    ///   - gaps: in the order in which they go, by ring and falling seq, none left out.
    ///   - keptBack: not now, for what is not the server's doing.
    public func next(of gaps: [UnsentGap], keptBack: (APIGap) -> Bool = { _ in false }) -> [Int] {
        var list: [Int] = []
        var listed: Set<GapKey> = []
        for (index, unsent) in gaps.enumerated() {
            guard list.count < limit else { break }
            let key = GapKey(unsent.gap)
            if unsent.isFollowed, let last = unsent.gap.lastSeq, last < .max,
                !listed.contains(GapKey(ring: key.ring, firstSeq: last + 1))
            {
                continue
            }
            if passedOver.contains(key) || keptBack(unsent.gap) { continue }
            list.append(index)
            listed.insert(key)
        }
        return list
    }

    /// There is none behind: the next list begins with the first again. False = it did so.
    public mutating func wrap() -> Bool {
        defer { behind = nil }
        return behind != nil
    }

    /// The server refused them together. True = it was one alone, so that a person should know.
    public mutating func refused(_ gaps: [APIGap], until: Duration) -> Bool {
        guard gaps.count <= 1 else {
            limit = gaps.count / 2
            return false
        }
        limit = 1
        passOver(gaps, until: until)
        return true
    }

    public mutating func taken(_ count: Int) { limit = min(Self.full, max(limit, 2 * count)) }

    /// The server took the rest of their list and not these.
    public mutating func passOver(_ gaps: [APIGap], until: Duration) {
        passedOver.formUnion(gaps.prefix(Self.passedOverLimit).map(GapKey.init))
        passedOverUntil = passedOverUntil ?? until
        guard passedOver.count >= Self.passedOverLimit else { return }
        behind = gaps.last.map(GapKey.init)
        rest(until: until)
    }

    /// Why they were not taken has nothing to do with which they were.
    public mutating func rest(until: Duration) { restsUntil = until }
}
