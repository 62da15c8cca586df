import CivilTime
import IngestAPI
import Testing
import Trends

@testable import IngestService
@testable import IngestStore

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
    /// Touched days as `DEVICE TYPE DATE`, in order.
    func touched() async throws -> [String] {
        try await read { session, devices throws(StorageFailure) in
            var days: [String] = []
            for device in devices {
                guard let row = try DeviceRow.read(device, in: session) else { continue }
                for type in row.touched.types {
                    for day in row.touched.ranges(type).joined() {
                        days.append("\(device.name) \(type.rawValue) \(day)")
                    }
                }
            }
            return days.sorted()
        }
    }

    /// Stored days as they are in the table, in the order of its key.
    func storedDays() async throws -> [String] {
        try await read { session, devices throws(StorageFailure) in
            var days: [String] = []
            for device in devices {
                let all = CivilDate(days: -100_000)...CivilDate(days: 100_000)
                days += try TrendTable(device: device).contents(all, in: session)
                    .map { "\(device.name) \($0.key) \($0.value)" }.sorted()
            }
            return days
        }
    }

    private func read<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLSession, [DeviceKey]) throws(StorageFailure) -> Value
    ) async throws -> Value {
        try await storage.states.perform { session throws(StorageFailure) in
            var devices: [DeviceKey] = []
            for account in ["a", "b"] {
                let names = SQLCall(AccountStatement.devices, .text(account), .text(""), .int(1000))
                for row in try session.rows(names) {
                    devices.append(DeviceKey(account: account, name: try row.text(0)))
                }
            }
            return try body(session, devices)
        }
    }

    /// Computes everything that is touched.
    func settle() async throws {
        try await storage.settle()
        #expect(try await touched().isEmpty)
    }
}

extension DatabaseStorage {
    /// Brings all trends up to date.
    func settle() async throws { try await tidy(Retention(days: nil)) }

    /// What housekeeping does in one round.
    func tidy(_ retention: Retention) async throws {
        var tour = DeviceTour()
        try await Housekeeping.round(&tour, roller, retention, now, rest: {})
    }
}
