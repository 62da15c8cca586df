import Foundation
import HTTPClient
import Testing

/// Real sockets. The client blocks, so each exchange runs on a thread of its own.
@Suite struct HTTPClientTests {
    func perform(
        _ request: HTTPRequest, flag: AbortFlag = AbortFlag(),
        options: HTTPClientOptions = HTTPClientOptions()
    ) async -> Result<HTTPResponse, HTTPFailure> {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                do throws(HTTPFailure) {
                    let client = try HTTPClient(abortFlag: flag, options: options)
                    continuation.resume(returning: .success(try client.perform(request)))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
    }

    func code(_ result: Result<HTTPResponse, HTTPFailure>) -> HTTPFailure.Code? {
        if case .failure(let failure) = result { failure.code } else { nil }
    }

    @Test func methodHeadersAndBodyArriveAsGiven() async throws {
        let server = try ScriptedServer { request in
            .proper(HTTPResponse(status: 201, headers: [HTTPHeader("Retry-After", "7")], body: request.body))
        }
        defer { server.stop() }
        for method in [HTTPRequest.Method.get, .post, .put, .delete] {
            let carries = method == .post || method == .put
            let body: [UInt8] = carries ? [0, 1, 255, 13, 10] : []
            let request = HTTPRequest(
                method, server.url + "/a/b?c=d", headers: [HTTPHeader("X-One", "1")], body: body)
            let response = try await perform(request).get()
            #expect(response.status == 201)
            #expect(response.body == body)
            #expect(response.header("retry-after") == "7")
            let seen = try #require(server.requests.last)
            #expect(seen.method == method)
            #expect(seen.url == server.url + "/a/b?c=d")
            #expect(seen.headers.contains(HTTPHeader("X-One", "1")))
            #expect(!seen.headers.contains { $0.name == "Expect" })
        }
        let empty = try await perform(HTTPRequest(.post, server.url)).get()
        #expect(empty.body.isEmpty)
    }

    @Test func whatIsAskedForIsFoundBehindManyOthers() async throws {
        let cookies = (1...200).map { HTTPHeader("Set-Cookie", "c\($0)=v") }
        let server = try ScriptedServer { _ in
            .proper(HTTPResponse(status: 429, headers: cookies + [HTTPHeader("Retry-After", "30")]))
        }
        defer { server.stop() }
        let response = try await perform(HTTPRequest(.get, server.url)).get()
        #expect(response.header("Retry-After") == "30" && response.headers.count <= 66)
    }

    @Test(arguments: ["/v1/persons/%2E%2E", "/v1/persons/..", "/a/./b", "/a%2Fb"])
    func aPathGoesOutAsItIs(_ path: String) async throws {
        let server = try ScriptedServer { _ in .proper(HTTPResponse(status: 200)) }
        defer { server.stop() }
        _ = try await perform(HTTPRequest(.get, server.url + path)).get()
        #expect(server.requests.last?.url == server.url + path)
    }

    @Test func oneClientMakesManyRequests() async throws {
        let server = try ScriptedServer { .proper(HTTPResponse(status: 200, body: $0.body)) }
        defer { server.stop() }
        let url = server.url
        let sizes: [Int] = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let client = try? HTTPClient()
                continuation.resume(
                    returning: (0..<50).compactMap { count in
                        try? client?.perform(
                            HTTPRequest(.post, url, body: [UInt8](repeating: 1, count: count * 1000))
                        ).body.count
                    })
            }
        }
        #expect(sizes == (0..<50).map { $0 * 1000 })
    }

    @Test func aRedirectIsAnAnswerAndTheTokenGoesNowhereElse() async throws {
        let other = try ScriptedServer { _ in .proper(HTTPResponse(status: 200)) }
        defer { other.stop() }
        let location = other.url
        let server = try ScriptedServer { _ in
            .proper(HTTPResponse(status: 307, headers: [HTTPHeader("Location", location)]))
        }
        defer { server.stop() }
        let request = HTTPRequest(.post, server.url, headers: [HTTPHeader("Authorization", "Bearer secret")])
        #expect(try await perform(request).get().status == 307)
        #expect(other.requests.isEmpty)
    }

    static let broken: [(ScriptedServer.Reply, HTTPFailure.Code)] = [
        (.bytes("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"sync_id\""), .connectionLost),
        (.bytes("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel"), .connectionLost),
        (.hangUp, .connectionLost),
        (.bytes("SSH-2.0-OpenSSH_9.6\r\n"), .notHTTP),
        (.bytes("<html>no status line</html>"), .notHTTP),
        (
            .bytes("HTTP/1.1 200 OK\r\nContent-Length: 4097\r\n\r\n" + String(repeating: "x", count: 4097)),
            .answerTooLarge
        ),
        (.bytes("HTTP/1.1 200 OK\r\n\r\n" + String(repeating: "x", count: 100_000)), .answerTooLarge),
        (
            .bytes(
                "HTTP/1.1 200 OK\r\nX: \(String(repeating: "x", count: 200_000))\r\nContent-Length: 0\r\n\r\n"
            ),
            .answerTooLarge
        ),
    ]

    @Test(arguments: broken.indices) func aBrokenAnswerIsAFailureOfItsKind(_ index: Int) async throws {
        let (reply, expected) = Self.broken[index]
        let server = try ScriptedServer { _ in reply }
        defer { server.stop() }
        #expect(code(await perform(HTTPRequest(.get, server.url, answerLimit: 4096))) == expected)
    }

    @Test func nobodyThereIsRefusedAndNoNameIsUnresolved() async {
        #expect(code(await perform(HTTPRequest(.get, "http://127.0.0.1:1/"))) == .cannotConnect)
        #expect(code(await perform(HTTPRequest(.get, "http://nobody.invalid/"))) == .cannotResolve)
    }

    @Test func aServerThatNeverAnswersEndsAtTheDeadline() async throws {
        let server = try ScriptedServer { _ in .hang }
        defer { server.stop() }
        let deadlines = HTTPDeadlines(connect: .seconds(5), total: .milliseconds(300))
        let result = await perform(HTTPRequest(.get, server.url, deadlines: deadlines))
        // A machine that is too busy to connect in that time says so in other words.
        #expect([.timedOut, .cannotConnect].contains(code(result)), "\(result)")
    }

    @Test func anAbortEndsARequestThatHangs() async throws {
        let flag = AbortFlag()
        let server = try ScriptedServer { _ in
            flag.raise()
            return .hang
        }
        defer { server.stop() }
        #expect(code(await perform(HTTPRequest(.get, server.url), flag: flag)) == .aborted)
        #expect(code(await perform(HTTPRequest(.get, server.url), flag: flag)) == .aborted)
        #expect(server.requests.count == 1)
    }

    static let refused: [HTTPRequest] = [
        HTTPRequest(.get, "file:///etc/passwd"), HTTPRequest(.get, "ftp://127.0.0.1/"), HTTPRequest(.get, ""),
        HTTPRequest(.get, "127.0.0.1"), HTTPRequest(.get, "http://user:secret@127.0.0.1/"),
        HTTPRequest(.get, "http:///path"), HTTPRequest(.get, "http://127.0.0.1/a b"),
        HTTPRequest(.get, "http://127.0.0.1/", headers: [HTTPHeader("Authorization", "a\r\nX-Two: 2")]),
        HTTPRequest(.get, "http://127.0.0.1/", headers: [HTTPHeader("A: b\r\nX", "1")]),
        HTTPRequest(.get, "http://127.0.0.1/", headers: [HTTPHeader("", "1")]),
    ]

    @Test(arguments: refused) func whatMayNotBeSentIsRefusedBefore(_ request: HTTPRequest) async {
        let result = await perform(request)
        #expect(code(result) == .badRequest)
        #expect(!"\(result)".contains("secret"))
    }
}
