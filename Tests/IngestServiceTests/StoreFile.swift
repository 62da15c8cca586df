import SQLite

extension TestServer {
    /// Rows of a table, read through a connection of the test's own.
    func count(_ table: String) throws -> Int {
        let database = try Database(path: storePath, access: .readOnly)
        return try database.first("SELECT count(*) FROM \(table)") { $0.int(0) } ?? 0
    }
}
