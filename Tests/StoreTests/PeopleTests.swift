import BandProfile
import GatewayModel
import Testing

@testable import Store

/// Who wore a band, and where: late news moves what is stored.
@Suite struct PeopleTests {
    let fixture: StoreFixture
    let store: Store
    let device = StoreFixture.device
    let anna = PersonID("p_anna")
    let ben = PersonID("p_ben")

    init() async throws {
        fixture = try StoreFixture()
        store = try await fixture.openWithBand()
        for (id, name) in [(anna, "Anna"), (ben, "Ben")] {
            guard let id else { continue }
            #expect(try await store.addPerson(Person(id: id, name: name)))
        }
    }

    /// The moment of the record with this seq, as the fixture times it.
    private func time(_ seq: UInt32) -> Timestamp {
        Timestamp(
            milliseconds: Int64(StoreFixture.bandStart) * 1000 + StoreFixture.offset + Int64(seq) * 60_000
                + 250)
    }

    private func assign(_ person: PersonID?, _ from: UInt32, _ to: UInt32? = nil) async throws
        -> AssignOutcome
    {
        try await store.assign(
            Assignment(
                device: device, person: try #require(person), from: time(from).advanced(by: -30_000),
                to: to.map { time($0).advanced(by: -30_000) }))
    }

    /// A letter a sample: A, B, `-` for nobody, `.` where nothing was ever said.
    private func wearers() throws -> String {
        try fixture.samples().map { sample in
            switch sample.wearer {
            case .unsaid: "."
            case .nobody: "-"
            case .person(let person): person == anna ? "A" : "B"
            }
        }.joined()
    }

    /// Records 1 to `last`, each a minute after the one before, timed to within a second.
    private func store(_ last: UInt32) async throws {
        _ = try await store.commit(chunk(1...last), of: device, clock: reading())
    }

    @Test func samplesGoToWhoWoreTheBandThen() async throws {
        #expect(try await assign(anna, 3, 5) == .done)
        #expect(try await assign(ben, 5) == .done)
        try await store(8)
        #expect(try wearers() == "..AABBBB")
        #expect(try fixture.samples().allSatisfy { $0.version == 1 })
    }

    @Test func lateNewsMoveWhatIsStored() async throws {
        try await store(8)
        #expect(try wearers() == "........")
        _ = try await assign(anna, 3)
        try await store.settle()
        // Of whom nobody was ever named, nothing has to be taken back.
        #expect(try wearers() == "..AAAAAA")
        #expect(try fixture.samples().map(\.version) == [1, 1, 2, 2, 2, 2, 2, 2])
        // The band turns out to have changed hands at 6.
        #expect(try await assign(anna, 3, 6) == .done)
        #expect(try await assign(ben, 6) == .done)
        try await store.settle()
        #expect(try wearers().hasSuffix("AAABBB"))
        #expect(try await store.unassign(device, from: time(6).advanced(by: -30_000)))
        try await store.settle()
        #expect(try wearers().hasSuffix("AAA---"))
        #expect(try await !store.unassign(device, from: time(6).advanced(by: -30_000)))
    }

    @Test func onlySomebodyWithoutBandsAndSamplesIsRemoved() async throws {
        let (anna, ben) = (try #require(anna), try #require(ben))
        let outbox = try fixture.outbox()
        try await store(8)
        _ = try await assign(anna, 3)
        try await store.settle()
        #expect(try await store.removePerson(anna) == .hasSamples)
        #expect(try await store.unassign(device, from: time(3).advanced(by: -30_000)))
        try await store.settle()
        // Worn at a time of which nothing is stored.
        _ = try await assign(anna, 100, 200)
        guard case .wears(let worn) = try await store.removePerson(anna) else {
            Issue.record("removed")
            return
        }
        #expect(worn.from == time(100).advanced(by: -30_000))
        #expect(try await store.persons().map(\.name) == ["Anna", "Ben"], "a refusal changes nothing")
        #expect(try await store.unassign(device, from: worn.from))
        #expect(try await store.removePerson(anna) == .done)
        #expect(try await store.removePerson(ben) == .done)
        #expect(try await store.persons().isEmpty)
        #expect(try outbox.persons().isEmpty, "nothing is told to the server")
        #expect(try wearers() == "..------")
        #expect(try await store.removePerson(try #require(PersonID("p_x"))) == .unknownPerson)
    }

    @Test func whoWasRemovedComesBackWithoutWhatTheyHad() async throws {
        let (anna, ben) = (try #require(anna), try #require(ben))
        let stay = ZoneStay(zone: "Europe/Berlin", from: Timestamp(milliseconds: 0))
        #expect(try await store.setZone(stay, of: anna))
        let outbox = try fixture.outbox()
        _ = try outbox.mergePerson(anna, zones: [stay])
        #expect(try await store.removePerson(anna) == .done)
        #expect(try await store.addPerson(Person(id: ben, name: "Anna")) == false, "Ben is there")
        #expect(try await store.addPerson(Person(id: anna, name: "Anna B")))
        #expect(try await store.persons().map(\.zones) == [[], []])
        // What the server has of them is no zone that was taken back here.
        #expect(try outbox.mergePerson(anna, zones: [stay])?.person.person.zones == [stay])
    }

    @Test func overlapsAreRefusedAndChangeNothing() async throws {
        #expect(try await assign(anna, 3, 6) == .done)
        let known = Assignment(
            device: device, person: try #require(anna), from: time(3).advanced(by: -30_000),
            to: time(6).advanced(by: -30_000))
        for (from, to) in [(1, nil), (1, 4), (4, 5), (5, 9), (2, 7)] as [(UInt32, UInt32?)] {
            #expect(try await assign(ben, from, to) == .overlaps(known), "\(from)")
        }
        // The same beginning is no reason to give one person's history to another.
        #expect(try await assign(ben, 3, 6) == .overlaps(known))
        #expect(try await assign(ben, 6) == .done)
        #expect(try await assign(ben, 1, 3) == .done)
        #expect(try fixture.reader().assignments().count == 3)
        #expect(try await assign(ben, 9, 9) == .emptyInterval)
        let nobody = Assignment(device: device, person: try #require(PersonID("p_x")), from: time(90))
        #expect(try await store.assign(nobody) == .unknownPerson)
    }

    @Test func aBoundThatTouchesABorderLeavesASampleUnassigned() async throws {
        // Ten days from the reading: its bound is a minute and a half.
        var early = reading()
        early.bandTimeMilliseconds -= 864_000_000
        early.hostTime.milliseconds -= 864_000_000
        _ = try await assign(anna, 1, 10)
        _ = try await assign(ben, 10)
        _ = try await store.commit(chunk(1...20), of: device, clock: early)
        #expect(try wearers() == "-AAAAAAA--BBBBBBBBBB")
        let undecided = try fixture.reader().undecided()
        #expect(undecided.map(\.seqs) == [1...1, 9...10])
        #expect(undecided.last?.count == 2)
        // A reading in the neighbourhood settles it.
        var near = reading()
        near.newestSeq = 20
        _ = try await store.commit(chunk([], through: 20), of: device, clock: near)
        try await store.settle()
        #expect(try wearers() == "AAAAAAAAABBBBBBBBBBB")
        #expect(try fixture.reader().undecided().isEmpty)
    }

    @Test func offsetsComeFromTheBandThePersonOrTheHost() async throws {
        try await store.noteHostZone("Etc/GMT-1", from: time(1))
        let stay = ZoneStay(zone: "Asia/Kolkata", from: time(4).advanced(by: -1_000))
        #expect(try await store.setZone(stay, of: try #require(anna)))
        _ = try await assign(anna, 3)
        let unknown = HistoryRecord.unknownOffset
        _ = try await store.commit(
            chunk((1...5).map { record($0, offset: unknown) } + [record(6, offset: -20)], through: 6),
            of: device,
            clock: reading())
        #expect(try fixture.samples().map(\.offsetMinutes) == [60, 60, 60, 330, 330, -300])
        #expect(try fixture.samples().map(\.offsetSource) == [.host, .host, .host, .person, .person, .band])
    }

    @Test func aLateZoneDerivesTheOffsetAnew() async throws {
        try await store.noteHostZone("Etc/GMT-1", from: time(1))
        _ = try await assign(anna, 1)
        _ = try await store.commit(
            chunk((1...4).map { record($0, offset: HistoryRecord.unknownOffset) }, through: 4), of: device,
            clock: reading())
        #expect(try fixture.samples().map(\.offsetMinutes) == [60, 60, 60, 60])
        let stay = ZoneStay(zone: "Asia/Kolkata", from: time(3).advanced(by: -1_000))
        #expect(try await store.setZone(stay, of: try #require(anna)))
        try await store.settle()
        #expect(try fixture.samples().map(\.offsetMinutes) == [60, 60, 330, 330])
        #expect(try fixture.samples().map(\.version) == [1, 1, 2, 2])
        #expect(try await store.removeZone(from: stay.from, of: try #require(anna)))
        try await store.settle()
        #expect(try fixture.samples().map(\.offsetMinutes) == [60, 60, 60, 60])
        #expect(try fixture.samples().map(\.version) == [1, 1, 3, 3])
    }

    @Test func whoCameWithoutANameGetsOneOnce() async throws {
        let id = try #require(PersonID("p_50f4"))
        #expect(try await store.addPerson(Person(id: id, name: id.text)))
        #expect(try await store.addPerson(Person(id: id, name: "Carla")))
        #expect(try await store.persons().filter { $0.id == id }.map(\.name) == ["Carla"])
        #expect(try await !store.addPerson(Person(id: id, name: "Dora")))
    }

    @Test func namesAndIDsAreGivenOnce() async throws {
        #expect(try await !store.addPerson(Person(id: try #require(PersonID("p_other")), name: "Anna")))
        #expect(try await !store.addPerson(Person(id: try #require(anna), name: "Annika")))
        #expect(try await store.persons().map(\.name) == ["Anna", "Ben"])
    }
}

extension Timestamp {
    fileprivate func advanced(by more: Int64) -> Timestamp { Timestamp(milliseconds: milliseconds + more) }
}
