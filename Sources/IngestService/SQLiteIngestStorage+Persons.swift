import IngestAPI
import SQLite

extension SQLiteIngestStorage {
    public func persons(account: String) async throws(StorageFailure) -> [PersonEntry] {
        try await states.perform { database in
            let rows = try database.all(
                """
                SELECT p.id, p.name, p.record FROM persons p JOIN accounts a ON a.id = p.account_id
                WHERE a.name = ? ORDER BY p.name
                """, .text(account)
            ) { ($0.int64(0), $0.text(1), $0.optionalText(2)) }
            let names = Names(database: database)
            return try rows.map { id, name, record in
                let record: PersonRecord? = try record.map { try APIJSON.decode(from: Array($0.utf8)) }
                return PersonEntry(
                    person: name, label: record?.label, zones: record?.zones ?? [],
                    devices: try names.devices(person: id).map(\.name))
            }
        }
    }
}
