import BandProfile
import GatewayModel
import SQLite
import Timekeeping

/// What the times, the wearer and the offset of one ring's samples are derived from. Looks up what it needs and keeps it
/// until `ChunkWriter` or a change of the cause says that it is old.
final class TimeContext {
    let ring: Int64
    private let database: Database
    private let clocks: ClockLedger
    private let spans: SpanTable
    let derivation: Derivation
    private let personIDs: PersonIDs

    private var bracketSeqs: ClosedRange<UInt32>?
    private var bracket = SeqBracket(before: nil, after: nil)
    private var line: ClockLine?
    private var lineClock: UInt16 = 0
    private var strayReadings: [UInt16: ClockPoint?] = [:]
    private var brokenClocks: [UInt16: Bool] = [:]
    private var waitingClocks: [UInt16: Bool] = [:]

    init(
        ring: Int64, band: Int64, database: Database, clocks: ClockLedger, zones: @escaping ZoneLookup
    ) throws {
        self.ring = ring
        self.database = database
        self.clocks = clocks
        spans = SpanTable(database: database)
        let persons = PersonTable(database: database)
        let wearers = WearerHistory(try persons.assignments(band: band))
        var stays: [PersonID: [ZoneStay]] = [:]
        for person in Set(wearers.assignments.map(\.person)) {
            if let id = try persons.id(of: person) { stays[person] = try persons.zones(of: id) }
        }
        derivation = Derivation(
            wearers: wearers,
            offsets: OffsetChoice(
                persons: stays, host: try persons.zones(of: PersonTable.host), lookup: zones),
            withdrawn: try persons.withdrawn(band: band))
        personIDs = PersonIDs(persons)
    }

    /// What follows for a new record.
    func derive(_ timed: TimedRecord) throws -> DerivedFields {
        let record = timed.record
        let offset = record.offsetQuarterHours
        return derivation.fields(
            try estimate(seq: record.seq, bandTime: record.bandTimeMilliseconds, clockID: timed.clockID),
            bandOffset: offset == HistoryRecord.unknownOffset ? nil : Int(offset))
    }

    func estimate(seq: UInt32, bandTime: Int64, clockID: UInt16) throws -> TimeEstimate {
        // The usual record is of the same clock and between the same readings as the one before it.
        if let line, lineClock == clockID, bracketSeqs?.contains(seq) == true,
            let estimate = line.estimate(bandTime)
        {
            return estimate
        }
        var bracket = try bracket(of: seq)
        if !bracket.reads(clockID) {
            // A record of a clock that ended before this one was read, or readings that say nothing of the order.
            guard let reading = try reading(of: clockID) else {
                return bracket.estimate(
                    bandTime: bandTime, clockID: clockID,
                    block: try spans.span(ring: ring, clockID: clockID)?.bandTimes,
                    neighbours: try neighbours(of: bracket))
            }
            bracket = SeqBracket(before: reading, after: nil)
        } else if try !isBroken(clockID) {
            line = ClockLine(bracket, clockID: clockID)
            lineClock = clockID
        }
        return bracket.estimate(bandTime: bandTime, clockID: clockID, isBroken: try isBroken(clockID))
    }

    private func reading(of clockID: UInt16) throws -> ClockPoint? {
        if let known = strayReadings[clockID] { return known }
        let reading = try clocks.newest(ring: ring, clockID: clockID)?.point
        strayReadings[clockID] = .some(reading)
        return reading
    }

    /// The sample's clock was read, but not yet by a host clock that could be believed.
    func waitsForHost(_ clockID: UInt16) throws -> Bool {
        if let known = waitingClocks[clockID] { return known }
        // Once it was read by a clock that is believed, no earlier reading is waited for.
        let waits = try reading(of: clockID) == nil && clocks.waits(ring: ring, clockID: clockID)
        waitingClocks[clockID] = waits
        return waits
    }

    func isBroken(_ clockID: UInt16) throws -> Bool {
        if let known = brokenClocks[clockID] { return known }
        let broken = try clocks.isBroken(ring: ring, clockID: clockID)
        brokenClocks[clockID] = broken
        return broken
    }

    /// The value of `samples.person`.
    func column(_ wearer: WearerVerdict, published: Int64? = nil) throws -> Int64? {
        switch wearer {
        // Only once somebody was named, the absence of a name has to be said.
        case .unsaid, .nobody: published == nil ? nil : PersonColumn.nobody
        case .undecided: PersonColumn.undecided
        case .person(let person): try personIDs.id(of: person)
        }
    }

    func verdict(_ column: Int64?) throws -> WearerVerdict {
        switch column {
        case nil: .unsaid
        case PersonColumn.nobody?: .nobody
        case PersonColumn.undecided?: .undecided
        case let id?: try personIDs.person(id).map(WearerVerdict.person) ?? .nobody
        }
    }

    // MARK: Helpers

    private func bracket(of seq: UInt32) throws -> SeqBracket {
        if let bracketSeqs, bracketSeqs.contains(seq) { return bracket }
        let before = try clocks.before(seq, ring: ring)?.point
        let after = try clocks.after(seq, ring: ring)?.point
        bracket = SeqBracket(before: before, after: after)
        line = nil
        bracketSeqs = (before.map { $0.newestSeq + 1 } ?? 0)...max(seq, after?.newestSeq ?? .max)
        return bracket
    }

    /// Where the records just before and just after end and begin, by clocks that were read.
    private func neighbours(of bracket: SeqBracket) throws -> SeqBracket.Neighbours {
        var neighbours = SeqBracket.Neighbours()
        if let before = bracket.before, try !isBroken(before.clockID),
            let span = try spans.span(ring: ring, clockID: before.clockID)
        {
            let last = SeqBracket(before: before, after: nil).estimate(
                bandTime: span.bandTimes.upperBound, clockID: before.clockID)
            neighbours.notBefore = last.time - (last.bound ?? 0)
        }
        if let after = bracket.after, try !isBroken(after.clockID),
            let span = try spans.span(ring: ring, clockID: after.clockID)
        {
            let first = SeqBracket(before: nil, after: after).estimate(
                bandTime: span.bandTimes.lowerBound, clockID: after.clockID)
            neighbours.notAfter = first.time + (first.bound ?? 0)
        }
        return neighbours
    }
}

/// Rows of `persons` by their id, looked up once.
final class PersonIDs {
    private let persons: PersonTable
    private var ids: [PersonID: Int64] = [:]
    private var names: [Int64: PersonID] = [:]

    init(_ persons: PersonTable) { self.persons = persons }

    func id(of person: PersonID) throws -> Int64 {
        if let known = ids[person] { return known }
        let id = try persons.require(person)
        ids[person] = id
        return id
    }

    func person(_ id: Int64) throws -> PersonID? {
        if let known = names[id] { return known }
        let person = try persons.person(id)
        names[id] = person
        return person
    }
}
