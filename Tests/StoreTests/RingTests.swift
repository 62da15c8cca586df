import BandProfile
import GatewayModel
import Testing

@testable import Store

@Suite struct RingTests {
    let fixture: StoreFixture
    let store: Store
    let device = StoreFixture.device
    let ring = StoreFixture.ring

    init() async throws {
        fixture = try StoreFixture()
        store = try await fixture.openWithBand()
    }

    @Test func aNewRingStartsAtOne() async throws {
        let progress = try await store.progress(of: device, info: info(1, 0))
        #expect(progress == RingProgress(nextSeq: 1, ackThrough: 0, attempts: Attempts(seq: 1)))
    }

    @Test func triesAreCountedOverConnectionsAndRestartsAndStartAnewAtAnotherSeq() async throws {
        _ = try await store.progress(of: device, info: info(1, 9))
        var attempts = try await store.recordFailedTry(
            device, ring: ring, seq: 1, unreadable: false, connection: 10)
        attempts = try await store.recordFailedTry(
            device, ring: ring, seq: 1, unreadable: true, connection: 10)
        #expect(attempts == Attempts(seq: 1, tries: 2, connections: 1, sawUnreadable: true))
        try await store.close()
        let again = try fixture.open()
        attempts = try await again.recordFailedTry(
            device, ring: ring, seq: 1, unreadable: false, connection: 11)
        #expect(attempts == Attempts(seq: 1, tries: 3, connections: 2, sawUnreadable: true))
        #expect(try await again.progress(of: device, info: info(1, 9)).attempts == attempts)
        attempts = try await again.recordFailedTry(
            device, ring: ring, seq: 4, unreadable: false, connection: 11)
        #expect(attempts == Attempts(seq: 4, tries: 1, connections: 1, sawUnreadable: false))
        #expect(try await again.progress(of: device, info: info(1, 9)).attempts == Attempts(seq: 1))
    }

    @Test func aRolledBackRingIsReadAgainAndNothingIsKnownByItsNumber() async throws {
        _ = try await store.commit(chunk(1...20), of: device, clock: reading())
        try await store.rewind(device, ring: ring, to: 5)
        var progress = try await store.progress(of: device, info: info(5, 12))
        #expect(progress.nextSeq == 5)
        #expect(progress.ackThrough == 4)
        var records = (5...12).map { record($0) }
        records[3].value += 1
        let outcome = try await store.commit(chunk(records, through: 12), of: device, clock: reading())
        #expect(outcome == CommitOutcome(ackThrough: 12, stored: 0, duplicates: 7, conflicts: 1, keptRaw: 0))
        // The server's numbers are of the ring as it was: they move nothing any more.
        let restored = try await store.applyServerState(
            device, ring: ring, completeThrough: 20, maxVersion: 1)
        #expect(!restored)
        progress = try await store.progress(of: device, info: info(5, 12))
        #expect(progress.nextSeq == 13)
    }

    @Test func aNewGatewayAsksFromWhereTheServerIsComplete() async throws {
        let restored = try await store.applyServerState(
            device, ring: ring, completeThrough: 100, maxVersion: 1)
        #expect(!restored)
        let progress = try await store.progress(of: device, info: info(90, 120))
        #expect(progress.nextSeq == 101)
        #expect(progress.ackThrough == 100)
    }

    @Test func aDatabaseFromAnOldCardIsRecognisedAndCorrectsAboveTheServer() async throws {
        _ = try await store.commit(chunk(1...10), of: device, clock: reading())
        let atFirst = try await store.applyServerState(device, ring: ring, completeThrough: 8, maxVersion: 1)
        #expect(!atFirst)
        #expect(try await store.applyServerState(device, ring: ring, completeThrough: 50, maxVersion: 4))
        #expect(try await store.progress(of: device, info: info(1, 60)).nextSeq == 51)
        let changed = try await store.correct(device, ring: ring, 2...3) { fields, _ in
            fields.recordedAt += 1
        }
        #expect(changed == 2)
        #expect(try fixture.samples().map(\.version) == [1, 5, 5, 1, 1, 1, 1, 1, 1, 1])
        // It has given number 5 itself since.
        let later = try await store.applyServerState(device, ring: ring, completeThrough: 50, maxVersion: 5)
        #expect(!later)
        #expect(try await store.applyServerState(device, ring: ring, completeThrough: 50, maxVersion: 6))
    }

    @Test func whatTheServerSaysNeverLowersTheResumePoint() async throws {
        _ = try await store.commit(chunk(1...10), of: device, clock: reading())
        try await store.applyServerState(device, ring: ring, completeThrough: nil, maxVersion: 1)
        try await store.applyServerState(device, ring: ring, completeThrough: 3, maxVersion: 1)
        #expect(try await store.progress(of: device, info: info(1, 10)).nextSeq == 11)
    }
}
