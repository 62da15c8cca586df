import BandProfile
import GatewayModel
import Glibc
import PowercutVFS
import SQLite
import Testing

@testable import Store

/// Every call into the file system fails once, or from there on for ever: never a crash, never a lost commit that
/// was acked, always a typed error, and all is well when the cause is gone.
///
/// One fault at a time in a process, hence serialized; no other suite arms one.
@Suite(.serialized) struct FaultTests {
    struct Fault: CustomTestStringConvertible {
        var kind: powercut_fault
        var forever: Bool
        var testDescription: String {
            let name =
                switch kind {
                case POWERCUT_FULL: "full"
                case POWERCUT_READONLY: "readonly"
                case POWERCUT_CORRUPT: "corrupt"
                default: "ioerr"
                }
            return name + (forever ? " for ever" : " once")
        }
    }

    static let faults = [
        Fault(kind: POWERCUT_IOERR, forever: false), Fault(kind: POWERCUT_IOERR, forever: true),
        Fault(kind: POWERCUT_FULL, forever: false), Fault(kind: POWERCUT_FULL, forever: true),
    ]

    private let device = StoreFixture.device
    private let ring = StoreFixture.ring

    /// Runs `body` with the Nth call failing, N from 1, until it got through without meeting the fault. After each
    /// failure, `healed` must work.
    private func failEachCall(
        _ fault: Fault, in fixture: StoreFixture, _ body: () async throws -> Void,
        healed: () async throws -> Void
    ) async throws {
        for number in 1... {
            powercut_arm(fixture.directory, fault.kind, number, fault.forever ? 1 : 0)
            var failure: (any Error)?
            do { try await body() } catch { failure = error }
            let calls = powercut_disarm()
            if let failure {
                let error = try #require(failure as? StoreError, "call \(number): \(failure)")
                let kinds: Set<StoreError.Kind> = [.io, .full, .busy, .readOnly, .other]
                #expect(kinds.contains(error.kind), "call \(number): \(error)")
                #expect(error.kind != .full || fault.kind == POWERCUT_FULL)
            }
            try await healed()
            if calls < number { return }
            try #require(number < 2_000, "no end of calls")
        }
    }

    @Test(arguments: faults) func openingHealsAndSetsNothingAside(_ fault: Fault) async throws {
        let fixture = try StoreFixture()
        let store = try await fixture.openWithBand()
        _ = try await store.commit(chunk(1...200), of: device, clock: reading())
        // Not closed: an unclean stop, with a log to recover.
        let image = try fixture.imageAfterPowerCut()
        try await failEachCall(fault, in: image) {
            _ = try image.open()
        } healed: {
            let store = try image.open()
            #expect(try await store.bandStatuses().first?.stored == 200)
            #expect(!image.names.contains { $0.contains("corrupt") })
        }
    }

    @Test(arguments: [faults[0], faults[3]]) func makingADatabaseHeals(_ fault: Fault) async throws {
        var number = 0
        while true {
            number += 1
            let fresh = try StoreFixture()
            powercut_arm(fresh.directory, fault.kind, number, fault.forever ? 1 : 0)
            do { _ = try fresh.open() } catch { #expect(error is StoreError) }
            let calls = powercut_disarm()
            try await fresh.open().checkHealth()
            if calls < number { break }
        }
    }

    @Test(arguments: faults) func aCommitIsWholeOrNotThere(_ fault: Fault) async throws {
        let fixture = try StoreFixture()
        let store = try await fixture.openWithBand()
        var acked: UInt32 = 0
        var stored = 0
        let outbox = try fixture.outbox()
        try await failEachCall(fault, in: fixture) {
            let first = acked + 1
            // Leaves frames in the log that are not synced.
            if let batch = try outbox.nextBatch(limit: 3) { try outbox.confirm(batch.items, of: batch) }
            let records = [record(first + 2), faulty(first + 3)] + (4...40).map { record(first + $0) }
            let given = chunk(
                records, gaps: [gap(first, first)], questions: [suspect(first + 1, first + 1)],
                through: first + 40)
            let outcome = try await store.commit(given, of: device, clock: reading())
            #expect(outcome.stored == 38)
            (acked, stored) = (first + 40, stored + 38)
        } healed: {
            let progress = try await store.progress(of: device, info: info(1, acked + 100))
            // A commit that failed while its ack was not given may be there or not, but as a whole.
            if progress.nextSeq == acked + 42 { (acked, stored) = (acked + 41, stored + 38) }
            #expect(progress.nextSeq == acked + 1)
            // What is acked after a fault does not rest on anything that the fault left broken.
            _ = try await store.commit(chunk((acked + 1)...(acked + 10)), of: device, clock: reading())
            (acked, stored) = (acked + 10, stored + 10)
            #expect(try await store.bandStatuses().first?.stored == stored)
            let image = try fixture.imageAfterPowerCut()
            let restarted = try image.open()
            #expect(try await restarted.progress(of: device, info: info(1, acked)).nextSeq == acked + 1)
            #expect(try await restarted.bandStatuses().first?.stored == stored)
        }
        _ = try await store.commit(chunk((acked + 1)...(acked + 5)), of: device, clock: reading())
    }

    /// After a failed sync the log has to be moved, and a check that reads meanwhile would keep it from that.
    @Test func aCheckThatReadsMakesWayForCommitsAfterAFault() async throws {
        let fixture = try StoreFixture()
        let store = try await fixture.openWithBand()
        _ = try await store.commit(chunk(1...10), of: device, clock: reading())
        var opening = DatabaseOpening(
            directory: StateDirectory(path: fixture.directory), vfs: StoreFixture.vfs)
        let (reads, began) = AsyncStream.makeStream(of: Void.self)
        opening.whileChecking = { stop in
            began.yield()
            // As the check of a large table does, until it is told.
            while !stop.wasRequested { usleep(1_000) }
        }
        await store.checkInBackground(opening)
        for await _ in reads { break }
        powercut_arm(fixture.directory, POWERCUT_IOERR, 1, 1)
        let hasFailed = await isStoreError(.io) {
            _ = try await store.commit(chunk(11...20), of: device, clock: reading())
        }
        _ = powercut_disarm()
        #expect(hasFailed)
        let end = ContinuousClock.now + .seconds(60)
        var outcome: CommitOutcome?
        while outcome == nil, ContinuousClock.now < end {
            outcome = try? await store.commit(chunk(11...20), of: device, clock: reading())
        }
        #expect(outcome?.ackThrough == 20)
    }

    @Test(arguments: faults) func rewindsAnswersAndConfirmsHeal(_ fault: Fault) async throws {
        let fixture = try StoreFixture()
        let store = try await fixture.openWithBand()
        _ = try await store.commit(
            chunk([record(11)], questions: [suspect(1, 10)], through: 11), of: device, clock: reading())
        let outbox = try fixture.outbox()
        let question = try await store.openQuestions()[0]
        try await failEachCall(fault, in: fixture) {
            try await store.answer(question, with: [.gap(gap(1, 10))])
            try await store.rewind(device, ring: ring, to: 5)
            _ = try await store.recordFailedTry(device, ring: ring, seq: 5, unreadable: true, connection: 1)
            try await store.correct(device, ring: ring, 11...11) { fields, _ in fields.offsetQuarterHours = 8
            }
            if let batch = try outbox.nextBatch() {
                try outbox.quarantine(batch.items, of: batch, code: "bad_time", message: "")
                try outbox.confirm(batch.items, of: batch)
            }
            try outbox.markGapsSent(try outbox.unsent(device), of: device)
            try await store.checkHealth()
        } healed: {
            try await store.checkHealth()
            try outbox.confirm([], of: try outbox.nextBatch() ?? emptyBatch)
            #expect(try await store.bandStatuses().first?.stored == 1)
        }
        #expect(try await store.openQuestions().isEmpty)
        #expect(try fixture.samples().count == 1)
    }

    private var emptyBatch: OutboxBatch {
        OutboxBatch(device: device, ring: ring, items: [], completeThrough: nil, ringRow: 1)
    }
}
