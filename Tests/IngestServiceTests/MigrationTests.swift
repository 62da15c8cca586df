import CivilTime
import Foundation
import IngestAPI
import Locking
import PostgreSQL
import PostgreSQLTestSupport
import SQLite
import SampleChunks
import Testing

@testable import IngestService
@testable import IngestStore

/// Stores of earlier versions.
@Suite struct MigrationTests {
    private static let samples = [
        sample(1, .steps, value: 3, at: march(1, 12), person: .assigned("p"), offset: -720),
        sample(2, .steps, value: 4, at: march(8, 12), person: .cleared, offset: 840),
        sample(3, .steps, value: 5, at: march(1, 12), bound: 7, person: .cleared, offset: nil),
        sample(4, .steps, value: 6, at: -86_399, version: 3, person: .cleared, offset: 0, provenance: .user),
        sample(5, .steps, value: 7, at: march(1), uncertain: true, person: .cleared),
        sample(6, value: 60, at: march(1), person: .cleared, flags: 0),
        sample(7, value: 61, at: march(1), person: .cleared),
    ]

    private func makeOld(_ path: String, version: Int) throws {
        let database = try Database(path: path)
        for migration in OldSchema.migrations.prefix(version) { try database.execute(migration) }
        try database.execute(
            "PRAGMA user_version = \(version); PRAGMA application_id = \(SQLiteSchema.applicationID)")
        try database.execute(
            """
            INSERT INTO accounts VALUES (1, 'a');
            INSERT INTO devices (id, account_id, name, max_version, report, lease_holder, lease_expires_ms) VALUES
                (1, 1, 'd', 9, '{"battery_percent":50}', 'g1', 1793080060000), (2, 1, 'idle', 0, NULL, NULL, NULL);
            INSERT INTO persons VALUES (1, 1, 'p', '{"label":"Anna","zones":[]}');
            INSERT INTO rings VALUES (1, 10, 7, 1793000000000);
            INSERT INTO ring_types VALUES (1, 10, 2, 5, 5), (1, 10, 1, 7, 2);
            INSERT INTO gaps VALUES (1, 10, 20, 30, 1793000000000, 1793000001000, 'overwritten', NULL);
            """)
        let columns = """
            device_id, ring, type, seq, value, band_time_ms, clock_id, flags, provenance, version, recorded_at_ms,
            tz_offset_min, time_bound_ms, time_uncertain, person_id
            """
        func values(_ sample: APISample, _ extra: SQLiteValue...) -> [SQLiteValue] {
            [
                .int(1), .int(10), .int(sample.type.code), .int(sample.seq), .int(sample.value),
                .int(sample.bandTimeMilliseconds), .int(sample.clockID), .int(sample.flags),
                .int(sample.provenance.code), .int(sample.version), .int(sample.recordedAt.milliseconds),
                .optional(sample.tzOffsetMinutes), .optional(sample.timeBoundMilliseconds),
                .int(sample.timeUncertain ? 1 : 0), sample.person == .assigned("p") ? .int(1) : .null,
            ] + extra
        }
        let marks = Array(repeating: "?", count: 15).joined(separator: ", ")
        let insert = try database.prepare("INSERT INTO samples (\(columns)) VALUES (\(marks))")
        for sample in Self.samples { try insert.run(values(sample)) }
        let beside = try database.prepare(
            "INSERT INTO conflicts (\(columns), received_ms) VALUES (\(marks), ?)")
        try beside.run(values(sample(7, value: 99, at: march(1)), .int(5)))
    }

    @Test(arguments: [1, 2]) func everythingIsThereAfterwards(version: Int) async throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/ingest.sqlite"
        try makeOld(path, version: version)
        let server = try await TestServer(directory: directory, engine: SQLiteEngine(path: path))
        let client = server.client()
        let stored = try await client.samples("device_id=d")
        #expect(Set(stored.map(\.sample)) == Set(Self.samples))
        #expect(stored.allSatisfy { $0.ring == "0000000a" })
        #expect(try await client.samples("person=p").map(\.sample) == [Self.samples[0]])
        let state: DeviceState = try await client.get("/v1/devices/d").read()
        #expect(state.maxVersion == 9 && state.status?.batteryPercent == 50)
        #expect(state.counts == ["steps": 5, "heart_rate": 2])
        #expect(state.rings.map(\.completeThrough) == [7])
        #expect(state.rings.map(\.ackSeq) == [["steps": 5, "heart_rate": 7]])
        #expect(state.rings.map(\.firstSeen) == [APITime(milliseconds: 1_793_000_000_000)])
        #expect(try await client.get("/v1/devices/d/gaps").read(GapList.self).gaps.map(\.firstSeq) == [20])
        #expect(try await client.get("/v1/persons/p").read(PersonRecord.self).label == "Anna")
        #expect(try await client.get("/v1/devices/idle").status == 200)
        #expect(try server.count("conflicts") == 1)
        // Known keys, the kept conflict among them, are known.
        let again = try await client.store(
            batch(Self.samples + [sample(7, value: 99, at: march(1))], device: "d", ring: "0000000a"))
        #expect(again.duplicates == 7 && again.conflicts.count == 1)
        #expect(try server.count("conflicts") == 1)
        let lease = #"{"gateway_id":"g2","ttl_s":60}"#
        #expect(try await client.send(.put, "/v1/devices/d/lease", Array(lease.utf8)).status == 409)
        for _ in 0..<2 {
            for (day, sum) in [(1, 8), (8, 0), (9, 4)] {
                let query = "device_id=d&type=steps&from=2026-03-0\(day)&to=2026-03-0\(day)"
                #expect(try await client.aggregates(query).buckets.map(\.sum) == [sum])
            }
            let hers = try await client.aggregates("person=p&type=steps&from=2026-03-01&to=2026-03-02")
            #expect(hers.buckets.map(\.sum) == [3, 0])
            try await server.settle()
        }
        await server.server.stop(within: .seconds(60))
        let database = try Database(path: path, access: .readOnly)
        let tables = try database.all("SELECT name FROM sqlite_schema WHERE name LIKE 'old_%'") { $0.text(0) }
        #expect(tables.isEmpty)
    }

    /// Before days of a device were packed into a row: a text for each type and wearer.
    private func makeWithTexts(_ engine: any SQLEngine, _ statements: [String]) throws {
        if let engine = engine as? SQLiteEngine {
            let database = try Database(path: engine.path)
            try database.execute(String(decoding: PackageResources.sqlite_0003_sql, as: UTF8.self))
            for statement in statements { try database.execute(statement) }
            return try database.execute(
                "PRAGMA user_version = 3; PRAGMA application_id = \(SQLiteSchema.applicationID)")
        }
        let schema = String(decoding: PackageResources.postgresql_0001_sql, as: UTF8.self)
            .components(separatedBy: ";\n").filter { !$0.isEmpty }
        let version = [
            "CREATE TABLE bandferry_schema (version BIGINT NOT NULL)",
            "INSERT INTO bandferry_schema VALUES (1)",
        ]
        let session = try engine.connect(toWrite: true)
        defer { session.close() }
        _ = try session.beginWriting([])
        for text in schema + version + statements {
            _ = try session.run([SQLCall(TestStatement(text: text))])
        }
        try session.commit([])
    }

    @Test func daysThatWereStoredAsTextStay() async throws {
        let directory = TemporaryDirectory()
        let engine = try TestEngine.make(directory)
        let id = DeviceKey(account: "a", name: "d").id.map {
            String($0 >> 4, radix: 16) + String($0 & 15, radix: 16)
        }
        let device = TestEngine.bytes(id.joined())
        let frozen = CivilDate(year: 2026, month: 10, day: 27)
        let beats = "1 0 10 645 60 69 645 10 10 330 1793075400000 1793075940000 10 645 60 69 645 10"
        let oxygen = "1 0 1 970 970 970 - - 10 330 1793161800000 1793161800000 1 970 970 970 - -"
        let days = [
            ("''", 1, frozen.days, beats), ("'p'", 1, frozen.days, beats), ("''", 3, frozen.days + 1, oxygen),
            ("''", 2, frozen.days + 1, oxygen),
        ]
        try makeWithTexts(
            engine,
            [
                "INSERT INTO devices (device_id, account, name, persons, frozen_through, expired_first_ms) VALUES "
                    + "(\(device), 'a', 'd', 'p', \(frozen.days), 1793075400000)",
                "INSERT INTO account_devices VALUES ('a', 'd', \(device))",
                "INSERT INTO person_devices VALUES ('a', 'p', 'd', \(device))",
            ]
                + days.map { person, type, day, text in
                    "INSERT INTO trend_days VALUES (\(device), \(person), \(type), \(day), 0, '\(text)')"
                })
        let server = try await TestServer(directory: directory)
        let client = server.client()
        for settled in [false, true] {
            for subject in ["device_id=d", "person=p"] {
                let query = "\(subject)&type=heart_rate&from=2026-10-27&to=2026-10-27"
                let buckets = try await client.aggregates(query).buckets
                #expect(buckets.map(\.min) == [60] && buckets.map(\.max) == [69])
                #expect(buckets.map(\.isFrozen) == [true])
            }
            let next = "from=2026-10-28&to=2026-10-28"
            let oxygen = try await client.aggregates("device_id=d&type=spo2&\(next)").buckets
            #expect(oxygen.map(\.max) == [970])
            let steps = try await client.aggregates("device_id=d&type=steps&\(next)").buckets
            #expect(steps.map(\.sum) == [settled ? 5 : 970])
            guard !settled else { break }
            // What is not frozen becomes packed with the next sample, and keeps what that does not touch.
            let late = sample(1, .steps, value: 5, at: 1_793_161_800, offset: 330)
            _ = try await client.store(batch([late], device: "d"))
            try await server.settle()
        }
        #expect(try server.count("trend_days") == 2)
        let state = try await client.get("/v1/devices/d").read(DeviceState.self)
        #expect(state.firstRecordedAt == APITime(milliseconds: 1_793_075_400_000))
        #expect(state.lastRecordedAt == APITime(milliseconds: 1_793_161_800_000))
        await server.server.stop(within: .seconds(60))
    }

    @Test func aMigrationThatFailsLeavesTheOldStore() throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/s.sqlite"
        try makeOld(path, version: 2)
        // A table of the new version is in the way.
        do {
            let database = try Database(path: path)
            try database.execute("CREATE TABLE chunks (x)")
        }
        #expect(throws: StorageFailure.self) { try SQLiteEngine(path: path).prepare() }
        let database = try Database(path: path, access: .readOnly)
        #expect(try database.userVersion == 2)
        #expect(try database.first("SELECT count(*) FROM samples") { $0.int(0) } == Self.samples.count)
    }

    // MARK: PostgreSQL

    /// With many samples a statement takes longer than any may otherwise.
    @Test(.enabled(if: TestEngine.isPostgreSQL), .timeLimit(.minutes(5))) func aLongUpgradeIsNotCutShort()
        throws
    {
        let uri = try TestPostgreSQL.shared().makeDatabase()
        let engine = PostgreSQLEngine(uri: uri, times: PostgreSQLEngine.Times(call: .seconds(5)))
        try engine.prepare()
        let session = try engine.connect(toWrite: true)
        _ = try session.beginWriting(DeviceKey(account: "a", name: "d").make)
        try session.commit([])
        session.close()
        let connection = try PostgreSQLConnection(uri, deadline: .seconds(60))
        defer { connection.close() }
        try connection.script(
            """
            DELETE FROM bandferry_schema WHERE version = 3;
            ALTER TABLE devices DROP COLUMN first_ms, DROP COLUMN last_ms, DROP COLUMN expired_last_ms;
            CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN PERFORM pg_sleep(6); RETURN NEW; END $$;
            CREATE TRIGGER slow BEFORE UPDATE ON devices FOR EACH ROW EXECUTE FUNCTION slow()
            """)
        let reports = Guarded([StoragePreparation]())
        try engine.prepare(report: { report in reports.withLock { $0.append(report) } })
        #expect(reports.withLock { $0 } == [.upgrading(from: 2, to: 3)])
        try connection.script("SELECT first_ms FROM devices")
    }

    @Test(.enabled(if: TestEngine.isPostgreSQL), .timeLimit(.minutes(5)))
    func whoComesDuringAnUpgradeWaitsAndSaysSo() async throws {
        let uri = try TestPostgreSQL.shared().makeDatabase()
        let other = try PostgreSQLConnection(uri, deadline: .seconds(60))
        defer { other.close() }
        try other.script("SELECT pg_advisory_lock(\(PostgreSQLSchema.lock))")
        let engine = PostgreSQLEngine(uri: uri, times: PostgreSQLEngine.Times(wait: .milliseconds(50)))
        let (reports, reported) = AsyncStream.makeStream(of: StoragePreparation.self)
        let prepared = Task {
            try await BlockingWork.run { () throws(StorageFailure) in
                try engine.prepare(report: { reported.yield($0) })
            }
        }
        var report = reports.makeAsyncIterator()
        for _ in 0..<3 { #expect(await report.next() == .waiting) }
        try other.script("SELECT pg_advisory_unlock(\(PostgreSQLSchema.lock))")
        try await prepared.value
        // Where there is nothing to do nobody waits.
        try other.script("SELECT pg_advisory_lock(\(PostgreSQLSchema.lock))")
        try engine.prepare()
    }
}
