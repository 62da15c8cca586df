@testable import IngestStore

/// Any statement, for tests that look at tables.
struct TestStatement: SQLStatement {
    let text: String
}

extension TestServer {
    /// Rows of a table, or packed samples, read through a connection of the test's own.
    func count(_ table: String) throws -> Int {
        let sql =
            table == "samples"
            ? "SELECT CAST(coalesce(sum(samples), 0) AS BIGINT) FROM chunks" : "SELECT count(*) FROM \(table)"
        let session = try storage.engine.connect(toWrite: false)
        defer { session.close() }
        return try session.first(SQLCall(TestStatement(text: sql)))?.int(0) ?? 0
    }

    /// Changes a table behind the server's back.
    func change(_ sql: String) throws {
        let session = try storage.engine.connect(toWrite: true)
        defer { session.close() }
        _ = try session.beginWriting([SQLCall(TestStatement(text: sql))])
        try session.commit([])
    }
}
