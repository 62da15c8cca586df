import HTTPServer
import IngestAPI
import IngestStore
import Locking
import ZoneDatabase

/// Answers the requests of ingest API 1 from a storage.
public final class IngestService: Sendable {
    private let storage: any IngestStorage
    private let authenticator: Authenticator
    /// By token; nil = no bound.
    private let rates: Guarded<RateLimits<[UInt8]>>?
    private let refusals = Guarded(RefusalSummary())
    private let failures = Guarded(FailureSummary())
    private let zones: ZoneDatabase
    private let dashboard: StaticFiles
    let longAnswers = LongAnswers()
    private let report: @Sendable (ServiceEvent) -> Void
    let metrics = Metrics()
    /// The look at the storage that a request brings about, which was late or found it working again: one at a time, beside
    /// requests.
    private let look = Guarded(Look())
    private let lookInterval: Duration

    /// For longer than a proof of room that failed answers for the next: each look finds something new.
    public static let lookInterval = Duration.seconds(2)

    private struct Look {
        var task: Task<Void, Never>?
        var isRunning = false
        var next = ContinuousClock.now
    }

    /// `tokens` are those of a file, `tokenStorage` has others; `requestsPerMinute` bounds each token, nil = no
    /// bound. `isBehindProxy`: clients are told apart by `X-Forwarded-For`. `lookInterval`: from one look at the
    /// storage to the next, where requests bring them about.
    public init(
        storage: any IngestStorage, tokens: TokenTable = TokenTable(),
        tokenStorage: (any TokenStorage)? = nil, requestsPerMinute: Int? = nil, isBehindProxy: Bool = false,
        zones: ZoneDatabase = ZoneDatabase(), dashboard: StaticFiles = .none,
        lookInterval: Duration = IngestService.lookInterval,
        report: @escaping @Sendable (ServiceEvent) -> Void = { _ in }
    ) {
        self.storage = storage
        authenticator = Authenticator(file: tokens, storage: tokenStorage, isBehindProxy: isBehindProxy)
        rates = requestsPerMinute.map { Guarded(RateLimits(requestsPerMinute: $0)) }
        self.zones = zones
        self.dashboard = dashboard
        self.lookInterval = lookInterval
        self.report = report
    }

    /// The token file has changed.
    public func replace(tokens: TokenTable) { authenticator.replace(file: tokens) }

    /// Judges a request by its head, so that the body of one whom nobody knows is never kept.
    public func admit(_ head: ServerRequest) -> Admission {
        if page(head) != nil { return .admittedWithoutBody }
        if let route = try? Route(method: head.method, path: head.path), route.isPublic {
            return .admittedWithoutBody
        }
        switch authenticator.judge(head) {
        case .known: return .admitted
        case .refused(let failure): return .refused(unauthenticated(failure))
        case .unknown:
            return .pending {
                do throws(AuthenticationFailure) {
                    _ = try await self.authenticator.caller(head)
                    return nil
                } catch {
                    return self.unauthenticated(error)
                }
            }
        }
    }

    /// What a browser gets. Where a page would be, a word about tokens would only puzzle.
    private func page(_ request: ServerRequest) -> ServerResponse? {
        if let page = dashboard.response(to: request) { return page }
        guard request.path == [""], request.method == "GET" || request.method == "HEAD" else { return nil }
        return Answer.failure(APIFailure(.notFound, "this server has no page"))
    }

    private func unauthenticated(_ failure: AuthenticationFailure) -> ServerResponse {
        let answer = self.answer(failure)
        metrics.count(route: "unauthenticated", status: answer.status)
        return answer
    }

    private func answer(_ failure: AuthenticationFailure) -> ServerResponse {
        switch failure {
        case .denied:
            noteRefusal()
            return Answer.failure(APIFailure(.authenticationFailed, "the token is missing or not known"))
        case .limited(let seconds):
            noteRefusal()
            return Answer.failure(
                APIFailure(.rateLimited, "too many wrong tokens come from this address"),
                retryAfterSeconds: seconds)
        case .overloaded:
            return Answer.failure(
                APIFailure(.serverError, "too many requests wait for the storage"), retryAfterSeconds: 1)
        case .storage(let failure):
            note(failure)
            return Answer.failure(failure)
        }
    }

    private func noteRefusal() {
        guard let count = refusals.withLock({ $0.note(now: .now) }) else { return }
        report(.authenticationFailures(count))
    }

    /// A request could not be served. Of most failures it is the request's: its device, or too many others before it.
    private func note(_ failure: StorageFailure) {
        switch failure.kind {
        // It asked for too much, or for what another has: the next one may do. Whether the storage fails, a look says.
        case .unavailable where failure.isLate || failure.isContended:
            metrics.countStorageFailure()
            lookAtStorage()
        case .unavailable, .incompatible: isFailing(failure)
        case .overloaded: metrics.countStorageFailure()
        // What is asked for is too much; who asked is told.
        case .full: break
        case .damaged, .defect:
            metrics.countStorageFailure()
            if let count = failures.withLock({ $0.note(failure.kind, now: .now) }) {
                report(.requestsFailing(failure, count: count))
            }
        }
    }

    private func isFailing(_ failure: StorageFailure) {
        metrics.countStorageFailure()
        noteDown(failure)
    }

    private func noteDown(_ failure: StorageFailure) {
        if metrics.storage(up: false) { report(.storageFailing(failure)) }
    }

    /// The answer to a request that did not reach `handle`.
    public func refuse(_ refusal: HTTPRefusal) -> ServerResponse {
        metrics.count(route: "refused", status: refusal.status)
        return Answer.refusal(refusal)
    }

    public func handle(_ request: ServerRequest) async -> ServerResponse {
        if let page = page(request) {
            metrics.count(route: "dashboard", status: page.status)
            return page
        }
        var label = "unknown"
        let response: ServerResponse
        do {
            response = try await answer(request, label: &label)
        } catch let failure as APIFailure {
            var answer = Answer.failure(failure)
            if failure.code == .methodNotAllowed, let choices = try? Route.choices(request.path) {
                answer.headers.append(HTTPField("Allow", choices.keys.sorted().joined(separator: ", ")))
            }
            response = answer
        } catch let failure as AuthenticationFailure {
            response = self.answer(failure)
        } catch is LongAnswers.Overload {
            response = Answer.overload
        } catch let failure as StorageFailure {
            note(failure)
            response = Answer.failure(failure)
        } catch {
            response = Answer.failure(StorageFailure(.defect, "unexpected"))
        }
        metrics.count(route: label, status: response.status)
        return response
    }

    private func answer(_ request: ServerRequest, label: inout String) async throws -> ServerResponse {
        let route = Result { () throws(APIFailure) in try Route(method: request.method, path: request.path) }
        if case .success(let known) = route {
            label = known.label
            if known.isPublic { return try await answer(public: known) }
        }
        // Who may not ask is not told what there is.
        let caller = try await authenticator.caller(request)
        let known = try route.get()
        guard caller.identity.role == .gateway || !known.needsGatewayRole else {
            throw APIFailure(.forbidden, "the token may only read")
        }
        if let seconds = wait(caller) {
            return Answer.failure(APIFailure(.rateLimited, "too many requests"), retryAfterSeconds: seconds)
        }
        var response = try await answer(known, request, account: caller.identity.account)
        if known.needsGatewayRole {
            wasStored()
            response.isOwed = true
        }
        return response
    }

    private func answer(public route: Route) async throws -> ServerResponse {
        guard route == .health else { return Answer.text(metrics.text, contentType: Metrics.contentType) }
        do throws(StorageFailure) {
            try await probe()
        } catch {
            // What is asked here is the storage as a whole.
            if error.kind == .overloaded { metrics.countStorageFailure() } else { isFailing(error) }
            return Answer.failure(error)
        }
        return Answer.text("ok")
    }

    private func probe() async throws(StorageFailure) {
        try await storage.probe()
        if metrics.storage(up: true) { report(.storageHealed) }
    }

    /// A write came through. On a full disk reads do, and small writes do too, so that what says that the storage works
    /// again is a probe: only while it is thought to fail, and not for each write, as it writes much. Nobody waits for it.
    private func wasStored() { if !metrics.isStorageUp { lookAtStorage() } }

    private func lookAtStorage() {
        look.withLock { look in
            guard !look.isRunning, .now >= look.next else { return }
            look.isRunning = true
            look.next = .now + lookInterval
            look.task = Task {
                do throws(StorageFailure) {
                    try await self.probe()
                } catch {
                    if error.kind != .overloaded { self.noteDown(error) }
                }
                self.look.withLock { $0.isRunning = false }
            }
        }
    }

    /// Returns when nothing goes on beside requests. Call it once they have ended, before the storage is closed.
    func settle() async { await look.withLock { $0.task }?.value }

    private func wait(_ caller: Caller) -> Int? {
        rates?.withLock { $0.take(caller.token, now: .now) }
    }

    private func answer(_ route: Route, _ request: ServerRequest, account: String) async throws
        -> ServerResponse
    {
        switch route {
        case .health, .metrics:
            return try await answer(public: route)
        case .storeBatch:
            return try await storeBatch(request, account: account)
        case .devices:
            return try await longAnswers.list("devices", account: account) {
                try await fitting { try await storage.devices(account: account) }
            }
        case .device(let device):
            let state = try known(await storage.device(device, account: account))
            // How long it is shows only now; few devices have many rings.
            return try await longAnswers.page(
                atMost: state.rings.count, account: account, rows: \.rings.count
            ) { state }
        case .ranges(let device):
            guard try request.single("by") ?? "day" == "day" else {
                throw APIFailure.malformed("by is not day")
            }
            return try await longAnswers.ledger("ranges", account: account) {
                try await fitting { try known(await storage.ranges(device: device, account: account)) }
            }
        case .gaps(let device):
            return try await longAnswers.ledger("gaps", account: account) {
                try known(await storage.gaps(device: device, account: account))
            }
        case .putGaps(let device):
            let list = try APIJSON.decode(GapList.self, from: request.decodedBody())
            if let fault = list.fault { throw fault }
            return try await longAnswers.stored(rows: list.gaps.count, account: account) {
                try await fitting {
                    GapList(gaps: try await storage.putGaps(list.gaps, device: device, account: account))
                }
            }
        case .putStatus(let device):
            let report = try APIJSON.decode(DeviceReport.self, from: request.decodedBody())
            if let fault = report.fault { throw fault }
            try await storage.putReport(report, device: device, account: account)
            return Answer.json(report)
        case .requestLease(let device):
            let lease = try APIJSON.decode(LeaseRequest.self, from: request.decodedBody())
            if let fault = lease.fault { throw fault }
            switch try await storage.requestLease(lease, device: device, account: account) {
            case .granted(let answer): return Answer.json(answer)
            case .held(let answer): return Answer.leaseHeld(answer)
            }
        case .releaseLease(let device):
            guard let gateway = try request.single("gateway_id"), IngestAPI.isOpaqueID(gateway) else {
                throw APIFailure.malformed("gateway_id is missing or not an id")
            }
            return Answer.json(
                try known(await storage.releaseLease(gateway: gateway, device: device, account: account)))
        case .persons:
            return try await longAnswers.list("persons", account: account) {
                try await fitting { try await storage.persons(account: account) }
            }
        case .person(let person):
            guard let record = try await storage.person(person, account: account) else {
                throw APIFailure(.notFound, "nothing was put for this person")
            }
            return Answer.json(record)
        case .putPerson(let person):
            let record = try APIJSON.decode(PersonRecord.self, from: request.decodedBody())
            if let fault = record.fault { throw fault }
            return try await longAnswers.stored(rows: record.zones.count, account: account) {
                try await storage.putPerson(record, person: person, account: account)
                return record
            }
        case .samples:
            let query = try request.sampleQuery()
            return try await longAnswers.page(
                atMost: query.limit, account: account, rows: \.samples.count
            ) { try known(await storage.samples(query, account: account)) }
        case .aggregates:
            let query = try request.aggregateQuery(zones: zones)
            return try await longAnswers.page(
                atMost: query.mostBuckets, account: account, rows: \.buckets.count
            ) { try known(await storage.aggregates(query, account: account)) }
        }
    }

    /// What a device or an answer has no room for is refused with 413: whoever asks goes on with the rest. A batch is not:
    /// gateways set aside what is too large.
    private func fitting<Value>(_ ask: () async throws -> Value) async throws -> Value {
        do {
            return try await ask()
        } catch let failure as StorageFailure where failure.kind == .full {
            throw APIFailure.batchTooLarge(failure.message)
        }
    }

    private func known<Value>(_ value: Value?) throws -> Value {
        guard let value else { throw APIFailure(.unknownDevice, "the device is not known") }
        return value
    }

    private func storeBatch(_ request: ServerRequest, account: String) async throws -> ServerResponse {
        let batch = try ReceivedBatch(decoding: request.decodedBody())
        let begin = ContinuousClock.now
        let answer = try await storage.store(batch, account: account)
        metrics.count(answer, took: .now - begin)
        return Answer.json(answer)
    }
}

/// What an operator should know, said once for each change.
public enum ServiceEvent: Sendable, Equatable {
    case storageFailing(StorageFailure)
    case storageHealed
    /// So many requests found damage in what they asked for, or a defect, since this was last said; at most once a minute
    /// for each kind. The storage serves the others.
    case requestsFailing(StorageFailure, count: Int)
    /// So many requests had a wrong token, or none, since this was last said; at most once a minute.
    case authenticationFailures(Int)
    case dashboard(DashboardNote)
    /// While it starts.
    case preparing(StoragePreparation)
}
