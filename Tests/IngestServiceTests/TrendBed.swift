import CivilTime
import IngestAPI
import SQLite
import Testing
import Trends

@testable import IngestService

// What tests of trends share.

/// Minutes since 2026-03-01T00:00:00Z as an instant, in seconds since 1970.
func march(_ day: Int, _ hour: Int = 0, _ minute: Int = 0) -> Int64 {
    CivilDate(year: 2026, month: 3, day: day).midnight(offsetMinutes: 0) / 1000
        + Int64(hour * 3600 + minute * 60)
}

extension TestClient {
    func aggregates(_ query: String) async throws -> AggregateList {
        try await get("/v1/aggregates?\(query)").read()
    }

    /// Every sample of a query, page after page.
    func samples(_ query: String) async throws -> [StoredSample] {
        var samples: [StoredSample] = []
        var cursor: String?
        repeat {
            let more = cursor.map { "&cursor=\($0)" } ?? ""
            let page: SamplesPage = try await get("/v1/samples?\(query)\(more)").read()
            samples += page.samples
            cursor = page.nextCursor
        } while cursor != nil
        return samples
    }
}

extension TestServer {
    /// Touched days as `DEVICE PERSON TYPE DATE`, in order; `*` for all samples of a device.
    func touched() throws -> [String] {
        let database = try Database(path: storePath, access: .readOnly)
        let rows = try database.all(
            """
            SELECT d.name, coalesce(p.name, '*'), t.type, t.day FROM touched_days t
            JOIN devices d ON d.id = t.device_id LEFT JOIN persons p ON p.id = t.person_id
            """
        ) {
            "\($0.text(0)) \($0.text(1)) \(APISampleType(code: $0.int(2))?.rawValue ?? "?") \(CivilDate(days: $0.int(3)))"
        }
        return rows.sorted()
    }

    /// Stored days as they are in the table, in the order of its key.
    func storedDays() throws -> [String] {
        let database = try Database(path: storePath, access: .readOnly)
        return try database.all(
            "SELECT device_id, person_id, type, day, floating, content FROM trend_days"
        ) { row in (0..<6).map { row.text($0) }.joined(separator: " ") }
    }

    /// Computes everything that is touched.
    func settle() async throws {
        while await storage.roller.burst() {}
        #expect(try touched().isEmpty)
    }
}
