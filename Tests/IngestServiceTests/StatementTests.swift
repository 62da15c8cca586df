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

    @Test func noStatementScansATable() throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/s.sqlite"
        try SQLiteEngine(path: path).prepare()
        let database = try Database(path: path)
        for sql in DeviceStatement.allCases.map(\.text) + AccountStatement.allCases.map(\.text)
            + [
                ServerStatement.token.text, ServerStatement.tokenByID.text, ServerStatement.revokeToken.text,
                ServerStatement.devicesAfter.text,
            ]
        {
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
}
