import GatewayModel
import SQLite

/// How `samples.person` says who wore the band.
enum PersonColumn {
    /// NULL: nobody was ever named.
    /// The sample's time bound touches a border between two wearers.
    static let undecided: Int64 = -1
    static let nobody: Int64 = 0
}

/// Persons, where they were, and which band they wore when.
struct PersonTable {
    let database: Database

    /// `zone_stays.person` of the host itself.
    static let host: Int64 = 0

    // MARK: Persons

    /// False when the id or the name is taken. Who came from the server without a name is called by the id, and gets the name.
    func add(_ person: Person) throws -> Bool {
        let taken = try database.first(
            "SELECT 1 FROM persons WHERE (name = ?1 AND person <> ?2) OR (person = ?2 AND name <> person)",
            .text(person.name), .text(person.id.text)
        ) { _ in true }
        guard taken == nil else { return false }
        try database.run(
            """
            INSERT INTO persons (person, name, shares_name, sent) VALUES (?1, ?2, ?3, 0)
            ON CONFLICT (person) DO UPDATE SET name = excluded.name, shares_name = excluded.shares_name, sent = 0
            """, .text(person.id.text), .text(person.name), .int(person.sharesName ? 1 : 0))
        for stay in person.zones { try setZone(stay, of: require(person.id)) }
        return true
    }

    /// Makes a person known who is only named by samples.
    func require(_ person: PersonID) throws -> Int64 {
        if let id = try id(of: person) { return id }
        try database.run(
            "INSERT INTO persons (person, name, shares_name, sent) VALUES (?, NULL, 0, 1)", .text(person.text)
        )
        return database.lastInsertedRowID
    }

    func id(of person: PersonID) throws -> Int64? {
        try database.first("SELECT id FROM persons WHERE person = ?", .text(person.text)) { $0.int64(0) }
    }

    func person(_ id: Int64) throws -> PersonID? {
        try database.first("SELECT person FROM persons WHERE id = ?", .integer(id)) { PersonID($0.text(0)) }
            ?? nil
    }

    /// Those that have a name here, by name.
    func all(unsentOnly: Bool = false) throws -> [Person] {
        let rows = try database.all(
            """
            SELECT id, person, name, shares_name FROM persons WHERE name IS NOT NULL AND (NOT ?1 OR NOT sent)
            ORDER BY name
            """, .int(unsentOnly ? 1 : 0)
        ) { row in
            PersonID(row.text(1)).map {
                (row.int64(0), Person(id: $0, name: row.text(2), sharesName: row.bool(3)))
            }
        }
        return try rows.compactMap { $0 }.map { id, person in
            var person = person
            person.zones = try zones(of: id)
            return person
        }
    }

    /// The server has the person as given, unless it was changed here meanwhile.
    func markSent(_ person: Person) throws {
        guard let id = try id(of: person.id), try zones(of: id) == person.zones else { return }
        try database.run("UPDATE persons SET sent = 1 WHERE id = ?", .integer(id))
    }

    /// Name and zones go. The id stays for samples that may come to name it, as one that the server alone knows; nothing is
    /// told to the server, where other gateways may go by it.
    func remove(_ person: Int64) throws(SQLiteError) {
        try database.run("DELETE FROM zone_stays WHERE person = ?", .integer(person))
        try database.run(
            "UPDATE persons SET name = NULL, shares_name = 0, sent = 1, server_zones = '' WHERE id = ?",
            .integer(person))
    }

    /// Whether any of the samples after `key`, at most `limit`, are the person's, and the last key of those; nil = there are none.
    func hasSamples(_ person: Int64, after key: Int64, limit: Int) throws -> (found: Bool, last: Int64)? {
        try database.first(
            """
            SELECT max(key), max(person IS ?2) FROM
                (SELECT key, person FROM samples WHERE key > ?1 ORDER BY key LIMIT ?3)
            """, .integer(key), .integer(person), .int(limit)
        ) { row in row.optionalInt64(0).map { (row.bool(1), $0) } } ?? nil
    }

    func hasSecondReadings(_ person: Int64) throws -> Bool {
        try database.first("SELECT 1 FROM conflicts WHERE person = ? LIMIT 1", .integer(person)) { _ in true }
            ?? false
    }

    // MARK: Zones

    func zones(of person: Int64) throws -> [ZoneStay] {
        try database.all(
            "SELECT zone, from_time FROM zone_stays WHERE person = ? ORDER BY from_time", .integer(person)
        ) { ZoneStay(zone: $0.text(0), from: Timestamp(milliseconds: $0.int64(1))) }
    }

    /// Replaces a stay with the same beginning.
    func setZone(_ stay: ZoneStay, of person: Int64) throws(SQLiteError) {
        try database.run(
            """
            INSERT INTO zone_stays (person, from_time, zone) VALUES (?, ?, ?)
            ON CONFLICT DO UPDATE SET zone = excluded.zone
            """, .integer(person), .integer(stay.from.milliseconds), .text(stay.zone))
        try markChanged(person)
    }

    /// False when no stay begins then.
    func removeZone(from: Timestamp, of person: Int64) throws(SQLiteError) -> Bool {
        try database.run(
            "DELETE FROM zone_stays WHERE person = ? AND from_time = ?", .integer(person),
            .integer(from.milliseconds))
        guard database.changes > 0 else { return false }
        try markChanged(person)
        return true
    }

    /// Without a mark that something was changed here.
    func replaceZones(_ stays: [ZoneStay], of person: Int64) throws(SQLiteError) {
        try database.run("DELETE FROM zone_stays WHERE person = ?", .integer(person))
        for stay in stays {
            try database.run(
                "INSERT INTO zone_stays (person, from_time, zone) VALUES (?, ?, ?)", .integer(person),
                .integer(stay.from.milliseconds), .text(stay.zone))
        }
    }

    /// As the server last had them.
    func serverZones(of person: Int64) throws -> [ZoneStay] {
        let text = try database.first(
            "SELECT server_zones FROM persons WHERE id = ?", .integer(person)
        ) { $0.text(0) }
        return (text ?? "").split(separator: "\n").compactMap { line in
            guard let space = line.firstIndex(of: " "), let from = Int64(line[..<space]) else { return nil }
            return ZoneStay(
                zone: String(line[line.index(after: space)...]), from: Timestamp(milliseconds: from))
        }
    }

    func replaceServerZones(_ stays: [ZoneStay], of person: Int64) throws(SQLiteError) {
        let text = stays.map { "\($0.from.milliseconds) \($0.zone)\n" }.joined()
        try database.run("UPDATE persons SET server_zones = ?2 WHERE id = ?1", .integer(person), .text(text))
    }

    private func markChanged(_ person: Int64) throws(SQLiteError) {
        try database.run("UPDATE persons SET sent = 0 WHERE id = ?", .integer(person))
    }

    // MARK: Assignments

    /// By band and beginning; nil = of every band.
    func assignments(band: Int64? = nil) throws -> [Assignment] {
        try assignments(in: "assignments", band: band)
    }

    func withdrawn(band: Int64) throws -> [Assignment] { try assignments(in: "withdrawn", band: band) }

    private func assignments(in table: String, band: Int64?) throws -> [Assignment] {
        try database.all(
            """
            SELECT device, persons.person, from_time, to_time FROM \(table) a
            JOIN bands ON bands.id = a.band JOIN persons ON persons.id = a.person
            WHERE ?1 IS NULL OR a.band = ?1 ORDER BY device, from_time
            """, .optional(band)
        ) { row -> Assignment? in
            guard let device = DeviceID(row.text(0)), let person = PersonID(row.text(1)) else { return nil }
            return Assignment(
                device: device, person: person, from: Timestamp(milliseconds: row.int64(2)),
                to: row.optionalInt64(3).map { Timestamp(milliseconds: $0) })
        }.compactMap { $0 }
    }

    func put(_ assignment: Assignment, band: Int64, person: Int64) throws(SQLiteError) {
        try database.run(
            """
            INSERT INTO assignments (band, from_time, to_time, person) VALUES (?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET to_time = excluded.to_time, person = excluded.person
            """, .integer(band), .integer(assignment.from.milliseconds),
            .optional(assignment.to?.milliseconds), .integer(person))
    }

    /// Remembers what an assignment said that is replaced or taken back.
    func withdraw(_ assignment: Assignment, band: Int64) throws {
        try database.run(
            "INSERT INTO withdrawn (band, from_time, to_time, person) VALUES (?, ?, ?, ?)", .integer(band),
            .integer(assignment.from.milliseconds), .optional(assignment.to?.milliseconds),
            .integer(try require(assignment.person)))
    }

    func remove(from: Timestamp, band: Int64) throws(SQLiteError) {
        try database.run(
            "DELETE FROM assignments WHERE band = ? AND from_time = ?", .integer(band),
            .integer(from.milliseconds))
    }
}
