import BandProfile
import GatewayModel
import Testing
import Timekeeping

@testable import Store

/// What another gateway said better is taken over, and nothing that is known here is lost by it.
@Suite struct AdoptionTests {
    let fixture: StoreFixture
    let store: Store
    let outbox: Outbox
    let device = StoreFixture.device
    let ring = StoreFixture.ring
    let anna: PersonID

    init() async throws {
        fixture = try StoreFixture()
        store = try await fixture.openWithBand()
        outbox = try fixture.outbox()
        anna = try #require(PersonID("p_anna"))
        #expect(try await store.addPerson(Person(id: anna, name: "Anna")))
        // The band does not know where it is.
        _ = try await store.commit(
            chunk((1...10).map { record($0, offset: HistoryRecord.unknownOffset) }, through: 10), of: device,
            clock: reading())
        try confirmAll()
    }

    private func confirmAll(contested: Bool = false) throws {
        while let batch = try outbox.nextBatch() {
            try outbox.confirm(batch.items, of: batch, contested: contested)
        }
    }

    private func sample(_ seq: UInt32) throws -> Sample {
        try #require(try fixture.samples().first { $0.seq == seq })
    }

    /// The sample as it is, with what another gateway said of it.
    private func server(_ seq: UInt32, _ change: (inout Sample) -> Void) throws -> Sample {
        var sample = try sample(seq)
        change(&sample)
        return sample
    }

    private func adopt(_ seq: UInt32, _ change: (inout Sample) -> Void) throws -> AdoptionReport {
        try outbox.adopt([try server(seq, change)], of: device)
    }

    @Test func aSmallerBoundIsAdoptedWithAllThatGoesWithIt() async throws {
        let before = try sample(3)
        let report = try adopt(3) {
            $0.recordedAt.milliseconds += 700
            $0.timeBoundMilliseconds = 20
            $0.offsetMinutes = 60
            $0.wearer = .person(anna)
        }
        #expect(report.adopted == 1)
        let after = try sample(3)
        #expect(after.recordedAt.milliseconds == before.recordedAt.milliseconds + 700)
        #expect(after.timeBoundMilliseconds == 20)
        #expect(after.offsetMinutes == 60)
        #expect(after.offsetSource == .elsewhere)
        #expect(after.wearer == .person(anna))
        #expect(after.version == 1)
        #expect(try outbox.nextBatch() == nil, "it is at the server")
        #expect(try sample(4).offsetSource == nil, "and no other is touched")
    }

    @Test func whatGivesWayIsNotAdopted() async throws {
        let before = try sample(3)
        #expect(try adopt(3) { $0.timeBoundMilliseconds = nil }.adopted == 0)
        #expect(try adopt(3) { $0.timeBoundMilliseconds = 100_000 }.adopted == 0)
        #expect(try adopt(3) { $0.timeUncertain = true }.adopted == 0)
        #expect(try adopt(3) { _ in }.adopted == 0, "it is the same")
        #expect(try adopt(3) { $0.wearer = .nobody }.adopted == 0, "nobody and nothing said are one")
        #expect(try sample(3) == before)
        // A higher version wins with any bound; at equal ones the server's was first.
        #expect(try adopt(3) { $0.recordedAt.milliseconds += 1 }.adopted == 1)
        #expect(
            try adopt(3) {
                $0.version = 4
                $0.timeUncertain = true
                $0.timeBoundMilliseconds = nil
            }.adopted == 1)
        #expect(try sample(3).version == 4)
        #expect(try adopt(3) { $0.version = 3 }.adopted == 0)
    }

    @Test func whatTheBandGaveIsNeverTouched() async throws {
        let before = try fixture.samples()
        #expect(
            try adopt(3) {
                $0.value += 1
                $0.version = 9
            }.adopted == 0)
        #expect(
            try adopt(3) {
                $0.bandTimeMilliseconds += 1
                $0.version = 9
            }.adopted == 0)
        #expect(
            try adopt(3) {
                $0.clockID += 1
                $0.version = 9
            }.adopted == 0)
        #expect(
            try adopt(3) {
                $0.flags = 0
                $0.version = 9
            }.adopted == 0)
        #expect(
            try adopt(3) {
                $0.seq = 77
                $0.version = 9
            }.adopted == 0)
        #expect(
            try adopt(3) {
                $0.ring = RingID(rawValue: 1)
                $0.version = 9
            }.adopted == 0)
        #expect(try fixture.samples() == before)
    }

    @Test func anOffsetThatTheBandKnewStays() async throws {
        _ = try await store.commit(chunk(11...11), of: device, clock: reading())
        try confirmAll()
        #expect(try sample(11).offsetSource == .band)
        #expect(
            try adopt(11) {
                $0.offsetMinutes = 60
                $0.version = 2
            }.adopted == 1)
        #expect(try sample(11).offsetMinutes == 330)
        #expect(try sample(11).version == 2)
        // One that is none of whole quarter hours can't be kept.
        #expect(
            try adopt(4) {
                $0.offsetMinutes = 61
                $0.version = 2
            }.adopted == 1)
        #expect(try sample(4).offsetMinutes == nil)
    }

    @Test func whatWaitsToBeSentIsLeftAlone() async throws {
        try await store.correct(device, ring: ring, 3...3) { fields, _ in fields.offsetQuarterHours = 4 }
        let corrected = try sample(3)
        #expect(try adopt(3) { $0.version = 9 }.adopted == 0)
        #expect(try sample(3) == corrected)
        #expect(try outbox.nextBatch()?.items.map(\.sample) == [corrected])
    }

    @Test func whatComesLaterIsAboveAnAdoptedVersion() async throws {
        #expect(
            try adopt(3) {
                $0.version = 7
                $0.timeBoundMilliseconds = 20
            }.adopted == 1)
        try await store.correct(device, ring: ring, 3...4) { fields, _ in fields.offsetQuarterHours = 4 }
        #expect(try sample(3).version == 8)
        #expect(try sample(4).version == 8)
    }

    @Test func daysAndGapsFollowAnAdoptedTime() async throws {
        _ = try await store.commit(
            chunk([record(21)], gaps: [gap(11, 20)], through: 21), of: device, clock: reading())
        try confirmAll()
        try outbox.markGapsSent(try outbox.unsent(device), of: device)
        let far: Int64 = 40 * 86_400_000
        let time = try sample(10).recordedAt.milliseconds + far
        #expect(
            try adopt(10) {
                $0.recordedAt.milliseconds = time
                $0.version = 2
            }.adopted == 1)
        #expect(try outbox.unsent(device).first?.after?.milliseconds == time)
        let found = try fixture.reader().samples(
            of: device, type: .heartRate, from: Timestamp(milliseconds: time - 1),
            to: Timestamp(milliseconds: time + 1))
        #expect(found.map(\.seq) == [10])
    }

    @Test func aTimeThatMayBeAnywhereIsFoundByLateNewsAndOneThatIsKnownIsNot() async throws {
        // Timed by a clock that nobody here has read.
        _ = try await store.commit(chunk(11...11, clockID: 9), of: device, clock: reading())
        try await store.settle()
        try confirmAll()
        let vague = try SeqIntervals(outbox.database, .vague)
        #expect(try vague.overlapping(ring: 1, 0...99) == [11...11])
        #expect(
            try adopt(11) {
                $0.version = 8
                $0.timeUncertain = false
                $0.timeBoundMilliseconds = 100
            }.adopted == 1)
        #expect(try vague.overlapping(ring: 1, 0...99).isEmpty)
        #expect(
            try adopt(11) {
                $0.version = 9
                $0.timeUncertain = true
                $0.timeBoundMilliseconds = nil
                $0.recordedAt.milliseconds = 0
            }.adopted == 1)
        #expect(try vague.overlapping(ring: 1, 0...99) == [11...11])
        // Far from every day that is known of any sample.
        let year = Assignment(
            device: device, person: anna, from: Timestamp(milliseconds: 1_600_000_000_000),
            to: Timestamp(milliseconds: 1_610_000_000_000))
        #expect(try await store.assign(year) == .done)
        try await store.settle()
        #expect(try fixture.reader().undecided().map(\.seqs) == [11...11])
    }

    // MARK: nothing is lost

    private func hourBefore(_ sample: Sample) -> Timestamp {
        Timestamp(milliseconds: sample.recordedAt.milliseconds - 3_600_000)
    }

    /// Anna wears the band from well before the sample.
    private func assignAnna(_ sample: Sample) async throws {
        let assignment = Assignment(device: device, person: anna, from: hourBefore(sample))
        #expect(try await store.assign(assignment) == .done)
        try await store.settle()
    }

    @Test func aWearerWhoIsKnownHereIsSaidAgainOnTopOfATie() async throws {
        let before = try sample(3)
        try await assignAnna(before)
        try confirmAll()
        let ours = try sample(3)
        #expect(ours.version == 2)
        // Another gateway, which knows no persons, was first with this version, and better.
        let report = try adopt(3) {
            $0.wearer = .nobody
            $0.timeBoundMilliseconds = 20
            $0.recordedAt.milliseconds += 10
        }
        #expect(report == AdoptionReport(adopted: 1, marked: 1))
        #expect(try sample(3).wearer == .nobody)
        try await store.takeUpMarks()
        try await store.settle()
        let again = try sample(3)
        #expect(again.wearer == .person(anna))
        #expect(again.version == 3)
        #expect(again.timeBoundMilliseconds == 20, "and the better time stays")
        #expect(try outbox.nextBatch()?.items.map(\.sample.seq) == [3])
    }

    @Test func aWearerOfAHigherVersionStands() async throws {
        let ben = try #require(PersonID("p_ben"))
        let before = try sample(3)
        try await assignAnna(before)
        try confirmAll()
        #expect(
            try adopt(3) {
                $0.version = 9
                $0.wearer = .person(ben)
            } == AdoptionReport(adopted: 1, marked: 0))
        try await store.takeUpMarks()
        try await store.settle()
        #expect(try sample(3).wearer == .person(ben))
        #expect(try outbox.nextBatch() == nil)
    }

    @Test func aContestedSampleIsWeighedWhateverItsVersion() async throws {
        let ben = try #require(PersonID("p_ben"))
        let before = try sample(3)
        try await assignAnna(before)
        try confirmAll(contested: true)
        #expect(
            try adopt(3) {
                $0.version = 9
                $0.wearer = .person(ben)
            } == AdoptionReport(adopted: 1, marked: 1))
        try await store.takeUpMarks()
        try await store.settle()
        #expect(try sample(3).wearer == .person(anna))
        #expect(try sample(3).version == 10)
    }

    @Test func aBetterTimeThatIsKnownHereIsSaidAgain() async throws {
        let before = try sample(3)
        #expect(
            try adopt(3) {
                $0.version = 5
                $0.recordedAt.milliseconds += 60_000
                $0.timeBoundMilliseconds = 300_000
                $0.wearer = .person(anna)
            } == AdoptionReport(adopted: 1, marked: 1))
        try await store.takeUpMarks()
        try await store.settle()
        let after = try sample(3)
        #expect(after.recordedAt == before.recordedAt)
        #expect(after.timeBoundMilliseconds == before.timeBoundMilliseconds)
        #expect(after.wearer == .person(anna), "nobody is named here, which says nothing against it")
        #expect(after.version == 6)
    }

    @Test func anotherGatewaysWordIsNotClearedByWhatIsNotKnownHere() async throws {
        let ben = try #require(PersonID("p_ben"))
        #expect(try await store.addPerson(Person(id: ben, name: "Ben")))
        #expect(
            try adopt(3) {
                $0.version = 2
                $0.wearer = .person(anna)
                $0.offsetMinutes = 330
            }.adopted == 1)
        // Reasons to derive everything again: a host zone, another person on other days, a trusted clock.
        try await store.noteHostZone("Etc/GMT-1", from: Timestamp(milliseconds: 0))
        let far = Timestamp(milliseconds: 0)
        let day = Assignment(device: device, person: ben, from: far, to: Timestamp(milliseconds: 86_400_000))
        #expect(try await store.assign(day) == .done)
        #expect(try await store.unassign(device, from: far))
        try await store.settle()
        #expect(try sample(3).wearer == .person(anna))
        #expect(try sample(3).offsetMinutes == 330)
        #expect(try sample(3).version == 2)
    }

    @Test func whatIsWithdrawnHereIsClearedHere() async throws {
        let before = try sample(3)
        try await assignAnna(before)
        try confirmAll()
        // The same wearer with a better time: another gateway's word in part.
        #expect(
            try adopt(3) {
                $0.version = 5
                $0.timeBoundMilliseconds = 10
            }.adopted == 1)
        #expect(try await store.unassign(device, from: hourBefore(before)))
        try await store.settle()
        #expect(try sample(3).wearer == .nobody)
        // An end that is set later withdraws what follows it.
        let from = hourBefore(before)
        #expect(try await store.assign(Assignment(device: device, person: anna, from: from)) == .done)
        try await store.settle()
        #expect(try sample(9).wearer == .person(anna))
        let to = Timestamp(milliseconds: before.recordedAt.milliseconds + 100_000)
        #expect(try await store.assign(Assignment(device: device, person: anna, from: from, to: to)) == .done)
        try await store.settle()
        #expect(try sample(9).wearer == .nobody)
        #expect(try sample(3).wearer == .person(anna))
    }
}
