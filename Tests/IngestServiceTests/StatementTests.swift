import CivilTime
import Foundation
import IngestAPI
import SQLite
import Testing

@testable import IngestService
@testable import IngestStore

/// What the storage may say to an engine, and how an engine finds it.
@Suite struct StatementTests {
    /// So that a device's rows may lie on any machine, and an account's small ones on any.
    @Test func everyStatementOfADeviceNamesOne() {
        for statement in DeviceStatement.allCases {
            expectNames("device_id", statement.text)
        }
        for statement in AccountStatement.allCases {
            expectNames("account", statement.text)
        }
    }

    /// Either inserts it as the first value, or compares with it in each WHERE; nothing else of a device is read.
    private func expectNames(_ column: String, _ sql: String) {
        if sql.hasPrefix("INSERT") {
            #expect(sql.contains("(\(column), "), "\(sql)")
            #expect(sql.contains("VALUES ($1, "), "\(sql)")
            return
        }
        let conditions = sql.components(separatedBy: "WHERE").dropFirst()
        #expect(!conditions.isEmpty, "\(sql)")
        for condition in conditions {
            #expect(
                condition.trimmingCharacters(in: .whitespacesAndNewlines).hasPrefix("\(column) = $1"),
                "\(sql)")
        }
        // Each table that is read has its condition.
        #expect(sql.components(separatedBy: "FROM ").count - 1 <= conditions.count, "\(sql)")
        #expect(!sql.contains("JOIN"), "\(sql)")
    }

    /// All but the lists of everything, for people.
    private static let searching =
        DeviceStatement.allCases.map(\.text) + AccountStatement.allCases.map(\.text)
        + [ServerStatement.token, .tokenByID, .revokeToken, .devicesAfter, .probe].map(\.text)

    @Test func noStatementScansATable() throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/s.sqlite"
        try SQLiteEngine(path: path).prepare()
        let database = try Database(path: path)
        for sql in Self.searching {
            let plan = try database.prepare(
                "EXPLAIN QUERY PLAN \(sql.replacing(" FOR UPDATE SKIP LOCKED", with: ""))")
            while try plan.step() {
                #expect(!plan.text(3).contains("SCAN"), "\(plan.text(3)): \(sql)")
            }
        }
        let plan = try database.prepare("EXPLAIN QUERY PLAN \(DeviceStatement.chunksBetween.text)")
        var steps: [String] = []
        while try plan.step() { steps.append(plan.text(3)) }
        #expect(steps.joined().contains("chunks_by_time (device_id=? AND last_ms>?)"), "\(steps)")
    }

    /// With the settings of the server's own connections, and plans that are made before the values are known.
    @Test(.enabled(if: TestEngine.isPostgreSQL)) func noStatementScansATableOfPostgreSQL() throws {
        let directory = TemporaryDirectory()
        let engine = try TestEngine.make(directory)
        try engine.prepare()
        let session = try engine.connect(toWrite: true)
        defer { session.close() }
        func plan(_ sql: String) throws -> [String] {
            let count = (1...20).last { sql.contains("$\($0)") } ?? 0
            let values = count == 0 ? "" : "(\((0..<count).map { _ in "NULL" }.joined(separator: ", ")))"
            _ = try session.beginWriting([
                SQLCall(TestStatement(text: "SET LOCAL plan_cache_mode = force_generic_plan")),
                SQLCall(TestStatement(text: "PREPARE looked_at AS \(sql)")),
            ])
            let rows = try session.rows(SQLCall(TestStatement(text: "EXPLAIN EXECUTE looked_at\(values)")))
            _ = try session.run([SQLCall(TestStatement(text: "DEALLOCATE looked_at"))])
            session.rollBack()
            return try rows.map { try $0.text(0) }
        }
        for sql in Self.searching {
            let steps = try plan(sql)
            #expect(!steps.isEmpty)
            #expect(!steps.contains { $0.contains("Seq Scan") }, "\(steps): \(sql)")
            // An index that is read from end to end is no better than the table.
            let scans = steps.filter { $0.contains("Index Scan") || $0.contains("Index Only Scan") }.count
            let conditions = steps.filter { $0.contains("Index Cond") }.count
            #expect(scans == conditions, "\(steps): \(sql)")
        }
        // The check sees one.
        let steps = try plan("SELECT name FROM devices WHERE name = $1")
        #expect(steps.contains { $0.contains("Seq Scan") }, "\(steps)")
        let byTime = try plan(DeviceStatement.chunksBetween.text)
        #expect(byTime.joined().contains("chunks_by_time"), "\(byTime)")
    }
}
