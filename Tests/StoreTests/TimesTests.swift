import BandProfile
import GatewayModel
import Testing

@testable import Store

/// Clock readings over days, a host clock that can't be believed, and what follows for samples that are stored already.
@Suite struct TimesTests {
    static let hour: Int64 = 3_600_000
    /// True time of the fixture's band time 0 plus its offset.
    static let start = Int64(StoreFixture.bandStart) * 1000 + StoreFixture.offset

    let fixture: StoreFixture
    let store: Store
    let device = StoreFixture.device
    let ring = StoreFixture.ring

    init() async throws {
        fixture = try StoreFixture()
        store = try await fixture.openWithBand()
    }

    /// A reading `hours` after the start, of a band whose clock is `behind` ms behind by then.
    static func reading(
        _ hours: Int64, clock: UInt16 = 3, behind: Int64 = StoreFixture.offset,
        trust: HostTrust = .synchronised,
        wall: Int64? = nil, boot: String = "boot", bound: Int64 = 100, newest: UInt32? = nil
    ) -> ClockReading {
        let time = start + hours * hour
        return ClockReading(
            clockID: clock, bandTimeMilliseconds: time - behind,
            hostTime: Timestamp(milliseconds: wall ?? time), hostMonotonicMilliseconds: hours * hour,
            bootID: boot, boundMilliseconds: 40, bandSecondsSinceBoot: 100, hostTrust: trust,
            hostBoundMilliseconds: bound, newestSeq: newest)
    }

    private func samples() throws -> [Sample] { try fixture.samples() }

    private func error(_ sample: Sample) -> Int64 {
        sample.recordedAt.milliseconds - (Self.start + Int64(sample.seq) * 60_000 + 250)
    }

    @Test func aDriftedWeekIsRightInTheMiddle() async throws {
        // Records each minute; the band loses 12 s in a week.
        _ = try await store.commit(
            chunk([], through: 0), of: device, clock: Self.reading(0, newest: 0))
        _ = try await store.commit(
            chunk([record(1)], through: 1), of: device,
            clock: Self.reading(168, behind: StoreFixture.offset + 12_000, newest: 10_080))
        for seq in [2_521, 5_041] as [UInt32] {
            try await store.writeGap(
                Gap(ring: ring, firstSeq: seq == 2_521 ? 2 : 2_522, lastSeq: seq - 1, cause: .lostByBand),
                device: device)
            _ = try await store.commit(chunk([record(seq)], through: seq), of: device, clock: nil)
        }
        let moved = try samples().map(error)
        #expect(abs(moved[0] - 1) <= 2)
        #expect(abs(moved[1] - 3_000) <= 3)
        #expect(abs(moved[2] - 6_000) <= 3)
        #expect(try samples().allSatisfy { !$0.timeUncertain })
    }

    @Test func aReadingTellsMoreOfWhatCameSinceTheOneBefore() async throws {
        _ = try await store.commit(chunk(1...600), of: device, clock: Self.reading(0, newest: 0))
        let before = try samples()
        // Ten hours later the band turns out to lose a second an hour... and is believed where it moves far enough.
        _ = try await store.commit(
            chunk([], through: 600), of: device,
            clock: Self.reading(10, behind: StoreFixture.offset + 3_000, newest: 600))
        try await store.settle()
        let after = try samples()
        for (old, new) in zip(before, after) {
            let moved = new.recordedAt.milliseconds - old.recordedAt.milliseconds
            #expect(new.version == (moved == 0 ? 1 : 2))
            #expect(moved == 0 || moved > 500)
        }
        #expect(abs(error(after[0])) < 500 && after[0].version == 1)
        #expect(abs(error(after[599]) - 3_000) < 20 && after[599].version == 2)
        // Those that moved go up again.
        let batch = try #require(try fixture.outbox().nextBatch(limit: 1_000))
        #expect(batch.items.count == 600)
        #expect(batch.items.count { $0.sample.version == 2 } == after.count { $0.version == 2 })
    }

    @Test func anImplausibleHostHoldsTheUploadAndNothingElse() async throws {
        let outcome = try await store.commit(
            chunk(1...20), of: device,
            clock: Self.reading(1, trust: .implausible, wall: 60_000, bound: 0, newest: 20))
        #expect(outcome.ackThrough == 20)
        #expect(try samples().allSatisfy(\.timeUncertain))
        let outbox = try fixture.outbox()
        #expect(try outbox.nextBatch() == nil)
        #expect(try outbox.pendingCount() == 20)
        #expect(try await store.bandStatuses().first?.pending == 20)

        // The clock becomes right within the same boot: an hour and a minute after it started.
        try await store.noteHostClock(
            HostStamp(
                bootID: "boot", monotonic: Self.hour + 60_000,
                wall: Timestamp(milliseconds: Self.start + Self.hour + 60_000), trust: .synchronised,
                boundMilliseconds: 150))
        try await store.settle()
        #expect(try samples().allSatisfy { !$0.timeUncertain && $0.version == 2 })
        #expect(try samples().allSatisfy { abs(error($0)) <= 1 })
        #expect(try outbox.nextBatch()?.items.count == 20)
        #expect(try outbox.nextBatch()?.completeThrough == 20)
    }

    @Test func whatIsHeldStaysHeldWhenItChanges() async throws {
        let anna = try #require(PersonID("p_anna"))
        _ = try await store.addPerson(Person(id: anna, name: "Anna"))
        _ = try await store.commit(
            chunk(1...20), of: device,
            clock: Self.reading(1, trust: .implausible, wall: 60_000, bound: 0, newest: 20))
        _ = try await store.assign(Assignment(device: device, person: anna, from: Timestamp(milliseconds: 0)))
        try await store.settle()
        let versions = try samples().map(\.version)
        #expect(versions.allSatisfy { $0 == 2 })
        let outbox = try fixture.outbox()
        #expect(try outbox.nextBatch() == nil)
        #expect(try outbox.pendingCount() == 20)
    }

    @Test func nothingIsHeldForMoreThanADay() async throws {
        let reading = Self.reading(1, trust: .implausible, wall: 60_000, bound: 0, newest: 20)
        _ = try await store.commit(chunk(1...20), of: device, clock: reading)
        let outbox = try fixture.outbox()
        try await store.countHold(milliseconds: 86_399_000)
        #expect(try outbox.nextBatch() == nil)
        try await store.countHold(milliseconds: 1_000)
        let batch = try #require(try outbox.nextBatch())
        #expect(batch.items.count == 20)
        #expect(batch.items.allSatisfy { $0.sample.timeUncertain })
        // What comes later does not wait another day.
        _ = try await store.commit(chunk(21...22), of: device, clock: reading)
        #expect(try outbox.nextBatch()?.items.count == 22)
    }

    @Test func whatComesAfterTheHoldStartsAnew() async throws {
        let reading = Self.reading(1, trust: .implausible, wall: 60_000, bound: 0, newest: 20)
        _ = try await store.commit(chunk(1...20), of: device, clock: reading)
        try await store.countHold(milliseconds: 86_400_000)
        try await store.noteHostClock(
            HostStamp(
                bootID: "other", monotonic: 5, wall: Timestamp(milliseconds: Self.start),
                trust: .synchronised,
                boundMilliseconds: 100))
        _ = try await store.commit(
            chunk(21...22, clockID: 4), of: device,
            clock: Self.reading(
                2, clock: 4, trust: .implausible, wall: 9, boot: "third", bound: 0, newest: 22))
        let outbox = try fixture.outbox()
        let batch = try #require(try outbox.nextBatch())
        #expect(batch.items.map(\.sample.seq).max() == 20)
        #expect(batch.completeThrough == 20)
    }

    @Test func aSampleUnderAClockThatWasReadBeforeIsNotHeld() async throws {
        _ = try await store.commit(chunk(1...2), of: device, clock: Self.reading(0, newest: 0))
        _ = try await store.commit(
            chunk(3...4), of: device,
            clock: Self.reading(1, trust: .implausible, wall: 60_000, boot: "second", bound: 0, newest: 4))
        #expect(try samples().allSatisfy { !$0.timeUncertain })
        #expect(try fixture.outbox().nextBatch()?.items.count == 4)
    }

    @Test func aStoppedClockMarksAllThatItTimed() async throws {
        _ = try await store.commit(chunk(1...10), of: device, clock: Self.reading(1, newest: 10))
        #expect(try samples().allSatisfy { !$0.timeUncertain })
        // Two hours later it still shows the same.
        _ = try await store.commit(
            chunk(11...20), of: device,
            clock: Self.reading(3, behind: StoreFixture.offset + 2 * Self.hour, newest: 20))
        try await store.settle()
        #expect(try samples().allSatisfy(\.timeUncertain))
        let last = try #require(try samples().last)
        let bound = Int64(try #require(last.timeBoundMilliseconds))
        // Between the two readings.
        #expect(last.recordedAt.milliseconds - bound <= Self.start + Self.hour)
        #expect(last.recordedAt.milliseconds + bound >= Self.start + 3 * Self.hour)
    }

    @Test func anUnreadClockIsPlacedOnceItsBlockIsWhole() async throws {
        _ = try await store.commit(chunk(1...10), of: device, clock: Self.reading(0, newest: 0))
        let later = Self.reading(2, clock: 5, newest: 40)
        _ = try await store.commit(chunk(11...20, clockID: 4), of: device, clock: later)
        _ = try await store.commit(chunk(21...30, clockID: 4), of: device, clock: later)
        _ = try await store.commit(chunk(31...40, clockID: 5), of: device, clock: later)
        try await store.settle()
        let unread = try samples().filter { $0.clockID == 4 }
        #expect(unread.count == 20 && unread.allSatisfy(\.timeUncertain))
        for sample in unread {
            let bound = try #require(sample.timeBoundMilliseconds)
            #expect(abs(error(sample)) <= Int64(bound))
            // Twenty minutes of records between two neighbours that are twenty minutes apart.
            #expect(try #require(sample.timeBoundMilliseconds) < 120_000)
        }
    }

    @Test func aLaterBootTellsWhatAnEarlierOneCouldNot() async throws {
        _ = try await store.commit(
            chunk(1...20), of: device,
            clock: Self.reading(1, trust: .implausible, wall: 60_000, boot: "first", bound: 0, newest: 20))
        // The power fails before the clock was right; the next boot reads the same clock of the band.
        _ = try await store.commit(
            chunk(21...30), of: device, clock: Self.reading(2, boot: "second", newest: 30))
        try await store.settle()
        #expect(try samples().allSatisfy { !$0.timeUncertain && abs(error($0)) <= 1 })
        #expect(try fixture.outbox().nextBatch()?.items.count == 30)
        #expect(try fixture.outbox().nextBatch()?.completeThrough == 30)
    }

    @Test func whatNobodyCanTellAnyMoreWaitsADayLikeAllElse() async throws {
        _ = try await store.commit(
            chunk(1...20), of: device,
            clock: Self.reading(1, trust: .implausible, wall: 60_000, boot: "first", bound: 0, newest: 20))
        try await store.countHold(milliseconds: 80_000_000)
        // The band's clock was reset, and this boot's clock is right: the first one's never was.
        let stamp = HostStamp(
            bootID: "second", monotonic: 5_000, wall: Timestamp(milliseconds: Self.start + 2 * Self.hour),
            trust: .synchronised, boundMilliseconds: 100)
        try await store.noteHostClock(stamp)
        try await store.countHold(milliseconds: 6_400_000)
        #expect(try fixture.outbox().nextBatch()?.items.count == 20)
    }

    @Test func whatIsStaleSurvivesARestart() async throws {
        _ = try await store.commit(
            chunk(1...1_500), of: device,
            clock: Self.reading(30, trust: .implausible, wall: 60_000, bound: 0, newest: 1_500))
        try await store.noteHostClock(
            HostStamp(
                bootID: "boot", monotonic: 31 * Self.hour,
                wall: Timestamp(milliseconds: Self.start + 31 * Self.hour), trust: .synchronised,
                boundMilliseconds: 100))
        try await store.close()
        let again = try fixture.open()
        try await again.settle()
        #expect(try samples().allSatisfy { !$0.timeUncertain && $0.version == 2 })
        #expect(try fixture.outbox().pendingCount() == 1_500)
    }

    /// The daemon writes down at each start what the clock is worth; that must not work over months of samples.
    @Test func aClockThatWasKnownAsWellIsNoReasonToDeriveAnew() async throws {
        _ = try await store.commit(chunk(1...20), of: device, clock: Self.reading(1, newest: 20))
        try await store.settle()
        try await store.noteHostClock(
            HostStamp(
                bootID: "boot", monotonic: 2 * Self.hour,
                wall: Timestamp(milliseconds: Self.start + 2 * Self.hour), trust: .synchronised,
                boundMilliseconds: 100))
        let stale = try await store.read("look") { try $0.times.revisions.next() != nil }
        #expect(!stale)
    }

    @Test func gapsFollowTheTimesOfTheirNeighbours() async throws {
        let reading = Self.reading(1, trust: .implausible, wall: 60_000, bound: 0, newest: 20)
        _ = try await store.commit(chunk(1...5), of: device, clock: reading)
        try await store.writeGap(gap(6, 9), device: device)
        _ = try await store.commit(chunk(10...20), of: device, clock: reading)
        #expect(try fixture.gaps().first?.after == nil)
        let outbox = try fixture.outbox()
        try outbox.markGapsSent(try outbox.unsent(device), of: device)
        try await store.noteHostClock(
            HostStamp(
                bootID: "boot", monotonic: 2 * Self.hour,
                wall: Timestamp(milliseconds: Self.start + 2 * Self.hour), trust: .synchronised,
                boundMilliseconds: 100))
        try await store.settle()
        let gap = try #require(try fixture.gaps().first)
        #expect(gap.after == Timestamp(milliseconds: Self.start + 5 * 60_000 + 250))
        #expect(gap.before == Timestamp(milliseconds: Self.start + 10 * 60_000 + 250))
        #expect(try outbox.unsent(device).count == 1)
    }
}
