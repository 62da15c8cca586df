import GatewayModel
import SQLite
import Timekeeping

/// A person as far as the server may know them.
public struct SyncedPerson: Equatable, Sendable {
    public var person: Person
    /// Something was changed here that the server does not have.
    public var isUnsent: Bool

    public init(person: Person, isUnsent: Bool) {
        self.person = person
        self.isUnsent = isUnsent
    }
}

/// Persons, whom the server keeps for all gateways of an account.
extension Outbox {
    /// Those that have a name here, by name.
    public func persons() throws(StoreError) -> [SyncedPerson] {
        try storing("list the persons", path) {
            let table = PersonTable(database: database)
            let unsent = Set(try table.all(unsentOnly: true).map(\.id))
            return try table.all().map { SyncedPerson(person: $0, isUnsent: unsent.contains($0.id)) }
        }
    }

    /// Unites the zones here with those that the server has, and marks the samples whose offset may change by it.
    /// Returns the person as they are now and whether samples were marked; nil for a person that is not known here.
    public func mergePerson(
        _ id: PersonID, zones: [ZoneStay]
    ) throws(StoreError) -> (person: SyncedPerson, marked: Bool)? {
        try write("merge a person") { _ in
            let table = PersonTable(database: database)
            guard let row = try table.id(of: id) else { return nil }
            let (local, base) = (try table.zones(of: row), try table.serverZones(of: row))
            let merged = ZoneMerge.merged(local: local, server: zones, base: base)
            try table.replaceServerZones(zones, of: row)
            var marked = false
            if let from = ZoneMerge.firstDifference(local, merged) {
                try table.replaceZones(merged, of: row)
                marked = try Revisions(database, clocks: ClockLedger(database)).personMoved(row, from: from)
            }
            guard let person = try table.all().first(where: { $0.id == id }) else { return nil }
            let isUnsent = try table.all(unsentOnly: true).contains { $0.id == id }
            return (SyncedPerson(person: person, isUnsent: isUnsent || merged != zones), marked)
        }
    }

    /// The server has the person as given. One that was changed here meanwhile stays unsent.
    public func markPersonSent(_ person: Person) throws(StoreError) {
        try write("note a person as sent") { _ in
            let table = PersonTable(database: database)
            if let row = try table.id(of: person.id) { try table.replaceServerZones(person.zones, of: row) }
            try table.markSent(person)
        }
    }
}
