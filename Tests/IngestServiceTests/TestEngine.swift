import Foundation
import PostgreSQLTestSupport

@testable import IngestStore

/// The engine that tests of the service run on: SQLite, or PostgreSQL where `BANDFERRY_TEST_STORE` says so. Both must do
/// the same.
enum TestEngine {
    static let isPostgreSQL = ProcessInfo.processInfo.environment["BANDFERRY_TEST_STORE"] == "postgresql"

    /// Bytes in SQL, from hex digits.
    static func bytes(_ hex: String) -> String { isPostgreSQL ? "'\\x\(hex)'" : "x'\(hex)'" }

    static func make(_ directory: TemporaryDirectory) throws -> any SQLEngine {
        guard isPostgreSQL else { return SQLiteEngine(path: directory.path + "/ingest.sqlite") }
        // The same directory is the same database.
        let note = directory.path + "/conninfo"
        if let known = FileManager.default.contents(atPath: note) {
            return PostgreSQLEngine(uri: String(decoding: known, as: UTF8.self))
        }
        let made = try TestPostgreSQL.shared().makeDatabase()
        try made.write(toFile: note, atomically: true, encoding: .utf8)
        return PostgreSQLEngine(uri: made)
    }
}

extension DatabaseStorage.Rests {
    /// Nothing happens beside requests.
    static let untilClosed = Self(
        trends: { _ in await untilCancelled() }, start: untilCancelled, device: {}, round: untilCancelled,
        failure: untilCancelled)

    /// Returns when its task is cancelled.
    static let untilCancelled: @Sendable () async -> Void = {
        let (stream, _) = AsyncStream.makeStream(of: Void.self)
        for await _ in stream {}
    }
}
