import BandProfile
import GatewayModel
import Testing

@testable import Store

/// Zones of persons here and at the server, and what follows for samples.
@Suite struct PersonSyncTests {
    let fixture: StoreFixture
    let store: Store
    let outbox: Outbox
    let device = StoreFixture.device
    let anna: PersonID

    init() async throws {
        fixture = try StoreFixture()
        store = try await fixture.openWithBand()
        outbox = try fixture.outbox()
        anna = try #require(PersonID("p_anna"))
        #expect(try await store.addPerson(Person(id: anna, name: "Anna", zones: [stay("Etc/GMT-1", 0)])))
    }

    private func stay(_ zone: String, _ from: Int64) -> ZoneStay {
        ZoneStay(zone: zone, from: Timestamp(milliseconds: from))
    }

    private func merge(_ zones: [ZoneStay]) throws -> (person: SyncedPerson, marked: Bool) {
        try #require(try outbox.mergePerson(anna, zones: zones))
    }

    @Test func aNewPersonIsUnsentUntilTheServerHasThem() async throws {
        let person = try #require(try outbox.persons().first)
        #expect(person.isUnsent)
        #expect(person.person == Person(id: anna, name: "Anna", zones: [stay("Etc/GMT-1", 0)]))
        try outbox.markPersonSent(person.person)
        #expect(try outbox.persons().map(\.isUnsent) == [false])
        #expect(try await store.setZone(stay("Europe/Berlin", 50), of: anna))
        #expect(try outbox.persons().map(\.isUnsent) == [true])
        // Sent as it was before: what was changed meanwhile still waits.
        try outbox.markPersonSent(person.person)
        #expect(try outbox.persons().map(\.isUnsent) == [true])
    }

    @Test func zonesAreUnitedAndTheLocalOneWinsWhereBothAreNew() async throws {
        let merged = try merge([stay("Asia/Kolkata", 0), stay("Europe/Berlin", 100)])
        #expect(merged.person.person.zones == [stay("Etc/GMT-1", 0), stay("Europe/Berlin", 100)])
        #expect(merged.person.isUnsent)
        #expect(try outbox.persons().first?.person.zones == merged.person.person.zones)
    }

    @Test func whatEachSideChangedSinceTheyAgreedIsTaken() async throws {
        let agreed = [stay("Etc/GMT-1", 0), stay("Europe/Berlin", 100), stay("Asia/Kolkata", 200)]
        try outbox.markPersonSent(try merge(agreed).person.person)
        // Here one is removed and one is added; there one is changed and one is removed.
        #expect(try await store.removeZone(from: Timestamp(milliseconds: 100), of: anna))
        #expect(try await store.setZone(stay("Europe/Berlin", 300), of: anna))
        let merged = try merge([stay("Europe/Berlin", 0), stay("Europe/Berlin", 100)])
        #expect(merged.person.person.zones == [stay("Europe/Berlin", 0), stay("Europe/Berlin", 300)])
        #expect(merged.person.isUnsent)
        try outbox.markPersonSent(merged.person.person)
        let again = try merge(merged.person.person.zones)
        #expect(!again.person.isUnsent)
        #expect(!again.marked)
    }

    @Test func aZoneThatWasTakenBackHereDoesNotComeBackFromTheServer() async throws {
        // It came from the server, and nothing had to be put since.
        let merged = try merge([stay("Etc/GMT-1", 0), stay("Asia/Kolkata", 100)])
        #expect(merged.person.person.zones.count == 2)
        #expect(try await store.removeZone(from: Timestamp(milliseconds: 100), of: anna))
        let again = try merge([stay("Etc/GMT-1", 0), stay("Asia/Kolkata", 100)])
        #expect(again.person.person.zones == [stay("Etc/GMT-1", 0)])
        #expect(again.person.isUnsent)
    }

    @Test func aZoneThatAnotherGatewayTookBackGoesHereToo() async throws {
        // It went to the server from here.
        try outbox.markPersonSent(try merge([]).person.person)
        let merged = try merge([])
        #expect(merged.person.person.zones.isEmpty)
        #expect(!merged.person.isUnsent)
    }

    @Test func samplesFollowZonesThatCameFromTheServer() async throws {
        #expect(
            try await store.assign(Assignment(device: device, person: anna, from: Timestamp(milliseconds: 0)))
                == .done)
        _ = try await store.commit(
            chunk((1...10).map { record($0, offset: HistoryRecord.unknownOffset) }, through: 10), of: device,
            clock: reading())
        try await store.settle()
        #expect(try fixture.samples().allSatisfy { $0.offsetMinutes == 60 && $0.offsetSource == .person })
        let sixth = try fixture.samples()[5].recordedAt.milliseconds
        #expect(try merge([stay("Etc/GMT-1", 0), stay("Asia/Kolkata", sixth)]).marked)
        try await store.takeUpMarks()
        try await store.settle()
        #expect(
            try fixture.samples().map(\.offsetMinutes) == Array(repeating: 60, count: 5)
                + Array(repeating: 330, count: 5))
        #expect(
            try fixture.samples().map(\.version) == Array(repeating: 1, count: 5)
                + Array(repeating: 2, count: 5))
    }

    @Test func nothingIsMarkedWhereThePersonWearsNoBand() async throws {
        #expect(try !merge([stay("Europe/Berlin", 100)]).marked)
    }

    @Test func aPersonWhoIsKnownFromTheServerAloneIsNotSent() async throws {
        let other = try #require(PersonID("p_other"))
        #expect(try outbox.mergePerson(other, zones: []) == nil)
        #expect(try outbox.persons().count == 1)
    }
}
