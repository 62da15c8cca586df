import BandProfile
import GatewayModel
import SQLite
import Timekeeping

/// Takes over what another gateway said better of samples that are stored here, inside a transaction that its caller
/// holds. What the band gave is never touched.
struct Adoption {
    let database: Database
    private let unconfirmed: SeqIntervals
    private let held: SeqIntervals
    private let stale: SeqIntervals
    private let writer: DerivedWriter
    private let contested: SeqIntervals
    private let gaps: GapLedger
    let persons: PersonIDs

    init(_ outbox: Outbox) throws(SQLiteError) {
        database = outbox.database
        unconfirmed = outbox.unconfirmed
        contested = outbox.comparisons.contested
        gaps = outbox.gaps
        held = try SeqIntervals(database, .held)
        stale = try SeqIntervals(database, .stale)
        writer = DerivedWriter(database: database, vague: try SeqIntervals(database, .vague))
        persons = PersonIDs(PersonTable(database: database))
    }

    /// `samples` as the server has them, of one band.
    func adopt(_ samples: [Sample], band: Int64) throws -> AdoptionReport {
        var report = AdoptionReport()
        var rings: [RingID: Int64] = [:]
        var adopted: [Int64: [DerivedWriter.Row]] = [:]
        var highest: Int64 = 0
        let wearers = WearerHistory(try PersonTable(database: database).assignments(band: band))
        let sorted = samples.sorted {
            ($0.ring.rawValue, $0.seq, $0.type.rawValue) < ($1.ring.rawValue, $1.seq, $1.type.rawValue)
        }
        for sample in sorted {
            guard let ring = try rings[sample.ring] ?? ringRow(sample.ring, band: band) else { continue }
            rings[sample.ring] = ring
            let key = SampleKey(ring: ring, seq: sample.seq, type: sample.type.rawValue)
            guard let row = try row(key, of: sample), let better = try better(sample, than: row),
                try !isWaiting(key)
            else { continue }
            adopted[ring, default: []].append(
                DerivedWriter.Row(
                    key: key, fields: better.fields, person: better.column, version: better.version))
            highest = max(highest, Int64(sample.version))
            report.adopted += 1
            if try isUnweighed(better, against: row, key, wearers) {
                try stale.add(ring: ring, key.seq...key.seq)
                report.marked += 1
            }
        }
        guard report.adopted > 0 else { return report }
        let versions = OutboxVersions(database: database, unconfirmed: unconfirmed)
        try versions.raiseFloor(band: band, to: highest)
        for (ring, rows) in adopted {
            for run in try writer.write(rows, ring: ring) { try gaps.refreshTimes(ring: ring, run) }
        }
        return report
    }

    // MARK: Helpers

    private func ringRow(_ ring: RingID, band: Int64) throws -> Int64? {
        try database.first(
            "SELECT id FROM rings WHERE band = ? AND ring = ?", .integer(band), .int(ring.rawValue)
        ) { $0.int64(0) }
    }

    /// The other side did not know of what is known here, or knew less: it is said again, on top of theirs. Only a time
    /// that moved, and a wearer that is named, are reasons against a higher version: each time that moves gets better, so
    /// that two gateways do not say two things in turn.
    private func isUnweighed(
        _ theirs: Row, against ours: Row, _ key: SampleKey, _ wearers: WearerHistory
    ) throws -> Bool {
        let (new, old) = (theirs.fields, ours.fields)
        if theirs.version == ours.version { return true }
        if new.isUncertain != old.isUncertain || new.bound ?? .max > old.bound ?? .max { return true }
        if abs(new.recordedAt - old.recordedAt) > Revision.thresholdMilliseconds { return true }
        if theirs.person == nil, case .person = wearers.wearer(at: new.recordedAt, bound: new.bound) {
            return true
        }
        return try !contested.overlapping(ring: key.ring, key.seq...key.seq).isEmpty
    }

    /// It goes up anyway, now or later, and is compared then.
    private func isWaiting(_ key: SampleKey) throws -> Bool {
        let seq = key.seq...key.seq
        return try !unconfirmed.overlapping(ring: key.ring, seq).isEmpty
            || !held.overlapping(ring: key.ring, seq).isEmpty
    }
}
