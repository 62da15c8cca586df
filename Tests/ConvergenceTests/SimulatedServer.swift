import Dispatch
import Foundation
import HTTPClient
import HTTPServer
import IngestAPI

@testable import IngestService
@testable import IngestStore
@testable import Uplink

/// The real ingest service over its real storage, in process, with a network in front that loses and doubles.
final class SimulatedServer: UploadTransport, @unchecked Sendable {
    enum Fault {
        case none
        case requestLost
        case answerLost
        /// The request arrives twice, the second time at once.
        case doubled
        case unavailable
        /// The server dies after it stored the request and before it answered.
        case killed
    }

    static let token = "secret"

    private var directory: Directory
    private var storage: DatabaseStorage
    private var service: IngestService
    /// Decides what happens to a request; on the upload thread.
    var fault: () -> Fault = { .none }
    /// Batches that arrived, which a network may deliver once more much later.
    private(set) var arrived: [ServerRequest] = []
    private(set) var requests = 0

    init() async throws {
        directory = try Directory()
        storage = try await Self.open(directory)
        service = Self.makeService(storage)
    }

    private static func open(_ directory: Directory) async throws -> DatabaseStorage {
        // Its trends are nothing of this, and nothing is to be written while the files are copied.
        let longRest: @Sendable () async -> Void = { try? await Task.sleep(for: .seconds(86_400)) }
        return try await DatabaseStorage(
            SQLiteEngine(path: directory.path + "/ingest.db"), now: { APITime(milliseconds: 0) },
            rests: DatabaseStorage.Rests(
                trends: { _ in await longRest() }, start: longRest, device: longRest, round: longRest)
        )
    }

    private static func makeService(_ storage: DatabaseStorage) -> IngestService {
        IngestService(storage: storage, tokens: TokenTable([token: Identity(account: "a")]))
    }

    /// What was answered is durable: the files, as they are in the middle of its work, are all that is left.
    func kill() async throws {
        let old = storage
        directory = try directory.copy(["ingest.db", "ingest.db-wal"])
        storage = try await Self.open(directory)
        service = Self.makeService(storage)
        await old.close()
    }

    func close() async { await storage.close() }

    func perform(_ request: HTTPRequest) throws(HTTPFailure) -> HTTPResponse {
        requests += 1
        let request = ServerRequest(request)
        switch fault() {
        case .none: return answer(request)
        case .requestLost: throw HTTPFailure(.timedOut, "lost")
        case .answerLost:
            _ = answer(request)
            throw HTTPFailure(.connectionLost, "lost")
        case .doubled:
            _ = answer(request)
            return answer(request)
        case .unavailable: return HTTPResponse(status: 503)
        case .killed:
            _ = answer(request)
            wait { try? await self.kill() }
            throw HTTPFailure(.connectionLost, "killed")
        }
    }

    /// A batch of long ago arrives again; nobody waits for its answer.
    func replay(_ index: Int) async { _ = await service.handle(arrived[index]) }

    private func answer(_ request: ServerRequest) -> HTTPResponse {
        if request.method == "POST" { arrived.append(request) }
        let response = Locked(ServerResponse?.none)
        wait { [service] in
            let answer = await service.handle(request)
            response.change { $0 = answer }
        }
        guard let answer = response.value else { return HTTPResponse(status: 500) }
        return HTTPResponse(
            status: answer.status, headers: answer.headers.map { HTTPHeader($0.name, $0.value) },
            body: answer.body)
    }

    /// Only on the upload thread, which is none of Swift's.
    private func wait(_ body: @escaping @Sendable () async -> Void) {
        let done = DispatchSemaphore(value: 0)
        Task {
            await body()
            done.signal()
        }
        done.wait()
    }

    /// All that it has of a device.
    func rows(of device: String) async throws -> [RowKey: Row] {
        var rows: [RowKey: Row] = [:]
        var cursor: String?
        repeat {
            var query = [HTTPField("device_id", device)]
            if let cursor { query.append(HTTPField("cursor", cursor)) }
            let answer = await service.handle(
                ServerRequest(
                    method: "GET", path: ["v1", "samples"], query: query,
                    headers: [HTTPField("authorization", "Bearer \(Self.token)")]))
            guard answer.status == 200 else { return rows }
            let page: SamplesPage = try APIJSON.decode(from: answer.body)
            for stored in page.samples {
                let sample = stored.sample
                var person: String?
                if case .assigned(let id) = sample.person { person = id.text }
                rows[RowKey(ring: stored.ring, type: sample.type.rawValue, seq: sample.seq)] = Row(
                    value: sample.value, bandTime: sample.bandTimeMilliseconds, clockID: sample.clockID,
                    flags: sample.flags, recordedAt: sample.recordedAt.milliseconds,
                    bound: sample.timeBoundMilliseconds, isUncertain: sample.timeUncertain,
                    offset: sample.tzOffsetMinutes, person: person, version: sample.version)
            }
            cursor = page.nextCursor
        } while cursor != nil
        return rows
    }
}

extension ServerRequest {
    /// As libmicrohttpd hands a request over.
    init(_ request: HTTPRequest) {
        let target = request.url.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)[2]
        let parts = target.drop { $0 != "/" }.split(separator: "?", maxSplits: 1)
        var query: [HTTPField] = []
        for field in parts.count > 1 ? parts[1].split(separator: "&") : [] {
            let pair = field.split(separator: "=", maxSplits: 1)
            query.append(HTTPField(Self.decoded(pair[0]), pair.count > 1 ? Self.decoded(pair[1]) : ""))
        }
        self.init(
            method: request.method.rawValue, path: parts[0].split(separator: "/").map(Self.decoded),
            query: query,
            headers: request.headers.map { HTTPField($0.name, $0.value) }, body: request.body)
    }

    private static func decoded(_ text: Substring) -> String { String(text).removingPercentEncoding ?? "" }
}
