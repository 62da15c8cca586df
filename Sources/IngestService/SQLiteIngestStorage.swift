import Glibc
import IngestAPI
import SQLite

/// Keeps what an ingest server is sent in one SQLite file.
///
/// One writer commits requests in groups; readers work on snapshots beside it, so that a long read for a person
/// never delays the short ones that gateways start with. A worker brings stored trends up to date after commits.
public final class SQLiteIngestStorage: IngestStorage {
    let path: String
    let now: @Sendable () -> APITime
    let writer: WriteConnection
    let states: ReadConnection
    private let pages: ReadConnection
    private let trends: ReadConnection
    private let rolls: ReadConnection
    let roller: TrendRoller
    private let worker: TrendWorker

    /// Makes the file, for its owner's eyes only, when it is not there.
    public convenience init(path: String) async throws(StorageFailure) {
        try await self.init(path: path, now: WallClock.now)
    }

    /// `rest` is what the worker does before each burst of work.
    init(
        path: String, now: @escaping @Sendable () -> APITime,
        rest: @escaping @Sendable () async -> Void = TrendWorker.standardRest
    ) async throws(StorageFailure) {
        self.path = path
        self.now = now
        writer = WriteConnection(path: path)
        states = ReadConnection(path: path, label: "ingest-states")
        pages = ReadConnection(path: path, label: "ingest-pages")
        trends = ReadConnection(path: path, label: "ingest-trends")
        rolls = ReadConnection(path: path, label: "ingest-rolls")
        roller = TrendRoller(reader: rolls, writer: writer)
        try Self.makeFile(path)
        try await writer.open()
        worker = TrendWorker(roller, rest: rest)
    }

    /// SQLite gives its own files (`-wal`, `-shm`) the mode of the database.
    private static func makeFile(_ path: String) throws(StorageFailure) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw StorageFailure(.unavailable, "can't make \(path): \(String(cString: strerror(errno)))")
        }
        fsync(descriptor)
        Glibc.close(descriptor)
    }

    public func close() async {
        await worker.close()
        for reader in [states, pages, trends, rolls] { await reader.close() }
        await writer.close()
    }

    // MARK: writing

    public func store(_ batch: ReceivedBatch, account: String) async throws(StorageFailure) -> BatchAnswer {
        let answer = try await writer.perform { [now] in
            try BatchWriter.store(batch, account: account, in: $0, now: now())
        }
        worker.wake()
        return answer
    }

    public func putGaps(
        _ gaps: [APIGap], device: String, account: String
    ) async throws(StorageFailure) -> [APIGap] {
        let stored = try await writer.perform { [now] database in
            let id = try Names(database: database).makeDevice(device, account: account)
            return try GapWriter(database: database, device: id, now: now()).put(gaps)
        }
        worker.wake()
        return stored
    }

    public func putReport(
        _ report: DeviceReport, device: String, account: String
    ) async throws(StorageFailure) {
        try await writer.perform { database in
            let id = try Names(database: database).makeDevice(device, account: account)
            try DeviceTable(database: database).put(report, device: id)
        }
    }

    public func requestLease(
        _ request: LeaseRequest, device: String, account: String
    ) async throws(StorageFailure) -> LeaseDecision {
        try await writer.perform { [now] database in
            let id = try Names(database: database).makeDevice(device, account: account)
            return try LeaseTable(database: database, now: now()).request(request, device: id)
        }
    }

    public func releaseLease(
        gateway: String, device: String, account: String
    ) async throws(StorageFailure) -> LeaseAnswer? {
        try await writer.perform { [now] database in
            guard let id = try Names(database: database).device(device, account: account) else { return nil }
            return try LeaseTable(database: database, now: now()).release(gateway: gateway, device: id)
        }
    }

    public func putPerson(
        _ record: PersonRecord, person: String, account: String
    ) async throws(StorageFailure) {
        try await writer.perform { database in
            let id = try Names(database: database).makePerson(person, account: account)
            let text = String(decoding: try APIJSON.encode(record), as: UTF8.self)
            try database.run("UPDATE persons SET record = ? WHERE id = ?", .text(text), .integer(id))
        }
    }

    // MARK: reading

    public func devices(account: String) async throws(StorageFailure) -> [DeviceState] {
        try await states.perform { try DeviceTable(database: $0).states(account: account) }
    }

    public func device(_ device: String, account: String) async throws(StorageFailure) -> DeviceState? {
        try await states.perform { database in
            guard let id = try Names(database: database).device(device, account: account) else { return nil }
            return try DeviceTable(database: database).state(id: id, name: device)
        }
    }

    public func ranges(device: String, account: String) async throws(StorageFailure) -> [DayRange]? {
        try await pages.perform { database in
            guard let id = try Names(database: database).device(device, account: account) else { return nil }
            return try DeviceTable(database: database).ranges(device: id)
        }
    }

    public func gaps(device: String, account: String) async throws(StorageFailure) -> [APIGap]? {
        try await states.perform { database in
            guard let id = try Names(database: database).device(device, account: account) else { return nil }
            return try GapTable(database: database).all(device: id)
        }
    }

    public func person(_ person: String, account: String) async throws(StorageFailure) -> PersonRecord? {
        try await states.perform { database in
            let text = try database.first(
                """
                SELECT p.record FROM persons p JOIN accounts a ON a.id = p.account_id
                WHERE a.name = ? AND p.name = ?
                """, .text(account), .text(person)
            ) { $0.optionalText(0) }
            return try (text ?? nil).map { try APIJSON.decode(from: Array($0.utf8)) }
        }
    }

    public func samples(_ query: SampleQuery, account: String) async throws(StorageFailure) -> SamplesPage? {
        try await pages.perform { try SampleReader(database: $0).page(query, account: account) }
    }

    public func aggregates(
        _ query: AggregateQuery, account: String
    ) async throws(StorageFailure) -> AggregateList? {
        try await trends.perform { try TrendReader(database: $0).list(query, account: account) }
    }
}
