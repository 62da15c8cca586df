import BandProfile
import GatewayModel
import IngestAPI
import Locking
import UploadDecisions

/// Single requests that a person's command needs, made by the upload thread between two of its own.
extension Uploader {
    /// Every device that the server knows for this account.
    public func serverDevices() async throws(UploadProblem) -> [DeviceState] {
        try await request { worker, token in
            StatusTable.decideDevices(worker.server.devices(token: token), wallTime: worker.wallTime)
        } ?? []
    }

    /// What is missing of a device, as far as the server was told.
    public func serverGaps(of device: DeviceID) async throws(UploadProblem) -> [Gap] {
        let gaps = try await request { worker, token in
            StatusTable.decideGaps(worker.server.gaps(of: device, token: token), wallTime: worker.wallTime)
        }
        return (gaps ?? []).compactMap { Gap($0) }
    }

    /// Who owns a band now; nil = nobody. The API has no request that only asks: it is asked by giving back the lease of a
    /// gateway that does not exist, which changes nothing whoever holds it.
    public func leaseHolder(of device: DeviceID, gateway: String) async throws(UploadProblem) -> BandLease? {
        let answer = try await request { worker, token in
            StatusTable.decideLease(
                worker.server.deleteLease(of: device, gateway: "nobody-asks-for-" + gateway, token: token),
                isAsked: false, wallTime: worker.wallTime)
        }
        return answer.flatMap { BandLease($0, ours: gateway) }
    }

    /// Asks to own a band. Nil = the server has no leases.
    public func requestLease(of device: DeviceID, gateway: String) async throws(UploadProblem) -> BandLease? {
        let seconds = max(1, Int(settings.intervals.lease / .seconds(1)))
        let answer = try await request { worker, token in
            StatusTable.decideLease(
                worker.server.putLease(
                    LeaseRequest(gatewayID: gateway, ttlSeconds: seconds), of: device, token: token),
                isAsked: true, wallTime: worker.wallTime)
        }
        return answer.flatMap { BandLease($0, ours: gateway) }
    }

    /// Gives back what `requestLease` got.
    public func releaseLease(of device: DeviceID, gateway: String) async throws(UploadProblem) {
        let _: Bool? = try await request { worker, token in
            let outcome = worker.server.deleteLease(of: device, gateway: gateway, token: token)
            return (StatusTable.decideLeaseReturn(outcome, wallTime: worker.wallTime), nil)
        }
    }

    /// Who wore a band on a UTC day since 1970, by rising time; nobody where nobody was named.
    public func wearers(
        of device: DeviceID, on day: Int64
    ) async throws(UploadProblem) -> [(person: PersonID, until: Timestamp)] {
        var last: [PersonID: Timestamp] = [:]
        var cursor: String?
        // A band that records every second fills 87 pages.
        for _ in 0..<100 {
            let page = try await request { [cursor] worker, token in
                StatusTable.decidePage(
                    worker.server.samples(
                        of: device, ComparisonPlan.Window(day: day), cursor: cursor, token: token),
                    wallTime: worker.wallTime)
            }
            for stored in page?.samples ?? [] {
                guard case .assigned(let id) = stored.sample.person, let person = PersonID(id.text) else {
                    continue
                }
                last[person] = Timestamp(milliseconds: stored.sample.recordedAt.milliseconds)
            }
            cursor = page?.nextCursor
            if cursor == nil { break }
        }
        return last.sorted { $0.value < $1.value }.map { (person: $0.key, until: $0.value) }
    }

    /// Nil = the server knows nothing of them.
    public func serverPerson(_ id: PersonID) async throws(UploadProblem) -> PersonRecord? {
        try await request { worker, token in
            StatusTable.decidePerson(worker.server.person(id, token: token), wallTime: worker.wallTime)
        }
    }

    /// The lease of a band is asked for now.
    public func lookAtLeases(of device: DeviceID) {
        _ = mailbox.give { $0?.lookAtLeases(of: device) }
    }

    // MARK: one request

    /// Nil = answered, and there is none.
    private func request<Value: Sendable>(
        _ body:
            @escaping @Sendable (UploadWorker, _ token: String) -> (
                decision: UploadDecision, value: Value?
            )
    ) async throws(UploadProblem) -> Value? {
        let answer = OneShot<Result<Value?, UploadProblem>>()
        let order: Mailbox.Order = { worker in
            answer.set(worker?.request(body) ?? .failure(.noAnswer(.aborted)))
        }
        guard mailbox.give(order) else { throw .noAnswer(.aborted) }
        return try await answer.value(within: .seconds(180), else: .failure(.noAnswer(.timedOut))).get()
    }
}

extension UploadWorker {
    fileprivate func request<Value>(
        _ body: (UploadWorker, _ token: String) -> (decision: UploadDecision, value: Value?)
    ) -> Result<Value?, UploadProblem> {
        guard let token = currentToken() else {
            return .failure(schedule.problem ?? .authenticationFailed)
        }
        guard schedule.mayAsk(now: clock.monotonic) || schedule.waitsForCredentials else {
            return .failure(schedule.problem ?? .rateLimited)
        }
        let (decision, value) = body(self, token)
        _ = takeTraffic()
        switch decision {
        case .taken, .unknownDevice:
            schedule.requestEnded(.taken, device: "", now: clock.monotonic, using: &random)
            return .success(value)
        case .waitForCredentials(let problem): return .failure(problem)
        case .pause:
            schedule.requestEnded(decision, device: "", now: clock.monotonic, using: &random)
            return .failure(.rateLimited)
        case .backOff(let problem, _): return .failure(explained(problem))
        case .passOver(let refusal), .halve(let refusal), .quarantine(let refusal):
            // A server from before there was such a request: both say so.
            let absent = [APIErrorCode.notFound, .methodNotAllowed].map(\.rawValue)
            return absent.contains(refusal.code)
                ? .success(nil) : .failure(.reportRefused(code: refusal.code))
        case .settle, .sendIdentity: return .failure(.encodingRefused)
        case .stop: return .failure(.noAnswer(.aborted))
        }
    }
}

extension Gap {
    /// Nil for names that are none here.
    init?(_ gap: APIGap) {
        guard let ring = RingID(gap.ring), let cause = GapCause(rawValue: gap.cause.rawValue),
            gap.firstSeq <= gap.lastSeq ?? .max
        else { return nil }
        func time(_ time: APITime?) -> Timestamp? { time.map { Timestamp(milliseconds: $0.milliseconds) } }
        self.init(
            ring: ring, firstSeq: gap.firstSeq, lastSeq: gap.lastSeq, after: time(gap.after),
            before: time(gap.before), cause: cause, healedAt: time(gap.healedAt))
    }
}
