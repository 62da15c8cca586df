import BandProfile
import GatewayModel
import SQLite
import Timekeeping

/// All that the writer keeps of times: readings, what each clock timed, which day is where, what is stale.
final class TimeKeeper {
    let clocks: ClockLedger
    let revisions: Revisions
    let hold: HostClockHold
    private let database: Database
    private let spans: SpanTable
    private let days: DayTable
    private let zones: ZoneLookup
    private var contexts: [Int64: TimeContext] = [:]

    /// Bands in reach at a time, and a few more.
    private static let contextLimit = 64

    init(_ database: Database, zones: @escaping ZoneLookup) throws(SQLiteError) {
        self.database = database
        self.zones = zones
        clocks = ClockLedger(database)
        revisions = try Revisions(database, clocks: clocks)
        hold = try HostClockHold(database)
        spans = SpanTable(database: database)
        days = DayTable(database: database)
    }

    /// Forgets what was looked up: after a rollback, and when a cause changed.
    func forget() {
        contexts = [:]
        clocks.forget()
    }

    func context(ring: Int64, band: Int64) throws -> TimeContext {
        if let known = contexts[ring] { return known }
        if contexts.count >= Self.contextLimit { contexts = [:] }
        let context = try TimeContext(
            ring: ring, band: band, database: database, clocks: clocks, zones: zones)
        contexts[ring] = context
        return context
    }

    /// Keeps a reading, and marks what it tells more of.
    func keep(_ reading: ClockReading, ring: RingTable.Row) throws {
        let read = max(Int64(ring.newestSeq ?? 0), ring.nextSeq - 1)
        let kept = try clocks.keep(reading, ring: ring.id, newestSeq: UInt32(clamping: read))
        guard kept.isNew else { return }
        contexts[ring.id] = nil
        try revisions.readingKept(kept, ring: ring)
    }

    /// Notes what a chunk brought; a clock that is new ends the block of the one before.
    func note(_ clocks: ClockSpans, _ days: DaySpans, ring: Int64) throws {
        for (clockID, span) in clocks.spans {
            if try spans.extend(ring: ring, clockID: clockID, span) {
                try revisions.clockBegan(ring: ring, at: span.seqs.lowerBound)
            }
        }
        for (day, seqs) in days.spans { try self.days.extend(ring: ring, day: day, seqs) }
    }
}

/// Collects what each clock timed in a chunk.
struct ClockSpans {
    private(set) var spans: [(clockID: UInt16, span: SpanTable.Span)] = []

    mutating func add(_ timed: TimedRecord) {
        let (seq, time) = (timed.record.seq, timed.record.bandTimeMilliseconds)
        guard let last = spans.indices.last, spans[last].clockID == timed.clockID else {
            spans.append((timed.clockID, SpanTable.Span(seqs: seq...seq, bandTimes: time...time)))
            return
        }
        spans[last].span.extend(seq: seq, bandTime: time)
    }
}
