import HTTPServer
import IngestAPI
import Locking
import Testing

@testable import IngestService
@testable import IngestStore

/// Who may say that a storage works again.
@Suite struct StorageHealthTests {
    private let storage = FillingStorage()
    private let events = EventLog()
    private let service: IngestService

    init() {
        let events = events
        service = IngestService(
            storage: storage, tokens: TokenTable(["t": Identity(account: "a")]),
            lookInterval: .zero, report: { events.add($0) })
    }

    private func ask(_ method: String, _ path: String, _ body: some Encodable) async throws -> Int {
        await service.handle(
            ServerRequest(
                method: method, path: path.split(separator: "/").map(String.init),
                headers: [
                    HTTPField("Authorization", "Bearer t"), HTTPField("Content-Type", "application/json"),
                ],
                body: try APIJSON.encode(body))
        ).status
    }

    private func read() async throws -> Int { try await ask("GET", "/v1/devices", [String]()) }
    private func store() async throws -> Int {
        try await ask("POST", "/v1/samples:batch", batch([sample(1)]))
    }
    private func report() async throws -> Int { try await ask("PUT", "/v1/devices/d/status", DeviceReport()) }
    private func look() async throws -> Int { try await ask("GET", "/healthz", [String]()) }
    private var isUp: Bool { service.metrics.text.contains("\nbandferry_ingest_storage_up 1\n") }

    @Test func onAFullDiskNeitherReadsNorSmallWritesSayThatItWorks() async throws {
        #expect(try await store() == 200)
        storage.isFull.withLock { $0 = true }
        for _ in 0..<3 {
            #expect(try await store() == 503)
            #expect(try await read() == 200)
            #expect(!isUp)
            #expect(try await report() == 200)
            await service.settle()
            #expect(!isUp)
            #expect(try await look() == 503)
        }
        #expect(events.all == [.storageFailing(FillingStorage.full)])
    }

    @Test func aWriteThatIsStoredHasItLookedAtAgain() async throws {
        storage.isFull.withLock { $0 = true }
        #expect(try await store() == 503)
        storage.isFull.withLock { $0 = false }
        #expect(try await read() == 200)
        #expect(!isUp)
        #expect(try await store() == 200)
        await service.settle()
        #expect(isUp)
        #expect(events.all == [.storageFailing(FillingStorage.full), .storageHealed])
        // While it works nobody looks.
        #expect(try await store() == 200)
        #expect(storage.probes.withLock { $0 } == 1)
    }

    @Test(.timeLimit(.minutes(5))) func noAnswerWaitsForALookAndThereIsOneAtATime() async throws {
        storage.isFull.withLock { $0 = true }
        #expect(try await store() == 503)
        storage.isFull.withLock { $0 = false }
        storage.isSlow.withLock { $0 = true }
        for _ in 0..<5 { #expect(try await store() == 200) }
        #expect(!isUp)
        storage.isSlow.withLock { $0 = false }
        await service.settle()
        #expect(isUp)
        #expect(storage.probes.withLock { $0 } == 1)
    }

    @Test func whatADeviceOrACrowdCannotHaveSaysNothingOfTheStorage() async throws {
        let damaged = StorageFailure(.damaged, "a row")
        let defect = StorageFailure(.defect, "a statement")
        for failure in [damaged, defect, StorageFailure(.overloaded, "too many"), damaged, defect] {
            storage.refusal.withLock { $0 = failure }
            #expect(try await store() >= 500)
            storage.refusal.withLock { $0 = nil }
            #expect(try await store() == 200)
            await service.settle()
            #expect(isUp)
        }
        #expect(storage.probes.withLock { $0 } == 0)
        #expect(events.all == [.requestsFailing(damaged, count: 1), .requestsFailing(defect, count: 1)])
        #expect(service.metrics.text.contains("\nbandferry_ingest_storage_failures_total 5\n"))
        storage.refusal.withLock { $0 = StorageFailure(.incompatible, "newer") }
        #expect(try await store() >= 500)
        #expect(!isUp)
    }

    private static var late: StorageFailure {
        var failure = StorageFailure(.unavailable, "no answer within the deadline")
        failure.isLate = true
        return failure
    }

    /// One that asks for very much, or for what another transaction has.
    @Test(.timeLimit(.minutes(5))) func whatIsLateOrContendedIsTheRequests() async throws {
        var contended = StorageFailure(.unavailable, "55P03: a lock was not to be had")
        contended.isContended = true
        for failure in [Self.late, contended] {
            storage.isSlow.withLock { $0 = true }
            storage.refusal.withLock { $0 = failure }
            #expect(try await store() == 503)
            #expect(isUp)
            storage.refusal.withLock { $0 = nil }
            storage.isSlow.withLock { $0 = false }
            await service.settle()
            #expect(isUp)
        }
        #expect(events.all.isEmpty)
        #expect(service.metrics.text.contains("\nbandferry_ingest_storage_failures_total 2\n"))
        // Each had the storage looked at.
        #expect(storage.probes.withLock { $0 } == 2)
    }

    /// Where everything is late, it is the storage that fails, though nobody asks for its health.
    @Test func aLookThatIsLateTooSaysThatTheStorageFails() async throws {
        storage.refusal.withLock { $0 = Self.late }
        #expect(try await store() == 503)
        await service.settle()
        #expect(!isUp)
        #expect(events.all == [.storageFailing(Self.late)])
        storage.refusal.withLock { $0 = nil }
        #expect(try await store() == 200)
        await service.settle()
        #expect(isUp)
    }

    @Test(.timeLimit(.minutes(5))) func aListOfDevicesHoldsUpNoGapsOfItsAccount() async throws {
        let gate = Gate()
        storage.listGate.withLock { $0 = gate }
        async let list = read()
        await gate.somebodyWaits()
        #expect(try await ask("GET", "/v1/devices/d/gaps", [String]()) == 404)
        #expect(try await ask("GET", "/v1/devices/d/ranges", [String]()) == 404)
        gate.open()
        #expect(try await list == 200)
    }

    @Test func aLookThatFindsDamageSaysThatTheStorageFails() async throws {
        storage.refusal.withLock { $0 = StorageFailure(.damaged, "the file") }
        #expect(try await look() == 503)
        #expect(!isUp)
    }

    @Test func failuresOfAKindAreToldOnceAMinute() {
        var summary = FailureSummary()
        let begin = ContinuousClock.now
        #expect(summary.note(.damaged, now: begin) == 1)
        #expect(summary.note(.defect, now: begin + .seconds(1)) == 1)
        #expect(summary.note(.damaged, now: begin + .seconds(59)) == nil)
        #expect(summary.note(.damaged, now: begin + .seconds(60)) == 2)
    }

    @Test func aLookHealsItToo() async throws {
        storage.isFull.withLock { $0 = true }
        #expect(try await look() == 503)
        storage.isFull.withLock { $0 = false }
        #expect(try await look() == 200)
        #expect(isUp)
    }
}

/// On a disk that is full at times: what is read, and a small write, find room all the same.
final class FillingStorage: IngestStorage {
    static let full = StorageFailure(.unavailable, "full")

    let isFull = Guarded(false)
    /// It can't be closed.
    let isStuck = Guarded(false)
    let probes = Guarded(0)
    /// A probe lasts until it is not.
    let isSlow = Guarded(false)
    /// Where lists of devices wait.
    let listGate = Guarded(Gate?.none)
    /// What it answers to all that needs room.
    let refusal = Guarded(StorageFailure?.none)

    private func needRoom() throws(StorageFailure) {
        if let refusal = refusal.withLock({ $0 }) { throw refusal }
        if isFull.withLock({ $0 }) { throw Self.full }
    }

    func store(_ batch: ReceivedBatch, account: String) throws(StorageFailure) -> BatchAnswer {
        try needRoom()
        return BatchAnswer(syncID: batch.syncID, accepted: batch.samples.count)
    }

    func probe() async throws(StorageFailure) {
        probes.withLock { $0 += 1 }
        while isSlow.withLock({ $0 }) { await Task.yield() }
        try needRoom()
    }

    func devices(account: String) async -> [DeviceState] {
        await listGate.withLock { $0 }?.wait()
        return []
    }
    func device(_ device: String, account: String) -> DeviceState? { nil }
    func ranges(device: String, account: String) -> [DayRange]? { nil }
    func putGaps(_ gaps: [APIGap], device: String, account: String) -> [APIGap] { gaps }
    func gaps(device: String, account: String) -> [APIGap]? { nil }
    func putReport(_ report: DeviceReport, device: String, account: String) {}
    func requestLease(_ request: LeaseRequest, device: String, account: String) -> LeaseDecision {
        .granted(LeaseAnswer(holder: nil, expiresAt: nil))
    }
    func releaseLease(gateway: String, device: String, account: String) -> LeaseAnswer? { nil }
    func persons(account: String) -> [PersonEntry] { [] }
    func person(_ person: String, account: String) -> PersonRecord? { nil }
    func putPerson(_ record: PersonRecord, person: String, account: String) {}
    func samples(_ query: SampleQuery, account: String) -> SamplesPage? { nil }
    func aggregates(_ query: AggregateQuery, account: String) -> AggregateList? { nil }
    func close() async { if isStuck.withLock({ $0 }) { await DatabaseStorage.Rests.untilCancelled() } }
}
