import IngestAPI

/// Which gaps go in one list, after lists that the server refused: those that it takes go all the same.
///
/// It remembers counts, and the few that were refused alone; the next list is read from the outbox anew.
public struct GapLists: Equatable, Sendable {
    /// Ingest API 1 names no bound; so many are some 80 kB.
    public static let full = 500
    /// So many in a row, each refused alone, and it is not about them: the server is full, say.
    static let refusedSingles = 3
    /// It never remembers more.
    static let passedOverLimit = 100

    private var limit = Self.full
    private var singlesInARow = 0
    /// Refused alone; nothing is passed over any more after `passedOverUntil`.
    private var passedOver: Set<GapKey> = []
    private var passedOverUntil: Duration?
    private var restsUntil: Duration?

    public init() {}

    /// How many to read from the outbox: what is passed over is among them.
    public var readLimit: Int { Self.full + passedOver.count }

    /// Nothing of it is refused as far as is known.
    public var isWhole: Bool { passedOver.isEmpty && restsUntil == nil }

    /// False while all of them rest.
    public mutating func mayGo(now: Duration) -> Bool {
        if let until = passedOverUntil, until <= now {
            passedOver = []
            passedOverUntil = nil
        }
        if let until = restsUntil, until <= now { restsUntil = nil }
        return restsUntil == nil
    }

    /// The indices of those that go next.
    public func next(of gaps: [APIGap]) -> [Int] {
        Array(gaps.indices.filter { !passedOver.contains(GapKey(gaps[$0])) }.prefix(limit))
    }

    /// The server refused them together. True = it was one alone, so that a person should know.
    public mutating func refused(_ gaps: [APIGap], until: Duration) -> Bool {
        guard gaps.count <= 1 else {
            limit = gaps.count / 2
            return false
        }
        limit = 1
        singlesInARow += 1
        passedOver.formUnion(gaps.map(GapKey.init))
        passedOverUntil = passedOverUntil ?? until
        if singlesInARow >= Self.refusedSingles || passedOver.count >= Self.passedOverLimit {
            rest(until: until)
        }
        return true
    }

    public mutating func taken(_ count: Int) {
        singlesInARow = 0
        limit = min(Self.full, max(limit, 2 * count))
    }

    /// Why they were not taken has nothing to do with which they were.
    public mutating func rest(until: Duration) {
        restsUntil = until
        singlesInARow = 0
    }
}
