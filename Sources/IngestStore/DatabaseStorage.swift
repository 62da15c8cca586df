import IngestAPI

/// Keeps what an ingest server is sent in a database of one of the engines.
///
/// Writers commit requests in groups; readers work on snapshots beside them, so that a long read for a person
/// never delays the short ones that gateways start with. Stored trends are brought up to date after commits.
public final class DatabaseStorage: IngestStorage {
    let engine: any SQLEngine
    let now: @Sendable () -> APITime
    let writers: WritePool
    /// Every request begins with its token: nothing else may keep these waiting.
    let tokens: ReadPool
    let states: ReadPool
    /// All that an account has: they may be long, and people wait for them.
    let lists: ReadPool
    /// All that a device has: gateways need it before they send.
    private let ledgers: ReadPool
    private let pages: ReadPool
    private let trends: ReadPool
    private let rolls: ReadPool
    let roller: TrendRoller
    private let worker: TrendWorker?
    private let housekeeping: Housekeeping?

    /// What happens beside requests, and when. All may return early when their task is cancelled.
    struct Rests: Sendable {
        /// What bursts of bringing trends up to date are timed by.
        var clock: @Sendable () -> ContinuousClock.Instant = { .now }
        /// Before each of them.
        var trends: @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
        /// Before all devices are looked through for the first time: a start has more urgent work.
        var start: @Sendable () async -> Void = { try? await Task.sleep(for: .seconds(30)) }
        /// After each device that is looked through.
        var device: @Sendable () async -> Void = { try? await Task.sleep(for: .milliseconds(20)) }
        /// After all devices.
        var round: @Sendable () async -> Void = { try? await Task.sleep(for: .seconds(6 * 3600)) }
        /// Before it goes on after the storage failed.
        var failure: @Sendable () async -> Void = { try? await Task.sleep(for: .seconds(60)) }
    }

    /// Makes what is not there. Nil for `retention` = it only does what it is asked: another process may keep house, and
    /// knows how long samples are kept. `report`: why it takes its time.
    public convenience init(
        _ location: StorageLocation, retention: Retention? = .standard,
        report: @escaping @Sendable (StoragePreparation) -> Void = { _ in }
    ) async throws(StorageFailure) {
        try await self.init(location.engine, retention: retention, now: WallClock.now, report: report)
    }

    init(
        _ engine: any SQLEngine, retention: Retention? = .standard, now: @escaping @Sendable () -> APITime,
        rests: Rests = Rests(), limits: TimeLimits = .request,
        report: @escaping @Sendable (StoragePreparation) -> Void = { _ in }
    ) async throws(StorageFailure) {
        self.engine = engine
        self.now = now
        try await BlockingWork.run { () throws(StorageFailure) in try engine.prepare(report: report) }
        writers = WritePool(engine, limits: limits)
        // Small questions, most of them answered from memory before they come here.
        tokens = ReadPool(engine, label: "ingest-tokens", count: 1, limits: limits)
        states = ReadPool(engine, label: "ingest-states", limits: limits)
        lists = ReadPool(engine, label: "ingest-lists", count: 1, limits: limits)
        ledgers = ReadPool(engine, label: "ingest-ledgers", limits: limits)
        pages = ReadPool(engine, label: "ingest-pages", limits: limits)
        trends = ReadPool(engine, label: "ingest-trends", limits: limits)
        rolls = ReadPool(engine, label: "ingest-rolls", limits: .background)
        let roller = TrendRoller(reader: rolls, writers: writers)
        self.roller = roller
        worker = retention.map { _ in TrendWorker(roller, now: rests.clock, rest: rests.trends) }
        housekeeping = retention.map { Housekeeping(roller, retention: $0, now: now, rests: rests) }
    }

    public func close() async {
        await housekeeping?.close()
        await worker?.close()
        for reader in [tokens, states, lists, ledgers, pages, trends, rolls] { await reader.close() }
        await writers.close()
    }

    /// Whether it brings trends up to date and lets samples go, beside what it is asked.
    var keepsHouse: Bool { worker != nil || housekeeping != nil }

    // MARK: writing

    public func store(_ batch: ReceivedBatch, account: String) async throws(StorageFailure) -> BatchAnswer {
        let answer = try await writers.perform(BatchJob(batch, account: account, now: now()).job)
        worker?.wake(DeviceKey(account: account, name: batch.deviceID))
        return answer
    }

    public func putGaps(
        _ gaps: [APIGap], device: String, account: String
    ) async throws(StorageFailure) -> [APIGap] {
        let key = DeviceKey(account: account, name: device)
        let stored = try await writers.perform(GapRows.put(gaps, key, now: now()))
        worker?.wake(key)
        return stored
    }

    public func putReport(
        _ report: DeviceReport, device: String, account: String
    ) async throws(StorageFailure) {
        try await writers.perform(DeviceJobs.putReport(report, DeviceKey(account: account, name: device)))
    }

    public func requestLease(
        _ request: LeaseRequest, device: String, account: String
    ) async throws(StorageFailure) -> LeaseDecision {
        let key = DeviceKey(account: account, name: device)
        return try await writers.perform(DeviceJobs.requestLease(request, key, now: now()))
    }

    public func releaseLease(
        gateway: String, device: String, account: String
    ) async throws(StorageFailure) -> LeaseAnswer? {
        let key = DeviceKey(account: account, name: device)
        return try await writers.perform(DeviceJobs.releaseLease(gateway: gateway, key, now: now()))
    }

    public func putPerson(
        _ record: PersonRecord, person: String, account: String
    ) async throws(StorageFailure) {
        try await writers.perform(PersonReads.put(record, person, account: account))
    }

    // MARK: reading

    public func devices(account: String) async throws(StorageFailure) -> [DeviceState] {
        try await devices(account: account, room: IngestAPI.maxListEntries)
    }

    func devices(account: String, room: Int) async throws(StorageFailure) -> [DeviceState] {
        var states: [DeviceState] = []
        var room = room
        var place: String? = ""
        // Each part is a question of its own: however many there are, none of them is late, and others' go between.
        while let name = place {
            let page = try await lists.perform { [room] session throws(StorageFailure) in
                try DeviceReads(session: session).page(of: account, after: name, room: room)
            }
            states += page.states
            (room, place) = (page.room, page.next)
        }
        return states
    }

    public func device(_ device: String, account: String) async throws(StorageFailure) -> DeviceState? {
        try await states.perform { session throws(StorageFailure) in
            try DeviceReads(session: session).state(DeviceKey(account: account, name: device))
        }
    }

    public func ranges(device: String, account: String) async throws(StorageFailure) -> [DayRange]? {
        try await ranges(device: device, account: account, limits: RangeReads.Limits())
    }

    func ranges(
        device: String, account: String, limits: RangeReads.Limits, most: Int = DayCounts.most
    ) async throws(StorageFailure) -> [DayRange]? {
        let key = DeviceKey(account: account, name: device)
        var counts = DayCounts()
        var place: RangeReads.Place? = .beginning
        while let begin = place {
            let part = try await ledgers.perform { session throws(StorageFailure) in
                try RangeReads(session: session, limits: limits).part(of: key, after: begin)
            }
            guard let part else { return nil }
            counts.add(part.counts)
            guard counts.count <= most else { throw .longList }
            place = part.next
        }
        return counts.all
    }

    public func gaps(device: String, account: String) async throws(StorageFailure) -> [APIGap]? {
        try await ledgers.perform { session throws(StorageFailure) in
            let key = DeviceKey(account: account, name: device)
            guard try DeviceRow.read(key, in: session) != nil else { return nil }
            return try GapRows.all(key, in: session)
        }
    }

    public func persons(account: String) async throws(StorageFailure) -> [PersonEntry] {
        try await lists.perform { session throws(StorageFailure) in
            try PersonReads(session: session).list(account: account)
        }
    }

    public func person(_ person: String, account: String) async throws(StorageFailure) -> PersonRecord? {
        try await states.perform { session throws(StorageFailure) in
            try PersonReads(session: session).record(person, account: account)
        }
    }

    public func samples(_ query: SampleQuery, account: String) async throws(StorageFailure) -> SamplesPage? {
        try await pages.perform { session throws(StorageFailure) in
            try SamplePages(session: session).page(query, account: account)
        }
    }

    public func aggregates(
        _ query: AggregateQuery, account: String
    ) async throws(StorageFailure) -> AggregateList? {
        try await trends.perform { session throws(StorageFailure) in
            try TrendReader(session: session).list(query, account: account)
        }
    }
}
