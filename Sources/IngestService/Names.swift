import SQLite

/// Turns names, which are scoped to an account, into the numbers that the tables use.
struct Names {
    let database: Database

    func device(_ device: String, account: String) throws -> Int64? {
        try database.first(
            """
            SELECT d.id FROM devices d JOIN accounts a ON a.id = d.account_id
            WHERE a.name = ? AND d.name = ?
            """, .text(account), .text(device)
        ) { $0.int64(0) }
    }

    /// Makes the device known if it is not.
    func makeDevice(_ device: String, account: String) throws -> Int64 {
        if let known = try self.device(device, account: account) { return known }
        try database.run(
            "INSERT INTO devices (account_id, name) VALUES (?, ?)", .integer(try makeAccount(account)),
            .text(device))
        return database.lastInsertedRowID
    }

    func makeAccount(_ account: String) throws -> Int64 {
        try database.run("INSERT INTO accounts (name) VALUES (?) ON CONFLICT DO NOTHING", .text(account))
        let id = try database.first("SELECT id FROM accounts WHERE name = ?", .text(account)) { $0.int64(0) }
        guard let id else { throw StorageFailure(.defect, "an account vanished") }
        return id
    }

    func person(_ person: String, account: String) throws -> Int64? {
        try database.first(
            """
            SELECT p.id FROM persons p JOIN accounts a ON a.id = p.account_id
            WHERE a.name = ? AND p.name = ?
            """, .text(account), .text(person)
        ) { $0.int64(0) }
    }

    /// Makes the person known if they are not.
    func makePerson(_ person: String, account: String) throws -> Int64 {
        if let known = try self.person(person, account: account) { return known }
        try database.run(
            "INSERT INTO persons (account_id, name) VALUES (?, ?)", .integer(try makeAccount(account)),
            .text(person))
        return database.lastInsertedRowID
    }

    /// Notes that the device has, or had, samples of this person.
    func notePerson(_ person: Int64, on device: Int64) throws {
        try database.run(
            "INSERT INTO person_devices (person_id, device_id) VALUES (?, ?) ON CONFLICT DO NOTHING",
            .integer(person), .integer(device))
    }

    /// In the order of their names.
    func devices(person: Int64) throws -> [(id: Int64, name: String)] {
        try database.all(
            """
            SELECT d.id, d.name FROM person_devices p JOIN devices d ON d.id = p.device_id
            WHERE p.person_id = ? ORDER BY d.name
            """, .integer(person)
        ) { ($0.int64(0), $0.text(1)) }
    }

    func persons(device: Int64) throws -> [Int64] {
        try database.all("SELECT person_id FROM person_devices WHERE device_id = ?", .integer(device)) {
            $0.int64(0)
        }
    }
}
