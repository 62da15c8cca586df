import HTTPClient
import IngestAPI
import Testing

/// What a server, or whoever answers in its place, may do to every batch for an hour; and what that must come to.
struct ServerScenario: Sendable, CustomTestStringConvertible {
    var name: String
    /// Of status and log while it lasts; nil = none.
    var problem: String?
    /// Ingest API 1's word for it.
    var code: String?
    /// Requests in the first hour, at most.
    var requests: Int
    /// A request never follows another sooner.
    var pause = Duration.zero
    /// Samples that were set aside for good when it is over.
    var quarantined = 0
    /// Samples that only wait for consent.
    var held = 0
    /// Samples that are confirmed while it lasts.
    var confirmed = 0
    /// Of one request, in real time: short where nothing else ends one.
    var deadline = Duration.seconds(30)
    var reply: SocketRun.Script

    var testDescription: String { name }

    /// Doubling from 1 s to 900 s with jitter is some 20 tries in an hour.
    static let backedOff = 22

    static func always(_ response: HTTPResponse) -> SocketRun.Script { { _, _ in .proper(response) } }

    static func error(_ code: APIErrorCode, _ headers: [HTTPHeader] = []) -> HTTPResponse {
        var response = ModelServer.error(APIFailure(code, "why"))
        response.headers += headers
        return response
    }

    static func html(_ status: Int, _ headers: [HTTPHeader] = []) -> HTTPResponse {
        HTTPResponse(
            status: status, headers: headers + [HTTPHeader("Content-Type", "text/html")],
            body: Array("<html><body>Please log in</body></html>".utf8))
    }

    /// Everything but batches is answered as the contract says.
    static func batches(_ reply: @escaping SocketRun.Script) -> SocketRun.Script {
        { request, model in
            request.method == .post ? reply(request, model) : .proper(model.answer(request))
        }
    }

    /// The proper answer to a batch with a change; the samples are thrown away when `stores` is false.
    static func answer(
        stores: Bool = false, _ change: @escaping @Sendable (inout BatchAnswer) -> Void
    ) -> SocketRun.Script {
        batches { request, model in
            let judge = stores ? model : ModelServer()
            guard var answer = try? BatchAnswer.decoded(judge.answer(request)) else { return .hangUp }
            change(&answer)
            return .proper(HTTPResponse(status: 200, body: (try? APIJSON.encode(answer)) ?? []))
        }
    }
}

extension ServerScenario {
    static let all: [ServerScenario] = refusals + outages + strangers + lies + takenInPart

    /// The rows of the API's table.
    static let refusals = [
        ServerScenario(
            name: "400 for everything", problem: "server_refuses", code: "malformed", requests: 40,
            quarantined: 3, reply: batches(always(error(.malformed)))),
        ServerScenario(
            name: "413 for everything", problem: "server_refuses", code: "batch_too_large", requests: 40,
            quarantined: 3, reply: batches(always(error(.batchTooLarge)))),
        ServerScenario(
            name: "401", problem: "authentication_failed", code: "authentication_failed", requests: 2,
            reply: always(error(.authenticationFailed))),
        ServerScenario(
            name: "403", problem: "forbidden", code: "forbidden", requests: 2,
            reply: always(error(.forbidden))),
        ServerScenario(
            name: "415 also without gzip", problem: "unsupported_encoding", code: "unsupported_encoding",
            requests: backedOff + 2, reply: batches(always(error(.unsupportedEncoding)))),
        ServerScenario(
            name: "429 with seconds", problem: "rate_limited", code: "rate_limited", requests: 20,
            pause: .seconds(200),
            reply: always(error(.rateLimited, [HTTPHeader("Retry-After", "200")]))),
        ServerScenario(
            name: "429 with a date", problem: "rate_limited", code: "rate_limited", requests: 20,
            pause: .seconds(200),
            reply: always(
                error(
                    .rateLimited,
                    [
                        // Not this host's clock: the pause is between the two dates of the answer.
                        HTTPHeader("Date", "Fri, 01 Jan 2021 00:00:00 GMT"),
                        HTTPHeader("Retry-After", "Fri, 01 Jan 2021 00:03:20 GMT"),
                    ]))),
        ServerScenario(
            name: "429 without a time", problem: "rate_limited", code: "rate_limited", requests: backedOff,
            reply: always(error(.rateLimited))),
    ]

    static let outages = [
        ServerScenario(
            name: "500", problem: "server_error", code: "server_error", requests: backedOff,
            reply: always(error(.serverError))),
        ServerScenario(
            name: "503 with Retry-After", problem: "server_error", code: "server_error", requests: 6,
            pause: .seconds(700),
            reply: always(HTTPResponse(status: 503, headers: [HTTPHeader("Retry-After", "700")]))),
        ServerScenario(
            name: "502 of a proxy", problem: "server_error", code: "server_error", requests: backedOff,
            reply: always(html(502))),
        ServerScenario(
            name: "hang", problem: "network_timeout", code: "network_timeout", requests: backedOff,
            deadline: .milliseconds(200), reply: { _, _ in .hang }),
        ServerScenario(
            name: "hang in batches only", problem: "network_timeout", code: "network_timeout",
            requests: backedOff + 2, deadline: .milliseconds(200), reply: batches { _, _ in .hang }),
        ServerScenario(
            name: "closed without a byte", problem: "network_timeout", code: "network_timeout",
            requests: 2 * backedOff, reply: { _, _ in .hangUp }),
        ServerScenario(
            name: "cut body", problem: "network_timeout", code: "network_timeout", requests: backedOff,
            reply: { _, _ in .bytes("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"sync_id\":") }),
        ServerScenario(
            name: "stored, and the body cut", problem: "network_timeout", code: "network_timeout",
            requests: backedOff + 2,
            reply: batches { request, model in
                _ = model.answer(request)
                return .bytes("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"sync_id\":")
            }),
        ServerScenario(
            name: "slow trickle", problem: "network_timeout", code: "network_timeout", requests: backedOff,
            deadline: .milliseconds(200),
            reply: { _, _ in
                .trickle("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{\"ok\": 1}", pause: 0.02)
            }),
    ]

    /// Somebody answers who is not the server.
    static let strangers = [
        ServerScenario(
            name: "HTML with 200", problem: "not_this_api", code: "not_this_api", requests: backedOff,
            reply: always(html(200))),
        ServerScenario(
            name: "511", problem: "captive_portal", code: "not_this_api", requests: backedOff,
            reply: always(html(511))),
        ServerScenario(
            name: "empty 200", problem: "not_this_api", code: "not_this_api", requests: backedOff,
            reply: always(HTTPResponse(status: 200))),
        ServerScenario(
            name: "400 of a proxy", problem: "not_this_api", code: "not_this_api", requests: backedOff,
            reply: always(html(400))),
        ServerScenario(
            name: "413 of a proxy", problem: "not_this_api", code: "not_this_api", requests: backedOff,
            reply: always(html(413))),
        ServerScenario(
            name: "401 of a portal", problem: "not_this_api", code: "not_this_api", requests: backedOff,
            reply: always(html(401))),
        ServerScenario(
            name: "not HTTP", problem: "not_this_api", code: "not_this_api", requests: backedOff,
            reply: { _, _ in .bytes("SSH-2.0-OpenSSH_9.6\r\n") }),
        ServerScenario(
            name: "an answer without end", problem: "not_this_api", code: "not_this_api", requests: backedOff,
            reply: { _, _ in .bytes("HTTP/1.1 200 OK\r\n\r\n" + String(repeating: "x", count: 2 << 20)) }),
    ]

    /// Success without storing.
    static let lies = [
        ServerScenario(
            name: "counts that do not sum up", problem: "answer_inconsistent", code: "not_this_api",
            requests: backedOff + 2, reply: answer { $0.accepted -= 1 }),
        ServerScenario(
            name: "ack_seq below", problem: "nothing_confirmed", code: "not_this_api",
            requests: backedOff + 2,
            reply: answer { $0.ackSeq = $0.ackSeq.mapValues { _ in 0 } }),
        ServerScenario(
            name: "no ack_seq", problem: "nothing_confirmed", code: "not_this_api", requests: backedOff + 2,
            reply: answer { $0.ackSeq = [:] }),
        ServerScenario(
            name: "another sync_id", problem: "answer_inconsistent", code: "not_this_api",
            requests: backedOff + 2,
            reply: answer { $0.syncID = "00000000-0000-4000-8000-000000000000" }),
        ServerScenario(
            name: "an empty object", problem: "not_this_api", code: "not_this_api", requests: backedOff + 2,
            reply: batches(always(HTTPResponse(status: 200, body: Array("{}".utf8))))),
        ServerScenario(
            name: "204", problem: "not_this_api", code: "not_this_api", requests: backedOff + 2,
            reply: batches(always(HTTPResponse(status: 204)))),
    ]

    /// Nothing is wrong with these.
    static let takenInPart = [
        ServerScenario(
            name: "all duplicates", requests: 8, confirmed: 600,
            reply: batches { request, model in
                // As after an answer that was lost.
                _ = model.answer(request)
                return .proper(model.answer(request))
            }),
        ServerScenario(
            name: "every sample rejected", requests: 8, quarantined: 600,
            reply: { request, model in
                model.set(rejection: { _ in .badTime })
                defer { model.set(rejection: nil) }
                return .proper(model.answer(request))
            }),
        ServerScenario(
            name: "consent missing for everything", requests: 12, held: 600,
            reply: { request, model in
                model.set(rejection: { _ in .consentMissing })
                defer { model.set(rejection: nil) }
                return .proper(model.answer(request))
            }),
        ServerScenario(
            name: "415 for gzip", requests: 10, confirmed: 600,
            reply: batches { request, model in
                let isPacked = request.headers.contains { $0.name == "Content-Encoding" }
                return .proper(isPacked ? error(.unsupportedEncoding) : model.answer(request))
            }),
        ServerScenario(
            name: "400 for a gap and a status", problem: "report_refused", requests: 12, confirmed: 600,
            reply: { request, model in
                .proper(request.method == .put ? error(.malformed) : model.answer(request))
            }),
    ]
}
