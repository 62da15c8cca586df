import BandProfile
import GatewayModel
import SQLite
import Testing

@testable import Store

/// A new gateway goes on where the server says that the lost one was.
@Suite struct TakeoverTests {
    let fixture: StoreFixture
    let store: Store
    let device = StoreFixture.device
    let ring = StoreFixture.ring
    let older = RingID(rawValue: 9)

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
    }

    @discardableResult
    private func takeOver(
        _ rings: [KnownRing], maxVersion: Int = 1, gaps: [Gap] = [], name: String? = nil
    ) async throws -> [KnownRing] {
        try await store.takeOver(
            address: StoreFixture.address, device: device, name: name, rings: rings, maxVersion: maxVersion,
            gaps: gaps
        ).map { KnownRing(ring: $0.ring, completeThrough: $0.nextSeq) }
    }

    @Test func aNewBandIsOwnedAndEachRingIsReadFromBehindWhatTheServerHas() async throws {
        let next = try await takeOver(
            [.init(ring: older, completeThrough: nil), .init(ring: ring, completeThrough: 100)], name: "Band")
        #expect(
            next == [.init(ring: older, completeThrough: 1), .init(ring: ring, completeThrough: 101)])
        #expect(
            try await store.adoptedBands()
                == [
                    AdoptedBand(
                        address: StoreFixture.address, device: device, mode: .own, name: "Band",
                        configured: false)
                ])
        let progress = try await store.progress(of: device, info: info(90, 120))
        #expect(progress.nextSeq == 101 && progress.ackThrough == 100)
        #expect(progress.predecessors == [.init(ring: older, nextSeq: 1)])
    }

    @Test func aBandThatWasObservedIsOwnedFromNowOn() async throws {
        try await store.adopt(
            address: StoreFixture.address, device: device, mode: .observe, name: "Band", configured: false)
        try await takeOver([])
        let bands = try await store.adoptedBands()
        #expect(bands.map(\.mode) == [.own] && bands.map(\.name) == ["Band"])
    }

    @Test func whatIsHereAlreadyIsNotReadAgain() async throws {
        try await takeOver([])
        _ = try await store.commit(chunk(1...10), of: device, clock: reading())
        let rings = [KnownRing(ring: ring, completeThrough: 3)]
        #expect(try await takeOver(rings) == [.init(ring: ring, completeThrough: 11)])
    }

    @Test func correctionsStartAboveTheServers() async throws {
        try await takeOver([.init(ring: ring, completeThrough: 100)], maxVersion: 6)
        _ = try await store.commit(chunk(101...102), of: device, clock: reading())
        try await store.correct(device, ring: ring, 101...101) { fields, _ in fields.offsetQuarterHours = 8 }
        #expect(try fixture.samples().map(\.version) == [7, 1])
    }

    @Test func theServersGapsAreKnownAndNotToldAnew() async throws {
        let known = Gap(
            ring: ring, firstSeq: 40, lastSeq: 60, after: Timestamp(milliseconds: 5),
            before: Timestamp(milliseconds: 9), cause: .overwritten)
        try await takeOver([.init(ring: ring, completeThrough: 100)], gaps: [known])
        #expect(try fixture.gaps() == [known])
        #expect(try fixture.outbox().unsent(device).isEmpty)
        // Once more changes nothing.
        try await takeOver([.init(ring: ring, completeThrough: 100)], gaps: [known])
        #expect(try fixture.gaps() == [known])
    }

    @Test func aGapOverWhatIsHereAndOneOfARingThatIsNotAreLeftOut() async throws {
        try await takeOver([])
        _ = try await store.commit(chunk(1...10), of: device, clock: reading())
        let elsewhere = Gap(ring: older, firstSeq: 1, lastSeq: 2, cause: .overwritten)
        try await takeOver(
            [.init(ring: ring, completeThrough: 100)], gaps: [gap(8, 20), elsewhere, gap(30, 40)])
        let gaps = try fixture.gaps()
        #expect(gaps.map(\.firstSeq) == [30] && gaps.map(\.lastSeq) == [40])
    }

    /// What only the server has is no hole here, and what it answered is no question any more.
    @Test func openQuestionsThatTheServerAnsweredAreClosed() async throws {
        try await takeOver([])
        _ = try await store.commit(
            chunk((51...60).map { record($0) }, questions: [suspect(1, 50)], through: 60), of: device,
            clock: reading())
        #expect(try await store.openQuestions().count == 1)
        try await takeOver([.init(ring: ring, completeThrough: 60)])
        #expect(try await store.openQuestions().isEmpty)
        #expect(try fixture.gaps().isEmpty)
    }

    @Test func allOfItIsOneTransaction() async throws {
        try Database(path: fixture.databasePath, access: .readWrite, vfs: StoreFixture.vfs).execute(
            """
            CREATE TRIGGER refusal BEFORE INSERT ON gaps WHEN NEW.first_seq = 70
            BEGIN SELECT RAISE(ABORT, 'refused'); END
            """)
        await #expect(throws: StoreError.self) {
            try await takeOver([.init(ring: ring, completeThrough: 100)], gaps: [gap(40, 60), gap(70, 80)])
        }
        #expect(try await store.adoptedBands().isEmpty)
        #expect(try fixture.gaps().isEmpty)
        try await takeOver([.init(ring: ring, completeThrough: 100)], gaps: [gap(40, 60)])
        #expect(try fixture.gaps() == [gap(40, 60)])
    }
}
