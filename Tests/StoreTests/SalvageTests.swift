import BandProfile
import Foundation
import GatewayModel
import SQLite
import Testing

@testable import Store

/// Pages of a database are destroyed at random: afterwards it opens, what survived is there, and of the rest each seq
/// comes again from the band, is confirmed by the server, or is named in a gap.
@Suite struct SalvageTests {
    private let device = StoreFixture.device
    private let ring = StoreFixture.ring

    /// Numbers of seeds to run; more by hand.
    static let seeds: Range<UInt64> = {
        let environment = ProcessInfo.processInfo.environment
        let first = environment["STORE_SEED"].flatMap { UInt64($0) } ?? 0
        return first..<(first + (environment["STORE_SEEDS"].flatMap { UInt64($0) } ?? 24))
    }()

    @Test(arguments: seeds) func whatSurvivesIsKeptAndTheRestIsFoundOrNamed(_ seed: UInt64) async throws {
        var life = try await DamagedLife(seed: seed)
        try await life.damage()
        guard let store = try await life.reopen() else { return }
        try await life.checkSurvivors(store)
        try await life.syncAndUpload(store)
        try await life.checkAccounts(store)
    }

    @Test func aCopyThatWasBrokenOffIsForgottenAndACompleteOneIsPutInPlace() async throws {
        var life = try await DamagedLife(seed: 1)
        try await life.damage()
        // As a power cut leaves them: half a copy, and beside it the damaged database.
        let garbage = Data(repeating: 0x11, count: 100_000)
        try garbage.write(to: URL(fileURLWithPath: life.fixture.databasePath + ".salvaging"))
        _ = try #require(try await life.reopen())
        #expect(!life.fixture.names.contains { $0.hasSuffix(".salvaging") || $0.hasSuffix(".salvaged") })

        // Between the two renames: the copy is complete, and the database has its old name or none.
        for isThere in [true, false] {
            let other = try StoreFixture()
            let store = try await other.openWithBand()
            _ = try await store.commit(chunk(1...50), of: device, clock: reading())
            try await store.close()
            try FileManager.default.copyItem(
                atPath: other.databasePath, toPath: other.databasePath + ".salvaged")
            if isThere {
                try garbage.write(to: URL(fileURLWithPath: other.databasePath))
            } else {
                try FileManager.default.removeItem(atPath: other.databasePath)
            }
            #expect(try await other.open().bandStatuses().first?.stored == 50)
            #expect(!other.names.contains { $0.hasSuffix(".salvaged") })
        }
    }

    @Test func onlySoManyDamagedDatabasesAreKept() async throws {
        let fixture = try StoreFixture()
        let store = try await fixture.openWithBand()
        _ = try await store.commit(chunk(1...2_000), of: device, clock: reading())
        try await store.close()
        for _ in 0..<5 {
            fixture.clock.advance(milliseconds: 1_000)
            try Self.destroyLeaf(fixture)
            let store = try fixture.open()
            #expect(store.salvage != nil)
            try await store.close()
        }
        // Without a log, which went into it.
        #expect(fixture.names.filter { $0.hasPrefix("gateway.db.salvaged-") }.count == 3)
        #expect(!fixture.names.contains("gateway.db.suspect"))
    }

    /// One leaf of `samples`, by its first bytes.
    private static func destroyLeaf(_ fixture: StoreFixture) throws {
        let url = URL(fileURLWithPath: fixture.databasePath)
        var bytes = try Data(contentsOf: url)
        let size = 4_096
        for page in stride(from: bytes.count / size - 1, through: 2, by: -1) {
            let page = page * size
            let content = [UInt8](bytes[page..<(page + size)])
            guard case .leaf(let rows)? = BTreePage(content, columns: 13, pageCount: .max),
                rows.first.map({ $0.rowID >> 40 > 0 }) == true
            else { continue }
            bytes.replaceSubrange(page..<(page + 64), with: Data(repeating: 0xaa, count: 64))
            try bytes.write(to: url)
            return
        }
        Issue.record("no leaf was found")
    }

    @Test func whatTheServerHasIsNotAskedForAgain() async throws {
        let fixture = try StoreFixture()
        let store = try await fixture.openWithBand()
        _ = try await store.commit(chunk(1...2_000), of: device, clock: reading())
        let outbox = try fixture.outbox()
        while let batch = try outbox.nextBatch() { try outbox.confirm(batch.items, of: batch) }
        try await store.close()
        try Self.destroyLeaf(fixture)
        let opened = try fixture.open()
        let report = try #require(opened.salvage)
        #expect(report.damagedTables == ["samples"])
        #expect(report.losses.isEmpty)
        #expect(report.samples < 2_000)
        // The resume point stays; nothing goes up again.
        #expect(try await opened.progress(of: device, info: info(1_990, 2_000)).nextSeq == 2_001)
        #expect(try fixture.outbox().nextBatch() == nil)
        #expect(try await opened.gatewayProblem()?.code == "store_salvaged")
    }

    // MARK: a band that waits for the server: `ack = upload`

    private func openWithWaitingBand(_ fixture: StoreFixture) async throws -> Store {
        let store = try fixture.open()
        try await store.adopt(
            address: StoreFixture.address, device: device, mode: .own, ack: .upload, name: nil,
            configured: true)
        return store
    }

    /// A row that says more than the server has confirmed, beside one that shows the table to be damaged.
    @Test func ofADamagedTableOfRingsNoConfirmationIsBelieved() async throws {
        let fixture = try StoreFixture()
        let store = try await openWithWaitingBand(fixture)
        _ = try await store.progress(of: device, info: info(1, 100))
        _ = try await store.commit(chunk(1...100), of: device, clock: reading(), ack: .upload)
        try await store.close()
        do {
            let database = try Database(path: fixture.databasePath, access: .readWrite)
            try database.execute(
                """
                UPDATE rings SET confirmed_through = 100000;
                INSERT INTO rings (band, ring, next_seq, first_seen, last_seen) SELECT band, -5, 1, 0, 0 FROM rings
                """)
        }
        let report = try #require(
            try StoreRecovery.salvage(directory: fixture.directory, now: fixture.clock.now))
        #expect(report.damagedTables.contains("rings"))
        let opened = try fixture.open()
        // The band is read again, and all of it is here; the server has none.
        let outcome = try await opened.commit(
            chunk(1...100), of: device, clock: reading(), ack: .upload)
        #expect(outcome.ackThrough == 0)
        #expect(try await opened.ackPoint(of: device, ring: ring, ack: .upload) == 0)
        let outbox = try fixture.outbox()
        while let batch = try outbox.nextBatch() { try outbox.confirm(batch.items, of: batch) }
        #expect(try await opened.ackPoint(of: device, ring: ring, ack: .upload) == 100)
    }

    /// What was confirmed, waits to go up in a better version and is lost then, is read again and kept until it is up.
    @Test func whatIsReadAgainAfterASalvageIsAckedOnceItIsUp() async throws {
        let fixture = try StoreFixture()
        let store = try await openWithWaitingBand(fixture)
        _ = try await store.progress(of: device, info: info(1, 2_000))
        _ = try await store.commit(chunk(1...2_000), of: device, clock: reading(), ack: .upload)
        let before = try fixture.outbox()
        while let batch = try before.nextBatch() { try before.confirm(batch.items, of: batch) }
        #expect(try await store.ackPoint(of: device, ring: ring, ack: .upload) == 2_000)
        try await store.correct(device, ring: ring, 1...2_000) { fields, _ in fields.recordedAt += 1 }
        try await store.close()
        try Self.destroyLeaf(fixture)
        let opened = try fixture.open()
        let first = try #require(opened.salvage?.losses.first?.seqs.first?.lowerBound)
        let progress = try await opened.progress(of: device, info: info(1, 2_000), ack: .upload)
        #expect(progress.nextSeq == first)
        let outcome = try await opened.commit(
            chunk(first...2_000), of: device, clock: reading(), ack: .upload)
        #expect(outcome.ackThrough == first - 1)
        let outbox = try fixture.outbox()
        while let batch = try outbox.nextBatch() { try outbox.confirm(batch.items, of: batch) }
        #expect(try await opened.ackPoint(of: device, ring: ring, ack: .upload) == 2_000)
    }

    // MARK: what the server would not take

    /// Of an owned band whose records wait for the server: all are stored, the last page of them only as `refuse` left it.
    private func withSetAside(
        held: Bool,
        _ body: (_ fixture: StoreFixture, _ opened: Store, _ gone: ClosedRange<UInt32>) async throws -> Void
    ) async throws {
        let fixture = try StoreFixture()
        let store = try await openWithWaitingBand(fixture)
        _ = try await store.progress(of: device, info: info(1, 2_000), ack: .upload)
        _ = try await store.commit(chunk(1...2_000), of: device, clock: reading(), ack: .upload)
        let outbox = try fixture.outbox()
        while let batch = try outbox.nextBatch() {
            let taken = batch.items.filter { $0.key.seq <= 1_500 }
            try outbox.confirm(taken, of: batch)
            try outbox.quarantine(
                batch.items.filter { $0.key.seq > 1_500 }, of: batch,
                code: held ? "consent_missing" : "bad_time",
                message: "", held: held)
        }
        let gaps = try outbox.unsent(device, limit: 1_000)
        try outbox.markGapsSent(gaps, of: device)
        try await store.close()
        try Self.destroyLeaf(fixture)
        let opened = try fixture.open()
        let stored = Set(try fixture.samples().map(\.seq))
        let first = try #require((1...2_000 as ClosedRange<UInt32>).first { !stored.contains($0) })
        #expect(first > 1_500 && stored.count == first - 1, "the page that was destroyed is the last")
        try await body(fixture, opened, first...2_000)
    }

    @Test func whatWaitedForConsentAndIsLostIsAskedForAgainAndNotAckedAway() async throws {
        try await withSetAside(held: true) { fixture, opened, gone in
            let report = try #require(opened.salvage)
            #expect(report.damagedTables == ["samples"])
            #expect(report.losses.map(\.seqs) == [[gone]])
            #expect(report.problem.text.contains("\(gone.count) record(s) could not be read"))
            #expect(try await opened.ackPoint(of: device, ring: ring, ack: .upload) == 1_500)
            // Consent comes, and what is here goes up. The band has the rest still, and is not told to free it.
            let outbox = try fixture.outbox()
            _ = try outbox.releaseHeld(device)
            while let batch = try outbox.nextBatch() { try outbox.confirm(batch.items, of: batch) }
            let kept = gone.lowerBound - 1
            #expect(try await opened.ackPoint(of: device, ring: ring, ack: .upload) == kept)
            let progress = try await opened.progress(of: device, info: info(1_501, 2_000), ack: .upload)
            #expect(progress.nextSeq == gone.lowerBound)
            let outcome = try await opened.commit(chunk(gone), of: device, clock: reading(), ack: .upload)
            #expect(outcome.ackThrough == kept)
            #expect(try fixture.samples().count == 2_000)
            while let batch = try outbox.nextBatch() { try outbox.confirm(batch.items, of: batch) }
            #expect(try await opened.ackPoint(of: device, ring: ring, ack: .upload) == 2_000)
        }
    }

    @Test func whatWaitedForConsentAndTheBandHasNoMoreIsNamed() async throws {
        try await withSetAside(held: true) { fixture, opened, gone in
            let progress = try await opened.progress(of: device, info: info(2_001, 2_010))
            let lost = chunk(
                (2_001...2_010).map { record($0) },
                questions: [suspect(progress.nextSeq, 2_000, .freedElsewhere)], through: 2_010)
            _ = try await opened.commit(lost, of: device, clock: reading())
            let question = try #require(try await opened.openQuestions().first)
            try await opened.answer(
                question,
                with: [.gap(gap(question.suspect.firstSeq, question.suspect.lastSeq, .freedElsewhere))])
            let gaps = try fixture.gaps()
            #expect(gaps.map(\.cause) == [.storageLost])
            #expect(gaps.map(\.firstSeq) == [gone.lowerBound] && gaps.map(\.lastSeq) == [2_000])
        }
    }

    /// A gap names it since the server refused it; that it is no longer here either is said, and the band is asked.
    @Test func whatWasRefusedForGoodAndIsLostIsSaidAndAskedForAgain() async throws {
        try await withSetAside(held: false) { fixture, opened, gone in
            #expect(opened.salvage?.losses.map(\.seqs) == [[gone]])
            #expect(opened.salvage?.lostSamples == gone.count)
            // Its gap is at the server, so the mark had passed it.
            let progress = try await opened.progress(of: device, info: info(1, 2_000), ack: .upload)
            #expect(progress.nextSeq == gone.lowerBound)
            #expect(
                try await opened.ackPoint(of: device, ring: ring, ack: .upload) == gone.lowerBound - 1)
            let gaps = try fixture.gaps()
            #expect(gaps.count == 500 && gaps.allSatisfy { $0.cause == .unreadable })
        }
    }

    /// Of what is sound all is known: nothing is taken for lost while its sample is here.
    @Test func whatWaitsForConsentAndIsHereGoesOnWaiting() async throws {
        try await withSetAside(held: true) { fixture, opened, gone in
            let outbox = try fixture.outbox()
            #expect(try outbox.nextBatch() == nil)
            #expect(try outbox.releaseHeld(device) == Int(gone.lowerBound) - 1_501)
        }
    }

    @Test func secondReadingsThatMayBeLostAreSaidAndTheBandIsReadAgain() async throws {
        let fixture = try StoreFixture()
        let store = try await openWithWaitingBand(fixture)
        _ = try await store.progress(of: device, info: info(1, 100), ack: .upload)
        _ = try await store.commit(chunk(1...100), of: device, clock: reading(), ack: .upload)
        let other = chunk([record(50, value: 99)], through: 100)
        #expect(try await store.commit(other, of: device, clock: reading(), ack: .upload).conflicts == 1)
        let before = try fixture.outbox()
        while let batch = try before.nextBatch() {
            try before.confirm(batch.items.filter { $0.origin == .sample }, of: batch)
            let second = batch.items.filter { $0.origin != .sample }
            try before.quarantine(second, of: batch, code: "consent_missing", message: "", held: true)
        }
        #expect(try await store.ackPoint(of: device, ring: ring, ack: .upload) == 49)
        try await store.close()
        try Self.destroyTable("conflicts", fixture)
        let opened = try fixture.open()
        let report = try #require(opened.salvage)
        #expect(report.damagedTables == ["conflicts"])
        #expect(report.problem.text.contains("Second readings"))
        #expect(try await opened.ackPoint(of: device, ring: ring, ack: .upload) == 49)
        let progress = try await opened.progress(of: device, info: info(50, 100), ack: .upload)
        #expect(progress.nextSeq == 50)
        let again = chunk([record(50, value: 99)] + (51...100).map { record($0) }, through: 100)
        let outcome = try await opened.commit(again, of: device, clock: reading(), ack: .upload)
        #expect(outcome.conflicts == 1 && outcome.ackThrough == 49)
        let outbox = try fixture.outbox()
        while let batch = try outbox.nextBatch() { try outbox.confirm(batch.items, of: batch) }
        #expect(try await opened.ackPoint(of: device, ring: ring, ack: .upload) == 100)
    }

    @Test func theEndOfARingThatIsNoLongerOnTheBandIsAskedOfTheServer() async throws {
        let fixture = try StoreFixture()
        let store = try await fixture.openWithBand()
        _ = try await store.commit(chunk(1...2_000), of: device, clock: reading())
        let next = RingID(rawValue: 9)
        _ = try await store.progress(of: device, info: info(1, 3, ring: next, formatCount: 2))
        _ = try await store.commit(chunk(1...3, ring: next), of: device, clock: reading())
        try await store.close()
        try Self.destroyLeaf(fixture)
        let opened = try fixture.open()
        let report = try #require(opened.salvage)
        #expect(report.losses.map(\.ring).contains(ring) || report.losses.map(\.ring).contains(next))
        for loss in report.losses where loss.ring == ring {
            let questions = try await opened.openQuestions().filter { $0.suspect.ring == ring }
            #expect(questions.map(\.suspect.cause) == loss.seqs.map { _ in .storageLost })
        }
    }

    @Test func damageThatIsMetWhileItIsOpenLeadsToASalvage() async throws {
        let fixture = try StoreFixture()
        let store = try await fixture.openWithBand()
        _ = try await store.commit(chunk(1...2_000), of: device, clock: reading())
        try await store.close()
        try Self.destroyLeaf(fixture)
        // A check that finds nothing in time lets it open; then the damage is met.
        var opening = DatabaseOpening(
            directory: StateDirectory(path: fixture.directory), vfs: StoreFixture.vfs)
        opening.cleanCheckLimit = .zero
        #expect(try opening.openStore(now: fixture.clock.now).wantsCheck)
        opening.directory.note(.raised)
        opening.suspectCheckLimit = .zero
        #expect(try opening.openStore(now: fixture.clock.now).salvage != nil)
        #expect(opening.directory.suspicion == nil)
    }

    @Test func theCheckInTheBackgroundFindsWhatTheShortOneDidNot() async throws {
        let fixture = try StoreFixture()
        let store = try await fixture.openWithBand()
        _ = try await store.commit(chunk(1...2_000), of: device, clock: reading())
        try await store.close()
        let opening = DatabaseOpening(
            directory: StateDirectory(path: fixture.directory), vfs: StoreFixture.vfs)
        func verdict() async -> BackgroundCheck.Verdict {
            await withCheckedContinuation { (answer: CheckedContinuation<BackgroundCheck.Verdict, Never>) in
                Box.shared.hold(BackgroundCheck(opening) { answer.resume(returning: $0) })
            }
        }
        #expect(await verdict() == .sound)
        try Self.destroyLeaf(fixture)
        guard case .damaged(let finding) = await verdict() else {
            Issue.record("the damage was not found")
            return
        }
        #expect(finding.hasPrefix("samples: "))
    }

    /// A check that is let go of is stopped.
    private final class Box: @unchecked Sendable {
        static let shared = Box()
        private let lock = NSLock()
        private var held: [BackgroundCheck] = []

        func hold(_ check: BackgroundCheck) {
            lock.lock()
            held.append(check)
            lock.unlock()
        }
    }

    /// Rows that only the indexes still tell of. Of two ids of one address one at most was in use, and which is not known.
    @Test func bandsOfADamagedTableAreObservedWhereTheirIDIsCertain() async throws {
        let fixture = try StoreFixture()
        let store = try await fixture.openWithBand()
        let (twice, other) = (BluetoothAddress(bits: 2), BluetoothAddress(bits: 3))
        let forgotten = BluetoothAddress(bits: 4)
        for (address, device) in [
            (twice, "old-name"), (twice, "new-name"), (other, "kitchen"), (forgotten, "given-away"),
        ] {
            try await store.adopt(
                address: address, device: try #require(DeviceID(device)), mode: .own, name: nil,
                configured: false)
        }
        try await store.forget(forgotten)
        _ = try await store.commit(chunk(1...5), of: device, clock: reading())
        try await store.close()
        try Self.destroyTable("bands", fixture)
        let opened = try fixture.open()
        #expect(opened.salvage?.damagedTables == ["bands"])
        let found = try await opened.adoptedBands()
        #expect(found.map(\.address) == [other, StoreFixture.address], "what was forgotten stays so")
        #expect(found.allSatisfy { $0.mode == .observe })
        #expect(try await opened.bandStatuses().count == 5, "the samples of all go on uploading")
    }

    /// The one page of a table, not its indexes.
    private static func destroyTable(_ table: String, _ fixture: StoreFixture) throws {
        let root = try Database(path: fixture.databasePath, access: .readOnly).first(
            "SELECT rootpage FROM sqlite_schema WHERE name = '\(table)'"
        ) { $0.int(0) }
        let page = (try #require(root) - 1) * 4_096
        let url = URL(fileURLWithPath: fixture.databasePath)
        var bytes = try Data(contentsOf: url)
        bytes.replaceSubrange(page..<(page + 4_096), with: Data(repeating: 0xaa, count: 4_096))
        try bytes.write(to: url)
    }

    @Test func theCommandBringsBackWhatWasSetAside() async throws {
        let fixture = try StoreFixture()
        let store = try await fixture.openWithBand()
        _ = try await store.commit(chunk(1...2_000), of: device, clock: reading())
        try await store.close()
        try Self.destroyLeaf(fixture)
        _ = try StateDirectory(path: fixture.directory).setDatabaseAside(at: fixture.clock.now)
        let report = try #require(
            try StoreRecovery.salvage(directory: fixture.directory, now: fixture.clock.now))
        #expect(report.samples > 1_500)
        #expect(try await fixture.open().bandStatuses().first?.stored == report.samples)
    }
}

/// A band, a server and a gateway whose database is damaged between two syncs.
private struct DamagedLife {
    let seed: UInt64
    var random: SeededRandom
    /// From the damage on the files as they were on the disk, which another process has open no more.
    var fixture: StoreFixture
    private var live: [Store] = []
    let device = StoreFixture.device
    let ring = StoreFixture.ring
    /// What the band has recorded, of which it holds what was not acked, and some more.
    var newest: UInt32 = 0
    var oldest: UInt32 = 1
    /// What the server has taken, each once.
    var server: Set<UInt32> = []
    /// How often the server got something under a key that it knew, with another value.
    var conflicts = 0
    /// Of the database as it was.
    var before: [Int64: [SQLiteValue]] = [:]
    var destroyed: [Int] = []
    /// Pages, counted from 0, that say which tables there are.
    var schemaPages: [Int] = []

    init(seed: UInt64) async throws {
        self.seed = seed
        random = SeededRandom(seed: seed)
        fixture = try StoreFixture()
        let store = try await fixture.openWithBand()
        let outbox = try fixture.outbox()
        for _ in 0..<Int.random(in: 20...60, using: &random) {
            let first = newest + 1
            newest += UInt32.random(in: 20...200, using: &random)
            _ = try await store.progress(of: device, info: info(oldest, newest))
            _ = try await store.commit(chunk(first...newest), of: device, clock: reading())
            for _ in 0..<Int.random(in: 0...1, using: &random) {
                guard let batch = try outbox.nextBatch(limit: 100) else { break }
                server.formUnion(batch.items.map(\.sample.seq))
                try outbox.confirm(batch.items, of: batch)
            }
        }
        // All of it was acked; the band keeps some until it needs the room.
        oldest = UInt32.random(in: 1...newest, using: &random)
        if Bool.random(using: &random) {
            try await store.close()
        } else {
            // The log holds a part of it.
            live = [store]
        }
    }

    /// Destroys some pages, as whole ones or sectors, with what media leave there.
    mutating func damage() async throws {
        fixture = try fixture.imageAfterPowerCut()
        let path = fixture.databasePath
        // What there is to lose, read while it is whole. The log goes into the file by that: a log that is damaged ends at
        // the damage, and what it held is not acked as far as the database says.
        do {
            let whole = try Database(path: path, access: .readWrite)
            try whole.checkpoint(.truncate)
            try whole.query("SELECT * FROM samples") { row in
                before[row.int64(0)] = (0..<Int32(row.columnCount)).map { row.value($0) }
            }
        }
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let pages = bytes.count / 4_096
        if case .interior(let children)? = BTreePage(
            [UInt8](bytes[0..<4_096]), isFirst: true, columns: 5, pageCount: UInt32(pages))
        {
            schemaPages = children.map { Int($0) - 1 }
        }
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            // Page 1 says what this file is; without it nothing can be told, which another test shows.
            let page = Int.random(in: 1..<pages, using: &random)
            destroyed.append(page)
            let isWhole = Bool.random(using: &random)
            let start = page * 4_096 + (isWhole ? 0 : 512 * Int.random(in: 0..<8, using: &random))
            let count = isWhole ? 4_096 : 512
            let fill = Int.random(in: 0..<3, using: &random)
            for index in start..<(start + count) {
                bytes[index] = fill == 0 ? 0 : fill == 1 ? 0xff : UInt8.random(in: 0...255, using: &random)
            }
        }
        try bytes.write(to: URL(fileURLWithPath: path))
    }

    var name: Comment { "seed \(seed), pages \(destroyed.map(String.init).joined(separator: " "))" }

    /// Nil where nothing can be told any more, which is then said and waits for a person.
    func reopen() async throws -> Store? {
        do {
            let clock = fixture.clock
            return try Store.open(directory: fixture.directory, now: { clock.now })
        } catch {
            #expect(error.kind == .corrupt, name)
            #expect(fixture.names.contains { $0.hasPrefix("gateway.db.corrupt-") }, name)
            // Both `rings` and its index, or both of `bands`, are needed for that, or a page of the schema.
            #expect(destroyed.count > 1 || destroyed.contains { schemaPages.contains($0) }, name)
            return nil
        }
    }

    /// Rows that are there are as they were, and of every page of samples that was not destroyed all of them are there.
    func checkSurvivors(_ store: Store) async throws {
        let database = try Database(path: fixture.databasePath, access: .readOnly)
        #expect(try database.check(full: true, within: .seconds(60)) == .sound, name)
        var keys: Set<Int64> = []
        try database.query("SELECT * FROM samples") { row in
            keys.insert(row.int64(0))
            #expect(before[row.int64(0)] == (0..<Int32(row.columnCount)).map { row.value($0) }, name)
        }
        guard let salvage = store.salvage else {
            // What was destroyed held nothing.
            #expect(keys.count == before.count, name)
            return
        }
        #expect(salvage.samples == keys.count, name)
        #expect(fixture.names.contains(salvage.keptAs), name)
        // By the damaged file itself: each leaf that is whole.
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: fixture.path(salvage.keptAs))))
        for page in 1..<(bytes.count / 4_096) where !destroyed.contains(page) {
            let content = [UInt8](bytes[(page * 4_096)..<(page * 4_096 + 4_096)])
            guard case .leaf(let rows)? = BTreePage(content, columns: 13, pageCount: .max) else { continue }
            for row in rows where before[row.rowID] != nil { #expect(keys.contains(row.rowID), name) }
        }
        // Never acked, and never told to the server, beyond what survives.
        let next = try await store.progress(of: device, info: info(oldest, newest)).nextSeq
        let stored = Set(keys.map { SampleKey(packed: $0).seq })
        for seq in 1..<max(1, next) where !stored.contains(seq) {
            #expect(server.contains(seq), "seed \(seed): seq \(seq) is lost, and passed over")
        }
    }

    /// The band is synced as a session does it, and questions are answered by what the server has.
    mutating func syncAndUpload(_ store: Store) async throws {
        newest += 10
        // As at any start: configured bands are what the file says.
        try await store.adopt(
            address: StoreFixture.address, device: device, mode: .own, name: "Band", configured: true)
        let progress = try await store.progress(of: device, info: info(oldest, newest))
        let first = max(progress.nextSeq, oldest)
        var questions: [SuspectedGap] = []
        if progress.nextSeq < oldest {
            questions.append(suspect(progress.nextSeq, oldest - 1, .freedElsewhere))
        }
        let given = chunk((first...newest).map { record($0) }, questions: questions, through: newest)
        let outcome = try await store.commit(given, of: device, clock: reading())
        #expect(outcome.conflicts == 0, name)
        for question in try await store.openQuestions() {
            // It has everything up to where it has everything.
            var through: UInt32 = 0
            while server.contains(through + 1) { through += 1 }
            let last = question.suspect.lastSeq ?? .max
            var answers: [QuestionAnswer] = []
            var start = question.suspect.firstSeq
            if through >= start {
                answers.append(.heldByServer(start...min(through, last)))
                start = min(through, last) + 1
            }
            if start <= last { answers.append(.gap(gap(start, last, question.suspect.cause))) }
            try await store.answer(question, with: answers)
        }
        try await store.settle()
        let clock = fixture.clock
        let outbox = try Outbox(directory: fixture.directory, now: { clock.now })
        while let batch = try outbox.nextBatch() {
            server.formUnion(batch.items.map(\.sample.seq))
            try outbox.confirm(batch.items, of: batch)
        }
    }

    func checkAccounts(_ store: Store) async throws {
        let clock = fixture.clock
        let reader = try StoreReader(directory: fixture.directory)
        var stored: Set<UInt32> = []
        try reader.exportSamples { sample in
            let isNew = stored.insert(sample.seq).inserted
            #expect(isNew, "seed \(seed): \(sample.seq) is stored twice")
        }
        let gaps = try reader.gaps().map(\.gap)
        for seq in 1...newest where !stored.contains(seq) && !server.contains(seq) {
            let named = gaps.filter { $0.firstSeq <= seq && seq <= $0.lastSeq ?? .max }
            #expect(named.count == 1, "seed \(seed): \(seq) is nowhere")
            #expect(named.first?.cause == .storageLost, "seed \(seed): \(seq)")
        }
        // Every sample that is here is at the server, too.
        #expect(stored.isSubset(of: server), name)
        #expect(try Outbox(directory: fixture.directory, now: { clock.now }).pendingCount() == 0, name)
        #expect(try await store.progress(of: device, info: info(oldest, newest)).nextSeq == newest + 1, name)
    }
}
