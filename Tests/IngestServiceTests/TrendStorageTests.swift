import CivilTime
import IngestAPI
import SQLite
import Testing
import ZoneDatabase

@testable import IngestService
@testable import SQLite

@Suite struct TrendStorageTests {
    /// Whatever the read path runs, on tables with rows in them.
    @Test(arguments: APISampleType.allCases) func noStatementScansATable(type: APISampleType) async throws {
        try await TestServer.run { server in
            for device in ["d", "e"] {
                let samples = (1...60).map {
                    sample(
                        UInt32($0), type, value: 1, at: march(1) + Int64($0) * 7200, person: .assigned("p"),
                        offset: $0 % 3 == 0 ? nil : 60)
                }
                _ = try await server.client().store(batch(samples, device: device))
            }
            let database = try Database(path: server.storePath, access: .readOnly)
            let days = CivilDate(year: 2026, month: 3, day: 1)...CivilDate(year: 2026, month: 3, day: 5)
            for settled in [false, true] {
                if settled { try await server.settle() }
                for zone in [nil, ZoneDatabase().rules(named: "Asia/Tokyo")] {
                    for subject in [SampleQuery.Subject.device("d"), .person("p")] {
                        let query = AggregateQuery(
                            subject: subject, type: type, bucket: .day, dates: days, zone: zone)
                        _ = try TrendReader(database: database).list(query, account: "a")
                    }
                }
            }
            _ = try TrendTurn(device: 1, marks: 9, in: database)
            #expect(database.cache.count >= 8)
            for sql in database.cache.keys {
                let plan = try database.prepare("EXPLAIN QUERY PLAN \(sql)")
                while try plan.step() {
                    #expect(!plan.text(3).contains("SCAN"), "\(plan.text(3)): \(sql)")
                    #expect(
                        !plan.text(3).contains("TEMP B-TREE") || sql.contains("ORDER BY d.name"), "\(sql)")
                }
                // So that a device's rows may lie anywhere: none but the tables that turn names into numbers.
                #expect(
                    sql.contains("device_id = ?") || sql.contains("devices WHERE id = ?")
                        || sql.contains("a.name = ?")
                        || sql.contains("FROM person_devices"), "\(sql)")
            }
        }
    }

    @Test func aStoreOfTheFirstVersionGetsItsTrends() async throws {
        let directory = TemporaryDirectory()
        do {
            let database = try Database(path: directory.path + "/ingest.sqlite")
            try database.execute(Schema.migrations[0])
            try database.execute("PRAGMA user_version = 1; PRAGMA application_id = \(Schema.applicationID)")
            try database.execute(
                """
                INSERT INTO accounts VALUES (1, 'a');
                INSERT INTO devices (id, account_id, name) VALUES (1, 1, 'd'), (2, 1, 'idle');
                INSERT INTO persons (id, account_id, name) VALUES (1, 1, 'p');
                """)
            let insert = try database.prepare(SampleRow.insert)
            let samples = [
                sample(1, .steps, value: 3, at: march(1, 12), person: .assigned("p"), offset: -720),
                sample(2, .steps, value: 4, at: march(8, 12), offset: 840),
                sample(3, .steps, value: 5, at: march(1, 12), offset: nil),
                sample(4, .steps, value: 6, at: -86_399, offset: 0),
                sample(5, .steps, value: 7, at: march(1), uncertain: true),
                sample(6, value: 60, at: march(1), flags: 0), sample(7, value: 61, at: march(1)),
            ]
            for one in samples {
                try SampleRow.bind(
                    one, device: 1, ring: 1, person: one.person == .unchanged ? nil : 1, to: insert)
                try insert.run()
            }
        }
        let server = try await TestServer(directory: directory)
        #expect(
            try server.touched() == [
                "d * heart_rate 2026-03-01", "d * steps 1969-12-31", "d * steps 2026-03-01",
                "d * steps 2026-03-09", "d p steps 2026-03-01",
            ])
        for _ in 0..<2 {
            for (day, sum) in [(1, 8), (8, 0), (9, 4)] {
                let query = "device_id=d&type=steps&from=2026-03-0\(day)&to=2026-03-0\(day)"
                #expect(try await server.client().aggregates(query).buckets.map(\.sum) == [sum])
            }
            let hers = try await server.client().aggregates(
                "person=p&type=steps&from=2026-03-01&to=2026-03-02")
            #expect(hers.buckets.map(\.sum) == [3, 0])
            try await server.settle()
        }
        await server.server.stop(within: .seconds(1))
    }
}
