import BandProfile
import GatewayModel
import SQLite

/// The upload's view of the store: what is not confirmed, and its confirmation.
///
/// A connection of its own, for the upload's thread only. Its writes are not synced: a confirm that a power cut
/// loses is only sent again. The database must have been opened by `Store` before.
public final class Outbox {
    public let path: String
    let database: Database
    private let files: OpenFiles
    let unconfirmed: SeqIntervals
    let gaps: GapLedger
    let selection: OutboxSelection
    let comparisons: ComparisonTable
    let confirmed: ConfirmedThrough
    private let confirmation: OutboxConfirmation
    private let now: () -> Timestamp
    /// The ring that the last batch was of: the next one is of another, so that no band waits for all of another's.
    private var lastRing: Int64 = 0

    public convenience init(directory: String, now: @escaping () -> Timestamp) throws(StoreError) {
        try self.init(directory: directory, vfs: nil, now: now)
    }

    init(directory: String, vfs: String?, now: @escaping () -> Timestamp) throws(StoreError) {
        let database = try DatabaseOpening(directory: StateDirectory(path: directory), vfs: vfs).openOutbox()
        let parts = try storing("open the database for the upload", database.path) {
            (try SeqIntervals(database), try GapLedger(database), try ComparisonTable(database))
        }
        files = try OpenFiles(of: database)
        self.database = database
        self.now = now
        path = database.path
        (unconfirmed, gaps, comparisons) = parts
        confirmed = ConfirmedThrough(database: database, unconfirmed: unconfirmed)
        selection = OutboxSelection(database: database, unconfirmed: unconfirmed)
        confirmation = OutboxConfirmation(database: database, unconfirmed: unconfirmed, gaps: gaps)
    }

    // MARK: Batches

    /// The next samples to send, at most `limit`; nil when nothing is unconfirmed outside `skipping`. Rings take
    /// turns.
    public func nextBatch(limit: Int = 500, skipping: Set<DeviceID> = []) throws(StoreError) -> OutboxBatch? {
        try storing("look for samples to send", path) {
            for ring in try selection.rings(after: lastRing, skipping: skipping) {
                let items = try selection.items(of: ring, limit: max(1, limit))
                guard !items.isEmpty else { continue }
                lastRing = ring.id
                let done = try confirmation.doneRuns(ring: ring.id, confirming: items)
                return OutboxBatch(
                    device: ring.device, ring: ring.ring, items: items,
                    completeThrough: try CompleteThrough(database: database, unconfirmed: unconfirmed)
                        .read(ring: ring.id, confirming: items, done: done), ringRow: ring.id)
            }
            return nil
        }
    }

    /// What `complete_through` becomes when these items of a batch are confirmed.
    public func completeThrough(
        of batch: OutboxBatch, confirming items: [OutboxItem]
    ) throws(StoreError) -> UInt32? {
        try storing("look up what is complete", path) {
            try CompleteThrough(database: database, unconfirmed: unconfirmed).read(
                ring: batch.ringRow, confirming: items,
                done: try confirmation.doneRuns(ring: batch.ringRow, confirming: items))
        }
    }

    /// Every record of the ring up to here is confirmed, or in gaps that the server has; nil = none.
    public func completeThrough(_ device: DeviceID, _ ring: RingID) throws(StoreError) -> UInt32? {
        try storing("look up what is complete", path) {
            guard let row = try selection.ring(device, ring) else { return nil }
            return try CompleteThrough(database: database, unconfirmed: unconfirmed).read(
                ring: row.id, confirming: [], done: [])
        }
    }

    /// The server has these. A sample that was corrected meanwhile stays unconfirmed. `contested`: the server knew some
    /// of them already, so that they are to be compared with what it has.
    public func confirm(
        _ items: [OutboxItem], of batch: OutboxBatch, contested: Bool = false
    ) throws(StoreError) {
        try write("confirm samples") { now in
            let seqs = try confirmation.confirm(items, ring: batch.ringRow, now: now)
            try UploadTable(database: database).noteSuccess(now)
            try confirmed.raiseIfWanted(ring: batch.ringRow)
            guard contested else { return }
            for run in seqs { try comparisons.contested.add(ring: batch.ringRow, run) }
        }
    }

    /// The server will not take these: they are passed, kept, and named as `unreadable` gaps. With `held` they are
    /// only put back until `releaseHeld`, and named in no gap.
    public func quarantine(
        _ items: [OutboxItem], of batch: OutboxBatch, code: String, message: String, held: Bool = false
    ) throws(StoreError) {
        try write("quarantine samples") { now in
            try confirmation.quarantine(
                items, ring: batch.ringRow, code: code, message: message, held: held, now: now)
        }
    }

    /// Samples that were held go up again. Returns how many there are.
    @discardableResult
    public func releaseHeld(_ device: DeviceID) throws(StoreError) -> Int {
        try write("release held samples") { _ in try confirmation.releaseHeld(device) }
    }

    /// What the server refused for good goes up again, all of it: a person asked for it. Returns how many samples, second
    /// readings of a key included.
    @discardableResult
    public func releaseQuarantined(_ device: DeviceID) throws(StoreError) -> Int {
        var released = 0
        // In slices: a commit of a sync never waits for all of them.
        while true {
            let count = try write("release refused samples") { _ in
                try confirmation.releaseQuarantined(device, limit: 1_000)
            }
            guard count > 0 else { return released }
            released += count
        }
    }

    // MARK: Gaps and status

    /// Gaps of one device that the server does not have as they are now, by ring and falling seq, at most `limit`, those
    /// behind `place` only. A place in a ring that is not known is behind all of them.
    public func unsentGaps(
        _ device: DeviceID, behind place: GapPlace? = nil, limit: Int = 500
    ) throws(StoreError) -> [UnsentRow] {
        try storing("look for gaps to send", path) {
            try GapQuery(database: database).unsent(device: device, behind: place, limit: limit)
        }
    }

    /// The server has these. A gap that changed meanwhile stays unsent.
    public func markGapsSent(_ gaps: [Gap], of device: DeviceID) throws(StoreError) {
        try write("note gaps as sent") { _ in
            for gap in gaps { try GapQuery(database: database).markSent(gap, device: device) }
        }
    }

    /// `theirs`: gaps that the server has of this device. Where another gateway knows why something is missing that it
    /// freed, that is the cause here, too. Returns how many gaps changed.
    public func learnCauses(_ theirs: [Gap], of device: DeviceID) throws(StoreError) -> Int {
        try write("learn why records are missing") { now in
            var learnt = 0
            for gap in theirs {
                guard let row = try selection.ring(device, gap.ring) else { continue }
                learnt += try gaps.learnCause(gap, ring: row.id, now: now)
            }
            return learnt
        }
    }

    /// True for a device of which gaps went up.
    public func hasSentGaps(_ device: DeviceID) throws(StoreError) -> Bool {
        try storing("look for gaps that were sent", path) {
            try GapQuery(database: database).hasSent(device: device)
        }
    }

    /// Gaps that went up and that an old request, which came late, took away or made longer again, wait to be sent again. Returns
    /// how many do.
    ///
    /// One that is longer there is another gateway's, unless everything behind the end that it has here is known here: to make
    /// that one shorter would leave records that nobody names. One that is shorter there may be another's, too. An old cause or
    /// old times of the same records are not seen.
    ///
    /// - Parameter theirs: the last seq, nil = no end, of every gap that the server has of this device.
    public func sendGapsAgain(
        _ device: DeviceID, besides theirs: [GapPlace: UInt32?]
    ) throws(StoreError) -> Int {
        try write("note gaps as not sent") { _ in
            let query = GapQuery(database: database)
            let changed = try query.sent(device: device).filter { ring, gap in
                guard let end = theirs[GapPlace(ring: gap.ring, firstSeq: gap.firstSeq)] else { return true }
                guard let last = gap.lastSeq, last < end ?? .max else { return false }
                return try gaps.isKnown(ring: ring, from: last + 1, through: end)
            }
            for (ring, gap) in changed { try query.setSent(false, ring: ring, firstSeq: gap.firstSeq) }
            return changed.count
        }
    }

    /// What `PUT …/status` says of a band; nil for a device that is not known here.
    public func deviceStatus(_ device: DeviceID) throws(StoreError) -> BandStatus? {
        try storing("read the status", path) {
            try StatusQuery(database: database).bands().first { $0.device == device }
        }
    }

    /// Every device that rows are kept of, forgotten ones included.
    public func devices() throws(StoreError) -> [DeviceID] {
        try storing("list the devices", path) {
            try database.all("SELECT device FROM bands ORDER BY id") { DeviceID($0.text(0)) }.compactMap {
                $0
            }
        }
    }

    public func rings(of device: DeviceID) throws(StoreError) -> [RingID] {
        try storing("list the rings", path) {
            try database.all(
                """
                SELECT ring FROM rings WHERE band = (SELECT id FROM bands WHERE device = ?)
                ORDER BY first_seen, id
                """, .text(device.text)
            ) { RingID(rawValue: UInt32(truncatingIfNeeded: $0.int64(0))) }
        }
    }

    /// Of all devices.
    public func pendingCount() throws(StoreError) -> Int {
        try storing("count what is pending", path) {
            let query = StatusQuery(database: database)
            return try database.all("SELECT id FROM bands") { $0.int64(0) }
                .reduce(0) { sum, band in sum + (try query.pending(band: band)) }
        }
    }

    // MARK: Helpers

    /// As `write`, and on the medium before it returns: for what nobody tells again after a power cut.
    func writeDurably<Value>(_ operation: String, _ body: (Timestamp) throws -> Value) throws(StoreError)
        -> Value
    {
        try storing(operation, path) {
            try database.setPragma("synchronous", "FULL")
            defer { _ = try? database.setPragma("synchronous", "NORMAL") }
            let time = now()
            return try database.transaction(.immediate, in: files) { try body(time) }
        }
    }

    func write<Value>(_ operation: String, _ body: (Timestamp) throws -> Value) throws(StoreError)
        -> Value
    {
        let time = now()
        return try storing(operation, path) {
            try database.transaction(.immediate, in: files) { try body(time) }
        }
    }
}
