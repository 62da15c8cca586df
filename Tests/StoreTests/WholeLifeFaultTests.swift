import BandProfile
import Foundation
import GatewayModel
import PowercutVFS
import Testing

@testable import Store

extension FaultTests {
    /// Every call into the file system fails in the whole life of a database: made, migrated, chunks, acks, questions,
    /// revisions, marks and confirmations of the upload, letting go, closed, opened again.
    ///
    /// All of them by `make store-faults`; else each so many, from another one in each run.
    @Suite(.serialized) struct WholeLife {
        static let stride = max(
            1, ProcessInfo.processInfo.environment["BANDFERRY_FAULT_STRIDE"].flatMap { Int($0) } ?? 61)
        static let faults =
            FaultTests.faults + [
                Fault(kind: POWERCUT_READONLY, forever: false), Fault(kind: POWERCUT_READONLY, forever: true),
                Fault(kind: POWERCUT_CORRUPT, forever: false), Fault(kind: POWERCUT_CORRUPT, forever: true),
            ]

        @Test(arguments: faults) func nothingAckedIsLostAndAllHealsAfterTheFault(_ fault: Fault) async throws
        {
            var number =
                Self.stride == 1
                ? 1
                : ProcessInfo.processInfo.environment["BANDFERRY_FAULT_FIRST"].flatMap { Int($0) }
                    ?? Int.random(in: 1...Self.stride)
            while true {
                let life = try FaultyLife()
                powercut_arm(life.fixture.directory, fault.kind, number, fault.forever ? 1 : 0)
                await life.run()
                let calls = powercut_disarm()
                let first = life.errors.prefix(3).map { "\($0)" }.joined(separator: "; ")
                let name: Comment = "call \(number) of \(calls), \(fault.testDescription): \(first)"
                // A band that could not be adopted is not known, which the next start mends.
                for error in life.errors
                where error.kind != .refused || !error.message.contains("was adopted") {
                    let kinds: Set<StoreError.Kind> = [
                        .io, .full, .busy, .readOnly, .corrupt, .closed, .missing, .other,
                    ]
                    #expect(kinds.contains(error.kind), "\(error), \(name)")
                    #expect(!error.message.isEmpty && !error.remedy.isEmpty, name)
                    #expect(error.kind != .full || fault.kind == POWERCUT_FULL, "\(error), \(name)")
                    #expect(error.kind != .corrupt || fault.kind == POWERCUT_CORRUPT, "\(error), \(name)")
                }
                try await life.checkAfterPowerCut(name)
                try await life.checkHealed(name)
                if calls < number { return }
                number += Self.stride
                try #require(number < 100_000, "no end of calls")
            }
        }
    }
}

/// One gateway, one band and one server. Whatever fails is tried again a few times, as the daemon does, and then left.
private final class FaultyLife {
    let fixture: StoreFixture
    private(set) var errors: [StoreError] = []
    private var store: Store?
    private let device = StoreFixture.device
    private let ring = StoreFixture.ring
    /// What the band was told: it may have freed all of it.
    private var acked: UInt32 = 0
    private var newest: UInt32 = 0
    private var server: Set<UInt32> = []

    init() throws { fixture = try StoreFixture() }

    private static let tries = 3

    private func open() throws -> Store {
        let clock = fixture.clock
        return try Store.open(
            directory: fixture.directory, vfs: StoreFixture.vfs,
            limits: StoreLimits(keptFor: .seconds(86_400)), zones: StoreFixture.zoneOffset,
            checksInBackground: false, now: { clock.now })
    }

    private func attempt(_ body: (Store) async throws -> Void) async {
        for _ in 0..<Self.tries {
            do {
                if store == nil { store = try open() }
                guard let store else { return }
                return try await body(store)
            } catch {
                guard let error = error as? StoreError else {
                    Issue.record("\(error)")
                    return
                }
                errors.append(error)
                if error.kind == .corrupt || error.kind == .closed {
                    // As the daemon does: it is opened again.
                    try? await store?.close()
                    store = nil
                }
            }
        }
    }

    /// As at each start.
    private func adopt() async {
        await attempt { store in
            try await store.adopt(
                address: StoreFixture.address, device: self.device, mode: .own, name: "Band",
                configured: true)
        }
    }

    func run() async {
        await adopt()
        await attempt { store in
            try await store.noteContact(
                self.device, ContactNote(time: self.fixture.clock.now, mtu: 247, info: info(1, 500)))
        }
        await sync(40)
        await upload()
        await sync(300)
        await attempt { store in
            try await store.correct(self.device, ring: self.ring, 1...20) { fields, _ in
                fields.offsetQuarterHours = 8
            }
            try await store.settle()
        }
        await upload()
        fixture.clock.advance(milliseconds: 5 * 86_400_000)
        await attempt { store in
            let now = self.fixture.clock.now
            try await store.noteHostClock(
                HostStamp(
                    bootID: "boot", monotonic: 9_000_000, wall: now, trust: .synchronised,
                    boundMilliseconds: 10))
            while try await store.prune() != nil {}
        }
        await sync(30)
        await attempt { store in
            try await store.close()
            self.store = nil
        }
        await attempt { store in _ = try await store.bandStatuses() }
        await sync(10)
        await upload()
    }

    /// Chunks from where the store says, each acked as far as it says.
    private func sync(_ count: UInt32) async {
        newest += count
        await attempt { store in
            let progress = try await store.progress(of: self.device, info: info(self.acked + 1, self.newest))
            var next = max(progress.nextSeq, self.acked + 1)
            // What the band freed is asked about; here that is never more than what was acked.
            var questions: [SuspectedGap] = []
            if progress.nextSeq < next { questions = [suspect(progress.nextSeq, next - 1, .freedElsewhere)] }
            while next <= self.newest {
                let last = min(next + 59, self.newest)
                let outcome = try await store.commit(
                    chunk((next...last).map { record($0) }, questions: questions, through: last),
                    of: self.device, clock: reading())
                questions = []
                #expect(outcome.conflicts == 0)
                self.acked = max(self.acked, outcome.ackThrough)
                next = last + 1
            }
        }
    }

    private func upload() async {
        await attempt { _ in
            let outbox = try self.fixture.outbox()
            while let batch = try outbox.nextBatch(limit: 150) {
                self.server.formUnion(batch.items.map(\.sample.seq))
                try outbox.confirm(batch.items, of: batch)
            }
            try outbox.markGapsSent(try outbox.unsent(self.device), of: self.device)
        }
    }

    // MARK: after the fault

    /// What the disk has at this moment holds all that was acked and is not at the server.
    func checkAfterPowerCut(_ name: Comment) async throws {
        guard acked > 0 else { return }
        let image = try fixture.imageAfterPowerCut()
        // A damaged one that a salvage was to replace counts, too: it is not given up.
        if !FileManager.default.fileExists(atPath: image.databasePath) {
            let aside = fixture.names.filter { $0.hasPrefix("gateway.db.corrupt-") }
            #expect(aside.count >= 1, name)
            for file in aside {
                let suffix = file.hasSuffix("-wal") ? "-wal" : file.hasSuffix("-shm") ? "-shm" : ""
                guard suffix != "-shm" else { continue }
                try FileManager.default.copyItem(
                    atPath: fixture.path(file), toPath: image.databasePath + suffix)
            }
        }
        try await image.open().close()
        try check(image, name)
    }

    func checkHealed(_ name: Comment) async throws {
        errors = []
        // The one that failed for ever may have to be opened again, as the daemon does.
        await attempt { store in try await store.checkHealth() }
        await adopt()
        await sync(20)
        await upload()
        #expect(errors.filter { $0.kind != .corrupt && $0.kind != .closed }.isEmpty, "\(errors), \(name)")
        #expect(acked == newest, "\(errors), \(name)")
        try check(fixture, name)
        #expect(try fixture.outbox().pendingCount() == 0, name)
        #expect(!fixture.names.contains { $0.hasPrefix("gateway.db.corrupt-") }, name)
        try await store?.close()
        store = nil
        try await open().close()
    }

    private func check(_ place: StoreFixture, _ name: Comment) throws {
        var stored: Set<UInt32> = []
        for sample in try place.samples() {
            let isNew = stored.insert(sample.seq).inserted
            #expect(isNew, "\(sample.seq) is stored twice, \(name)")
        }
        let lost = stride(from: 1, through: acked, by: 1).filter {
            !stored.contains($0) && !server.contains($0)
        }
        #expect(lost.isEmpty, "acked and lost: \(lost.prefix(5)) …, \(name)")
        #expect(try place.gaps().filter { $0.healedAt == nil }.isEmpty, name)
    }
}
