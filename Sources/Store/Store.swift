import BandProfile
import GatewayModel
import SQLite
import Threading
import Timekeeping

/// The gateway's durable state, and the only writer for the sync. What a method returned for is on the medium.
///
/// Runs on a queue of its own. After an error nothing of the call was done; the next call may work again.
public actor Store {
    private let executor: QueueExecutor
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Where the database is.
    public nonisolated let path: String
    private let now: @Sendable () -> Timestamp
    /// Nil once closed.
    private var open: Engine?
    /// The database turned out to be damaged while it was open. From then on every call throws this, so that
    /// nothing is acked; the next `open` checks the file and sets it aside.
    private var damage: StoreError?
    /// The files were moved, and what was to be mended of that was.
    private var hasParted = false
    private let directory: StateDirectory
    let limits: StoreLimits
    /// Where letting go of old samples goes on; nil = from the start.
    var prunePosition: Pruner.Position?
    private var space: SpaceJudge
    /// What the file system has, and how large the log is.
    private let measureSpace: @Sendable () -> SpaceJudge.Reading?
    /// Of the whole file, while it is in use.
    private var backgroundCheck: BackgroundCheck?
    private var checkedOpening: DatabaseOpening?
    /// It was given up, and begins anew later.
    private var checkIsPutOff = false
    /// From a check that was given up to the next one.
    private static let checkRetry: Duration = .seconds(600)
    /// What was done about a damaged database when this one was opened.
    public nonisolated let salvage: SalvageReport?
    private var lastHealthWrite: ContinuousClock.Instant?
    private var isRevising = false
    /// Told when times, offsets or wearers of stored samples changed, which then have to go up.
    private var revised: @Sendable () -> Void = {}
    /// Writes of the health check are this far apart: a write for each watchdog ping would wear an SD card.
    private static let healthWriteInterval: Duration = .seconds(60)

    private init(
        _ engine: sending Engine, directory: StateDirectory, limits: StoreLimits, salvage: SalvageReport?,
        measureSpace: @escaping @Sendable () -> SpaceJudge.Reading?,
        now: @escaping @Sendable () -> Timestamp
    ) {
        executor = QueueExecutor(label: "org.bandferry.store")
        open = engine
        self.directory = directory
        path = directory.databasePath
        self.limits = limits
        space = SpaceJudge(floor: limits.freeSpaceFloor)
        self.measureSpace = measureSpace
        self.salvage = salvage
        self.now = now
    }

    /// Opens the database in a state directory whose lock the caller holds, and makes it when there is none.
    ///
    /// What can be read of a damaged database goes into a new one: see `salvage`. Where that is nothing it is set aside, and
    /// from then on this throws `.corrupt` until it was restored or `StoreRecovery.startEmpty` was called.
    /// `zones` looks IANA zones up for samples whose band does not know where it was.
    /// - Parameter measuresSpace: what stands for the file system in a test
    public static func open(
        directory: String, limits: StoreLimits = StoreLimits(),
        zones: @escaping ZoneLookup = { _, _ in nil },
        measuresSpace: (@Sendable () -> SpaceJudge.Reading?)? = nil, now: @escaping @Sendable () -> Timestamp
    ) throws(StoreError) -> Store {
        try open(
            directory: directory, vfs: nil, limits: limits, zones: zones, measuresSpace: measuresSpace,
            now: now)
    }

    static func open(
        directory: String, vfs: String?, limits: StoreLimits = StoreLimits(),
        zones: @escaping ZoneLookup = { _, _ in nil },
        measuresSpace: (@Sendable () -> SpaceJudge.Reading?)? = nil, checksInBackground: Bool = true,
        now: @escaping @Sendable () -> Timestamp
    ) throws(StoreError) -> Store {
        let directory = StateDirectory(path: directory)
        let opening = DatabaseOpening(directory: directory, vfs: vfs)
        let opened = try opening.openStore(now: now())
        let wantsCheck = opened.wantsCheck
        let salvage = opened.salvage
        let engine = try storing("open the database", directory.databasePath) {
            try Engine(opened.database, zones: zones)
        }
        let store = Store(
            engine, directory: directory, limits: limits, salvage: salvage,
            measureSpace: measuresSpace ?? {
                directory.freeSpace.map { SpaceJudge.Reading(free: $0, log: directory.logSize) }
            }, now: now)
        if wantsCheck, checksInBackground { Task { await store.checkInBackground(opening) } }
        return store
    }

    /// Ends cleanly: the log is moved into the database file. Every later call throws `.closed`.
    public func close() throws(StoreError) {
        guard let engine = open else { return }
        open = nil
        backgroundCheck?.cancel()
        backgroundCheck = nil
        // A damaged one is left as it is: the next open has to see it.
        if let damage {
            if damage.kind == .moved, !hasParted {
                try storing("close the database", path) { try part(from: engine) }
            }
            return
        }
        try storing("close the database", path) { try engine.close() }
        directory.clearSuspicion()
    }

    // MARK: Damage

    /// Another connection of this program met damage: nothing is committed until all of it was looked at.
    public func damageWasMet(_ error: StoreError) {
        // Nothing is wrong with one that was set aside or lost: it is simply not there.
        guard open != nil, damage == nil, directory.hasDatabase else { return }
        noteDamage(error)
    }

    func checkInBackground(_ opening: DatabaseOpening) {
        guard open != nil, damage == nil, backgroundCheck == nil else { return }
        checkedOpening = opening
        backgroundCheck = BackgroundCheck(opening) { [weak self] verdict in
            guard let self else { return }
            Task { await self.noteCheck(verdict) }
        }
    }

    /// It reads for up to half an hour, and a reader keeps the log from being moved, without which nothing is committed
    /// after a failed sync: see `Engine.transaction`. Commits go first.
    private func putCheckOff() {
        guard let check = backgroundCheck, let opening = checkedOpening else { return }
        check.cancel()
        backgroundCheck = nil
        guard !checkIsPutOff else { return }
        checkIsPutOff = true
        Task { [weak self] in
            try? await Task.sleep(for: Self.checkRetry)
            await self?.checkAgain(opening)
        }
    }

    private func checkAgain(_ opening: DatabaseOpening) {
        checkIsPutOff = false
        checkInBackground(opening)
    }

    private func noteCheck(_ verdict: BackgroundCheck.Verdict) {
        backgroundCheck = nil
        guard case .damaged(let finding) = verdict, open != nil, damage == nil else { return }
        noteDamage(
            StoreError(kind: .corrupt, operation: Self.checking, path: path, message: finding))
    }

    private static let checking = "check the database"

    /// From here on nothing is committed. The next `open` looks at all of it, and salvages it if need be.
    private func noteDamage(_ error: StoreError) {
        damage = error
        // A check that found nothing is not believed a second time, and one that found it is enough.
        let isKnown = error.operation == Self.checking || directory.suspicion != nil
        directory.note(isKnown ? .proven : .raised)
        backgroundCheck?.cancel()
        backgroundCheck = nil
    }

    /// From here on nothing is committed. The next `open` sees what is there now.
    private func noteMoved(_ error: StoreError) {
        damage = error
        backgroundCheck?.cancel()
        backgroundCheck = nil
        guard let open else { return }
        // At once: a kill would lose what only an open file has. Else `close` tries it again.
        try? part(from: open)
    }

    private func part(from engine: Engine) throws {
        // Where all was removed, an empty directory must not look like that of a new gateway.
        if let name = try? MetaTable(database: engine.database).read(.gatewayID) {
            try? directory.prepare()
            try? directory.rememberDatabase(of: GatewayID.text(name))
        }
        try engine.partWithFiles(at: now())
        hasParted = true
    }

    // MARK: Bands

    public func adopt(
        address: BluetoothAddress, device: DeviceID, mode: BandMode, ack: AckPolicy = .stored, name: String?,
        configured: Bool
    ) throws(StoreError) {
        let band = AdoptedBand(
            address: address, device: device, mode: mode, ack: ack, name: name, configured: configured)
        try write("adopt a band") { engine, _ in try engine.bands.adopt(band) }
    }

    /// A band that is only observed and that nobody named. One that is adopted or configured stays as it is, and one that was
    /// forgotten is not taken in.
    public func takeIn(
        address: BluetoothAddress, device: DeviceID, name: String?
    ) throws(StoreError) {
        let band = AdoptedBand(address: address, device: device, mode: .observe, name: name)
        // At each advertisement of such a band: nothing is written for that.
        guard try !read("look up a band", { engine in try engine.bands.isForgotten(address) }) else { return }
        try write("take a band in") { engine, _ in try engine.bands.takeIn(band) }
    }

    /// At start, before the bands of the configuration file are adopted: what it no longer names is no longer
    /// configured.
    public func clearConfigured() throws(StoreError) {
        try write("read the configuration") { engine, _ in try engine.bands.clearConfigured() }
    }

    /// Rows are kept and go on uploading. Of a band in the configuration file only the command's part is undone. It is not taken
    /// in by itself any more, until it is adopted.
    public func forget(_ address: BluetoothAddress) throws(StoreError) {
        try write("forget a band") { engine, now in try engine.bands.forget(address, now: now) }
    }

    /// Forgotten bands of which nothing was ever known are no longer listed. Returns how many there were.
    @discardableResult
    public func dropEmptyBands() throws(StoreError) -> Int {
        try write("drop bands without rows") { engine, _ in try engine.dropEmptyBands() }
    }

    public func adoptedBands() throws(StoreError) -> [AdoptedBand] {
        try read("list the bands") { engine in try engine.bands.adopted() }
    }

    public func noteContact(_ device: DeviceID, _ note: ContactNote) throws(StoreError) {
        try write("note a contact") { engine, now in
            let band = try engine.bands.require(device)
            try engine.bands.note(note, band: band)
            guard let info = note.info else { return }
            let ring = try engine.rings.findOrInsert(band: band, info.ring, now: now)
            try engine.rings.note(info, ring: ring.id, now: now)
        }
    }

    /// Nil as device = the gateway itself; nil as problem = all is well.
    public func setProblem(device: DeviceID?, _ problem: Problem?) throws(StoreError) {
        try write("note a problem") { engine, now in
            let band = try device.map { try engine.bands.require($0) } ?? 0
            try engine.bands.setProblem(problem, band: band, now: now)
        }
    }

    public func gatewayProblem() throws(StoreError) -> Problem? {
        try read("read the problem") { engine in try engine.bands.problem(band: 0) }
    }

    public func bandStatuses() throws(StoreError) -> [BandStatus] {
        try read("read the status") { engine in try StatusQuery(database: engine.database).bands() }
    }

    // MARK: Syncing

    /// What is known of the ring that Info shows, which is noted by this. `ack`: what its `ackThrough` waits for.
    public func progress(
        of device: DeviceID, info: RingInfo, ack: AckPolicy = .stored
    ) throws(StoreError) -> RingProgress {
        try write("look up a ring") { engine, now in
            try engine.progress(band: try engine.bands.require(device), info: info, ack: ack, now: now)
        }
    }

    /// Writes a chunk in one transaction. When this returns, the band may be acked up to `ackThrough`.
    public func commit(
        _ chunk: Chunk, of device: DeviceID, clock: ClockReading?, ack: AckPolicy = .stored
    ) throws(StoreError) -> CommitOutcome {
        try requireSpace("commit")
        return try write("commit") { engine, now in
            let band = try engine.bandID(of: device)
            var outcome = try engine.writer.write(chunk, band: band, clock: clock, now: now)
            if ack == .upload, let ring = try engine.rings.find(band: band, chunk.ring) {
                outcome.ackThrough = min(outcome.ackThrough, try engine.confirmed.raise(ring: ring.id))
            }
            return outcome
        }
    }

    /// How far a ring of a band may be acked now; 0 = nothing of it.
    public func ackPoint(of device: DeviceID, ring: RingID, ack: AckPolicy) throws(StoreError) -> UInt32 {
        try write("look how far a band may be acked") { engine, _ in
            guard let row = try engine.rings.find(band: try engine.bands.require(device), ring) else {
                return 0
            }
            return try engine.ackThrough(row, ack)
        }
    }

    /// Counts a try that did not get past `seq`. `connection` differs from one connection to the next, also
    /// across restarts.
    public func recordFailedTry(
        _ device: DeviceID, ring: RingID, seq: UInt32, unreadable: Bool, connection: Int64
    ) throws(StoreError) -> Attempts {
        try write("count a try") { engine, now in
            let row = try engine.rings.findOrInsert(band: try engine.bands.require(device), ring, now: now)
            return try AttemptTable(database: engine.database).record(
                ring: row.id, seq: seq, unreadable: unreadable, connection: connection)
        }
    }

    /// The band shows less than was committed from this ring: everything from `seq` is read again and compared.
    public func rewind(_ device: DeviceID, ring: RingID, to seq: UInt32) throws(StoreError) {
        try write("rewind a ring") { engine, now in
            let row = try engine.rings.findOrInsert(band: try engine.bands.require(device), ring, now: now)
            try engine.rings.rollBack(ring: row.id, to: max(1, seq), now: now)
            try engine.times.clocks.forgetOrder(ring: row.id)
            engine.times.forget()
        }
    }

    // MARK: Gaps and the server

    public func openQuestions() throws(StoreError) -> [OpenQuestion] {
        try read("list the open questions") { engine in try engine.writer.questions.everywhere() }
    }

    /// Closes a question as far as the answers cover it; what they leave out stays open. Returns how far the ring
    /// may be acked now.
    @discardableResult
    public func answer(_ question: OpenQuestion, with answers: [QuestionAnswer]) throws(StoreError) -> UInt32
    {
        try write("answer a question") { engine, now in
            let band = try engine.bands.require(question.device)
            let ring = try engine.rings.findOrInsert(band: band, question.suspect.ring, now: now)
            for answer in answers {
                switch answer {
                case .heldByServer(let seqs): try engine.writer.questions.subtract(ring: ring.id, seqs)
                case .gap(let gap): try engine.writer.writeGap(gap, ring: ring, now: now)
                }
            }
            return try engine.writer.ackThrough(ring: ring.id, nextSeq: ring.nextSeq)
        }
    }

    public func writeGap(_ gap: Gap, device: DeviceID) throws(StoreError) {
        try write("write a gap") { engine, now in
            let ring = try engine.rings.findOrInsert(
                band: try engine.bands.require(device), gap.ring, now: now)
            try engine.writer.writeGap(gap, ring: ring, now: now)
        }
    }

    /// Takes over what the server knows of a ring. True when it knows more than this database, which was then
    /// restored from an older copy (or another gateway syncs the band, too).
    @discardableResult
    public func applyServerState(
        _ device: DeviceID, ring: RingID, completeThrough: UInt32?, maxVersion: Int
    ) throws(StoreError) -> Bool {
        try write("take over the server's state") { engine, now in
            try engine.applyServerState(
                band: try engine.bands.require(device), ring: ring, completeThrough: completeThrough,
                maxVersion: maxVersion, now: now)
        }
    }

    /// Changes derived fields of a range. Each changed sample gets a higher version and goes up again. Returns how
    /// many changed.
    @discardableResult
    public func correct(
        _ device: DeviceID, ring: RingID, _ seqs: ClosedRange<UInt32>,
        _ change: @Sendable (inout DerivedFields, BandFields) -> Void
    ) throws(StoreError) -> Int {
        try write("correct samples") { engine, _ in
            let band = try engine.bands.require(device)
            guard let row = try engine.rings.find(band: band, ring),
                let context = try engine.context(ofRing: row.id)
            else { return 0 }
            return try engine.corrections.apply(ring: row.id, seqs, change) {
                try context.column($0, published: $1)
            } verdicts: {
                try context.verdict($0)
            }
        }
    }

    // MARK: Health

    /// A round trip for the watchdog: takes the write lock and reads; once a minute it writes to the medium too. Throws
    /// `.lowSpace` while `commit` would, so that no radio time is spent on what could not be taken.
    public func checkHealth() throws(StoreError) {
        let due = lastHealthWrite.map { $0 + Self.healthWriteInterval <= .now } ?? true
        try write("check the database's health") { engine, now in
            let meta = MetaTable(database: engine.database)
            if due { try meta.write(.health, now.milliseconds) }
            _ = try meta.read(.health)
        }
        if due { lastHealthWrite = .now }
        try requireSpace("check the free space")
    }

    /// Why nothing is committed at the moment; nil when there is room.
    public func shortage() -> StoreError? { lowSpace("check the free space") }

    private func requireSpace(_ operation: String) throws(StoreError) {
        if let error = lowSpace(operation) { throw error }
    }

    private func lowSpace(_ operation: String) -> StoreError? {
        let reading = limits.freeSpaceFloor > 0 ? measureSpace() : nil
        guard space.judge(reading), let reading else { return nil }
        return StoreError(
            kind: .lowSpace, operation: operation, path: path,
            message: "\(Self.megabytes(reading.free)) are free on this file system; syncing goes on when "
                + "\(Self.megabytes(space.recovery - reading.room + reading.free)) are")
    }

    private static func megabytes(_ bytes: Int64) -> String {
        let tenths = max(0, bytes) / 100_000
        return "\(tenths / 10).\(tenths % 10) MB"
    }

    // MARK: Helpers

    var wallTime: Timestamp { now() }

    func read<Value>(_ operation: String, _ body: (Engine) throws -> Value) throws(StoreError)
        -> Value
    {
        let engine = try engine(operation)
        return try noting(operation) { try body(engine) }
    }

    /// One durable transaction.
    func write<Value>(
        _ operation: String, _ body: (Engine, Timestamp) throws -> Value
    ) throws(StoreError) -> Value {
        let engine = try engine(operation)
        let time = now()
        let value = try noting(operation) { try engine.transaction { try body(engine, time) } }
        // After the return, so that the ack does not wait for it.
        if engine.wantsCheckpoint { Task { self.checkpoint() } }
        if engine.times.revisions.mayBePending, !isRevising {
            isRevising = true
            Task { self.revise() }
        }
        return value
    }

    private func noting<Value>(_ operation: String, _ body: () throws -> Value) throws(StoreError) -> Value {
        do {
            return try body()
        } catch {
            let error = StoreError(error, doing: operation, path: path)
            switch error.kind {
            case .corrupt where damage == nil: noteDamage(error)
            case .moved where damage == nil: noteMoved(error)
            case .io, .busy: putCheckOff()
            default: break
            }
            throw error
        }
    }

    /// A slice at a time, so that commits of the sync come in between.
    private func revise() {
        defer { isRevising = false }
        do {
            guard let changed = try reviseSlice() else { return }
            if changed > 0 { revised() }
        } catch {
            // What is stale stays marked; the next write tries again.
            return
        }
        isRevising = false
        // Goes on by way of `write`'s own look at what is pending.
        Task { self.continueRevising() }
    }

    private func continueRevising() {
        guard !isRevising else { return }
        isRevising = true
        revise()
    }

    private func reviseSlice() throws(StoreError) -> Int? {
        try write("derive samples again") { engine, now in try engine.revise(now: now) }
    }

    /// Called when times, offsets or wearers of stored samples changed.
    public func onRevision(_ revised: @escaping @Sendable () -> Void) { self.revised = revised }

    /// The upload marked samples, or changed where persons were, through its own connection: derives them again.
    public func takeUpMarks() throws(StoreError) {
        try write("look at what is stale") { engine, _ in
            engine.times.forget()
            engine.times.revisions.lookAgain()
        }
    }

    /// Derives all that is stale again before it returns. The store does so by itself; tests can't wait for it.
    package func settle() throws(StoreError) {
        while try reviseSlice() != nil {}
    }

    private func checkpoint() {
        // A failure leaves the log as it is: nothing is lost, and the next commit tells if the medium is at fault.
        guard let open, open.wantsCheckpoint else { return }
        open.checkpoint()
    }

    private func engine(_ operation: String) throws(StoreError) -> Engine {
        if let damage { throw damage }
        guard let open else {
            throw StoreError(kind: .closed, operation: operation, path: path, message: "the store was closed")
        }
        return open
    }
}
