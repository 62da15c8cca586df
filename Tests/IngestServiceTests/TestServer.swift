import Compression
import Foundation
import HTTPClient
import HTTPServer
import IngestAPI
import Locking
import Testing

@testable import IngestService
@testable import IngestStore

/// A server on loopback with a store in a directory of its own.
final class TestServer: Sendable {
    let directory: TemporaryDirectory
    let server: IngestServer
    let storage: DatabaseStorage
    let clock: TestClock
    let events: EventLog

    var storePath: String { directory.path + "/ingest.sqlite" }

    /// Tokens: `gateway-a` and `gateway-a2` of account a, `reader-a` of it, `gateway-b` of account b.
    ///
    /// Trends that are touched stay so until a test says `settle()`.
    init(
        directory: TemporaryDirectory = TemporaryDirectory(), requestsPerMinute: Int? = nil,
        engine: (any SQLEngine)? = nil, rests: DatabaseStorage.Rests = .untilClosed
    ) async throws {
        self.directory = directory
        let clock = TestClock()
        let events = EventLog()
        self.clock = clock
        self.events = events
        storage = try await DatabaseStorage(
            engine ?? TestEngine.make(directory), now: { clock.now }, rests: rests,
            limits: .untilTheTestEnds)
        let tokens = TokenTable([
            "gateway-a": Identity(account: "a"), "gateway-a2": Identity(account: "a"),
            "reader-a": Identity(account: "a", role: .read), "gateway-b": Identity(account: "b"),
        ])
        let service = IngestService(
            storage: storage, tokens: tokens, requestsPerMinute: requestsPerMinute, report: { events.add($0) }
        )
        server = try IngestServer(service: service, storage: storage)
    }

    /// Runs `body` against a fresh server and stops it.
    static func run(
        requestsPerMinute: Int? = nil, _ body: (TestServer) async throws -> Void
    ) async throws {
        let server = try await TestServer(requestsPerMinute: requestsPerMinute)
        do {
            try await body(server)
        } catch {
            await server.server.stop(within: .seconds(60))
            throw error
        }
        await server.server.stop(within: .seconds(60))
    }

    func client(_ token: String? = "gateway-a") -> TestClient { TestClient(server.url, token: token) }
}

extension TimeLimits {
    /// A machine that is busy is no subject of most tests.
    static let untilTheTestEnds = Self(begin: .seconds(3600), end: .seconds(7200), proof: .zero)
}

/// What the service reported, in order.
final class EventLog: Sendable {
    private let list = Guarded([ServiceEvent]())
    func add(_ event: ServiceEvent) { list.withLock { $0.append(event) } }
    var all: [ServiceEvent] { list.withLock { $0 } }
}

/// A wall clock that moves only when told to.
final class TestClock: Sendable {
    private let milliseconds = Guarded(Int64(1_793_080_000_000))
    var now: APITime { APITime(milliseconds: milliseconds.withLock { $0 }) }
    func advance(seconds: Int64) { milliseconds.withLock { $0 += seconds * 1000 } }
}

/// Removed with everything in it when nobody holds it any more.
final class TemporaryDirectory: Sendable {
    let path: String

    init() {
        path = FileManager.default.temporaryDirectory.path + "/ingest-\(UUID().uuidString)"
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

struct Reply: Sendable {
    var status: Int
    var headers: [(name: String, value: String)]
    var body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }
    func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
    func read<Value: Decodable>(_: Value.Type = Value.self) throws -> Value { try APIJSON.decode(from: body) }
    /// The code of an error body; nil when it is none.
    var code: String? { try? APIJSON.decode(ErrorBody.self, from: body).error.code }
}

/// Sends requests over real HTTP, one at a time, on a thread of its own.
final class TestClient: Sendable {
    private let url: String
    private let token: String?
    private let queue = DispatchQueue(label: "test-client")

    init(_ url: String, token: String?) {
        self.url = url
        self.token = token
    }

    func send(
        _ method: HTTPRequest.Method, _ path: String, _ body: [UInt8] = [], headers: [String: String] = [:]
    ) async throws -> Reply {
        var list = headers.map { HTTPHeader($0.key, $0.value) }
        if let token { list.append(HTTPHeader("Authorization", "Bearer \(token)")) }
        let request = HTTPRequest(method, url + path, headers: list, body: body, answerLimit: 16 << 20)
        return try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(
                    with: Result {
                        let response = try HTTPClient().perform(request)
                        return Reply(
                            status: response.status, headers: response.headers.map { ($0.name, $0.value) },
                            body: response.body)
                    })
            }
        }
    }

    func get(_ path: String) async throws -> Reply { try await send(.get, path) }
    func put(_ path: String, _ json: String) async throws -> Reply {
        try await send(.put, path, Array(json.utf8))
    }

    func post(_ batch: SampleBatch, gzip: Bool = true) async throws -> Reply {
        let json = try APIJSON.encode(batch)
        return gzip
            ? try await send(
                .post, "/v1/samples:batch", Gzip.compress(json),
                headers: ["Content-Type": "application/json", "Content-Encoding": "gzip"])
            : try await send(.post, "/v1/samples:batch", json, headers: ["Content-Type": "application/json"])
    }

    func store(_ batch: SampleBatch) async throws -> BatchAnswer { try await post(batch).read() }
}

/// A sample with the fields that a test cares for.
func sample(
    _ seq: UInt32, _ type: APISampleType = .heartRate, value: Int = 70, at seconds: Int64? = nil,
    version: Int = 1,
    bound: Int? = nil, uncertain: Bool = false, person: PersonField = .unchanged, offset: Int? = 330,
    clock: UInt16 = 3, flags: UInt8 = 1, bandTime: Int64? = nil, provenance: APIProvenance = .device
) -> APISample {
    let time = 1_793_079_060_000 + Int64(seq) * 1000
    return APISample(
        type: type, seq: seq, value: type == .sleepStage ? value % 5 : value,
        recordedAt: APITime(milliseconds: seconds.map { $0 * 1000 } ?? time), tzOffsetMinutes: offset,
        version: version, provenance: provenance, bandTimeMilliseconds: bandTime ?? time, clockID: clock,
        flags: flags, timeBoundMilliseconds: bound, timeUncertain: uncertain, person: person)
}

func batch(
    _ samples: [APISample], device: String = "band_F0F1F2F3F4F5", ring: String = "b5e5d00d",
    completeThrough: UInt32? = nil, syncID: String = UUID().uuidString
) -> SampleBatch {
    SampleBatch(
        deviceID: device, ring: ring, syncID: syncID, completeThrough: completeThrough, samples: samples)
}
