import Compression
import GatewayModel
import HTTPClient
import IngestAPI
import UploadDecisions

/// The requests of ingest API 1 that a gateway makes, as outcomes for the decisions to judge.
struct UploadServer {
    /// An answer has at most 500 rejections of a line each.
    private static let answerLimit = 1 << 20

    let url: String
    let transport: any UploadTransport
    let deadlines: HTTPDeadlines
    let date: ServerDate
    let notes = RequestNotes()

    /// `body` is a whole batch as JSON.
    func postBatch(_ body: [UInt8], compressed: Bool, token: String) -> AttemptOutcome {
        guard compressed else { return send(.post, "/v1/samples:batch", body, token: token) }
        guard let packed = try? Gzip.compress(body) else { return .unanswered(.unsendable) }
        return send(
            .post, "/v1/samples:batch", packed, [HTTPHeader("Content-Encoding", "gzip")], token: token)
    }

    func deviceState(_ device: DeviceID, token: String, within deadline: Duration? = nil) -> AttemptOutcome {
        send(.get, "/v1/devices/\(device.text)", [], token: token, within: deadline)
    }

    func putGaps(_ gaps: [APIGap], of device: DeviceID, token: String) -> AttemptOutcome {
        put("gaps", GapList(gaps: gaps), of: device, token: token)
    }

    func putStatus(_ report: DeviceReport, of device: DeviceID, token: String) -> AttemptOutcome {
        put("status", report, of: device, token: token)
    }

    /// One page of what the server has of a device. A page of 1,000 samples with long ids is some 500 kB.
    func samples(of device: DeviceID, _ window: ComparisonPlan.Window, cursor: String?, token: String)
        -> AttemptOutcome
    {
        var path =
            "/v1/samples?device_id=\(device.text)&from=\(PercentEncoding.encode(window.from.description))"
        path += "&to=\(PercentEncoding.encode(window.to.description))&limit=\(IngestAPI.maxSamplesPerPage)"
        if let cursor { path += "&cursor=\(PercentEncoding.encode(cursor))" }
        return send(.get, path, [], token: token, answerLimit: 4 << 20)
    }

    /// Some 100 bytes for each day and type.
    func ranges(of device: DeviceID, token: String) -> AttemptOutcome {
        send(.get, "/v1/devices/\(device.text)/ranges?by=day", [], token: token, answerLimit: 4 << 20)
    }

    func person(_ id: PersonID, token: String) -> AttemptOutcome {
        send(.get, "/v1/persons/\(PercentEncoding.encode(id.text))", [], token: token)
    }

    func putPerson(_ record: PersonRecord, _ id: PersonID, token: String) -> AttemptOutcome {
        guard let body = try? APIJSON.encode(record) else { return .unanswered(.unsendable) }
        return send(.put, "/v1/persons/\(PercentEncoding.encode(id.text))", body, token: token)
    }

    func put(
        _ what: String, _ value: some Encodable, of device: DeviceID, token: String,
        within deadline: Duration? = nil
    ) -> AttemptOutcome {
        guard let body = try? APIJSON.encode(value) else { return .unanswered(.unsendable) }
        return send(.put, "/v1/devices/\(device.text)/\(what)", body, token: token, within: deadline)
    }

    func send(
        _ method: HTTPRequest.Method, _ path: String, _ body: [UInt8], _ headers: [HTTPHeader] = [],
        token: String,
        within deadline: Duration? = nil, answerLimit: Int = Self.answerLimit
    ) -> AttemptOutcome {
        var request = HTTPRequest(
            method, url + path, headers: headers, body: body, answerLimit: answerLimit,
            deadlines: deadlines)
        if let deadline {
            request.deadlines.total = min(deadline, deadlines.total)
            request.deadlines.connect = min(deadline, deadlines.connect)
        }
        request.headers.append(HTTPHeader("Authorization", "Bearer \(token)"))
        request.headers.append(HTTPHeader("Accept", IngestAPI.jsonContentType))
        if !body.isEmpty { request.headers.append(HTTPHeader("Content-Type", IngestAPI.jsonContentType)) }
        do {
            let sent = date.now
            let response = try transport.perform(request)
            notes.count(sent: body.count, received: response.body.count)
            date.heard(response, sent: sent)
            return .answered(
                .init(
                    status: response.status, body: response.body, retryAfter: response.header("Retry-After"),
                    date: response.header("Date")))
        } catch {
            notes.failed(error, sent: body.count)
            return .unanswered(NoAnswer(error.code))
        }
    }
}

extension NoAnswer {
    init(_ code: HTTPFailure.Code) {
        switch code {
        case .cannotResolve: self = .cannotResolve
        case .cannotConnect: self = .cannotConnect
        case .timedOut: self = .timedOut
        case .clock: self = .certificateTime
        case .tls: self = .tls
        case .clientCertificate: self = .clientCertificate
        case .clientKeyUnusable: self = .clientKeyUnusable
        case .proxyCredentialsUnusable: self = .proxyCredentialsUnusable
        case .proxyUnreachable: self = .proxyUnreachable
        case .proxyAuthentication: self = .proxyAuthentication
        case .proxyRefused: self = .proxyRefused
        case .connectionLost: self = .connectionLost
        case .notHTTP: self = .notHTTP
        case .answerTooLarge: self = .answerTooLarge
        case .aborted: self = .aborted
        case .badRequest, .outOfMemory, .other: self = .unsendable
        }
    }
}

extension APIGap {
    init(_ gap: Gap) {
        self.init(
            ring: gap.ring.description, firstSeq: gap.firstSeq, lastSeq: gap.lastSeq,
            after: gap.after.map { APITime($0) }, before: gap.before.map { APITime($0) },
            cause: APIGapCause(gap.cause), healedAt: gap.healedAt.map { APITime($0) })
    }
}

extension APIGapCause {
    init(_ cause: GapCause) {
        switch cause {
        case .overwritten: self = .overwritten
        case .freedElsewhere: self = .freedElsewhere
        case .reformatted: self = .reformatted
        case .storageLost: self = .storageLost
        case .lostByBand: self = .lostByBand
        case .unreadable: self = .unreadable
        }
    }
}

extension APITime {
    init(_ time: Timestamp) { self.init(milliseconds: time.milliseconds) }
}
