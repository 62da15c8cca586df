import BandProfile
import GatewayModel
import SQLite
import Timekeeping

/// The store's connection and everything that is prepared on it. Belongs to the `Store` actor.
final class Engine {
    let database: Database
    private let files: OpenFiles
    private let notice: OpenFilesNotice
    let bands: BandTable
    let rings: RingTable
    let writer: ChunkWriter
    let corrections: Corrections
    let times: TimeKeeper
    let people: PersonTable
    let confirmed: ConfirmedThrough
    private let reviser: Reviser
    /// Band ids never change, and none is reused but by `dropEmptyBands`, so they may be remembered.
    private var bandIDs: [DeviceID: Int64] = [:]
    /// The log was written and could not be synced: see `transaction`.
    private var logIsSuspect = false

    /// Pages in the log at which it is moved into the database: 4 MiB.
    private static let checkpointFrames = 1_000

    init(_ database: Database, zones: @escaping ZoneLookup) throws {
        self.database = database
        files = try OpenFiles(of: database)
        notice = OpenFilesNotice.post(files)
        bands = BandTable(database: database)
        writer = try ChunkWriter(database, zones: zones)
        rings = writer.rings
        times = writer.times
        confirmed = ConfirmedThrough(database: database, unconfirmed: writer.unconfirmed)
        people = PersonTable(database: database)
        corrections = Corrections(
            database: database, unconfirmed: writer.unconfirmed,
            writer: DerivedWriter(database: database, vague: times.revisions.vague),
            held: times.hold.held)
        reviser = Reviser(
            database: database, revisions: times.revisions, corrections: corrections, gaps: writer.gaps,
            held: times.hold.held)
        database.disableAutomaticCheckpoints()
    }

    deinit { notice.withdraw() }

    func close() throws {
        try MetaTable(database: database).write(.open, 0)
        try database.checkpoint(.truncate)
    }

    /// After `.moved`. The log is moved into the file that it belongs to, whatever that is called now: of one whose log was
    /// removed that is all there was to mend, and one that was renamed is whole. No log is left beside a database that
    /// it does not belong to.
    func partWithFiles(at now: Timestamp) throws {
        guard !files.isLogForeign() else {
            // Whoever writes there does so into the same database. It is left as it is.
            database.keepLogAtClose()
            return
        }
        defer {
            if (try? files.isDatabaseInPlace()) == false {
                files.removeLeftBehind(renaming: "\(files.path).moved-\(now.milliseconds)-wal")
            }
        }
        try MetaTable(database: database).write(.open, 0)
        guard try database.checkpoint(.truncate) else {
            throw StoreError(
                kind: .busy, operation: "checkpoint", path: database.path,
                message: "a reader keeps the log from being moved")
        }
    }

    /// One transaction, durable when this returns, in the files that the next start opens.
    ///
    /// After a failed fsync Linux takes the pages for clean, so a later fsync that succeeds proves nothing for
    /// them: a power cut could then break the log in the middle, below commits that were acked. So the log is
    /// first moved into the database, whose own fsync covers it, before anything is committed again.
    func transaction<Value>(_ body: () throws -> Value) throws -> Value {
        if logIsSuspect {
            guard try database.checkpoint(.truncate) else {
                throw StoreError(
                    kind: .busy, operation: "checkpoint", path: database.path,
                    message: "a reader keeps the log from being moved after a failed sync")
            }
            logIsSuspect = false
        }
        do {
            return try database.transaction(.immediate, in: files, body)
        } catch {
            writer.forget()
            if let error = error as? SQLiteError, error.code.primary == .ioError { logIsSuspect = true }
            throw error
        }
    }

    var wantsCheckpoint: Bool { database.logFrames >= Self.checkpointFrames }

    /// After a commit; see `Store.write`.
    func checkpoint() {
        do { try database.checkpoint(.passive) } catch {
            if error.code.primary == .ioError { logIsSuspect = true }
        }
    }

    /// Cached, for the hot path.
    func bandID(of device: DeviceID) throws -> Int64 {
        if let id = bandIDs[device] { return id }
        let id = try bands.require(device)
        bandIDs[device] = id
        return id
    }

    func dropEmptyBands() throws -> Int {
        bandIDs = [:]
        return try bands.dropEmpty()
    }

    // MARK: Times

    /// One slice of what is stale, in the caller's transaction. Nil when nothing is; else how many samples changed.
    func revise(now: Timestamp) throws -> Int? {
        try reviser.step(context: context(ofRing:), now: now)
    }

    func context(ofRing ring: Int64) throws -> TimeContext? {
        let band = try database.first("SELECT band FROM rings WHERE id = ?", .integer(ring)) { $0.int64(0) }
        return try band.map { try times.context(ring: ring, band: $0) }
    }

    /// What the host's clock is worth now.
    func note(_ stamp: HostStamp) throws {
        guard let anchor = try times.clocks.note(stamp) else { return }
        times.forget()
        if stamp.trust == .synchronised { try times.hold.hostTrusted() }
        try times.revisions.hostClockNoted(stamp, anchor: anchor)
    }

    // MARK: Rings

    /// How far it may be acked.
    func ackThrough(_ ring: RingTable.Row, _ ack: AckPolicy) throws -> UInt32 {
        let stored = try writer.ackThrough(ring: ring.id, nextSeq: ring.nextSeq)
        return ack == .stored ? stored : min(stored, try confirmed.raise(ring: ring.id))
    }

    func progress(band: Int64, info: RingInfo, ack: AckPolicy, now: Timestamp) throws -> RingProgress {
        let ring = try rings.findOrInsert(band: band, info.ring, now: now)
        try rings.note(info, ring: ring.id, now: now)
        var predecessors: [RingProgress.Predecessor] = []
        for other in try rings.all(band: band) where other.id != ring.id {
            let isAsked = try writer.questions.all(ring: other.id).contains { $0.seqs.upperBound == .max }
            guard !isAsked, try !writer.gaps.hasOpenEnd(ring: other.id) else { continue }
            predecessors.append(RingProgress.Predecessor(ring: other.ring, nextSeq: other.nextSeqOnWire))
        }
        return RingProgress(
            nextSeq: ring.nextSeqOnWire,
            ackThrough: try ackThrough(ring, ack),
            predecessors: predecessors, openQuestions: try writer.questions.all(ring: ring.id).map(\.seqs),
            attempts: try AttemptTable(database: database).read(ring: ring.id, seq: ring.nextSeqOnWire),
            lastRecordedAt: try NeighbourTimes(database: database, ring: ring.id).newest())
    }

    func applyServerState(
        band: Int64, ring: RingID, completeThrough: UInt32?, maxVersion: Int, now: Timestamp
    ) throws -> Bool {
        let row = try rings.findOrInsert(band: band, ring, now: now)
        var knowsMore = try bands.raiseVersionFloor(band: band, to: maxVersion)
        // Of a ring that rolled back nothing is known by its number alone.
        guard let completeThrough, !row.rolledBack else { return knowsMore }
        try writer.questions.subtract(ring: row.id, 0...completeThrough)
        if Int64(completeThrough) >= row.nextSeq {
            // A ring that is new here was not restored from anything.
            if row.nextSeq > 1 { knowsMore = true }
            try rings.advance(ring: row.id, toAtLeast: Int64(completeThrough) + 1, stored: 0, now: now)
        }
        return knowsMore
    }
}
