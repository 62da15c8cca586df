import Dispatch
import Foundation
import Locking
import Testing

@testable import HTTPServer

private let hostileBytes: [String] = [
    "\r\n\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\u{0}\u{1}\u{2}\r\n\r\n",
    "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", "GET / HTTP/1.1\r\nContent-Length: 1e9\r\n\r\n",
    "GET / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
    "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
    "GET / HTTP/1.1\r\n: x\r\nno colon\r\n\r\n",
    "GET /\(String(repeating: "a", count: 100_000)) HTTP/1.1\r\n\r\n",
    "GET / HTTP/1.1\r\nX: \(String(repeating: "b", count: 100_000))\r\n\r\n",
    "GET / HTTP/1.1\r\n\(String(repeating: "Y: 1\r\n", count: 20_000))\r\n\r\n",
]

/// libmicrohttpd behind its wrapper: limits, hostile clients and the stop.
@Suite struct HTTPServerTests {
    private func run(
        limits: HTTPLimits = HTTPLimits(bodyBytes: 1000),
        admit: @escaping HTTPServer.Admit = { _ in .admitted },
        handler: @escaping HTTPServer.Handler = Self.echo, _ body: @escaping @Sendable (UInt16) throws -> Void
    ) async throws {
        let server = try HTTPServer.start(
            address: ListenAddress(), limits: limits, admit: admit, handler: handler)
        let port = server.address.port
        // Raw sockets block: not on Swift's shared pool.
        let result = await withCheckedContinuation { continuation in
            DispatchQueue(label: "raw").async { continuation.resume(returning: Result { try body(port) }) }
        }
        await server.stop(within: .seconds(2))
        try result.get()
    }

    /// Says what it saw.
    private static let echo: HTTPServer.Handler = { request in
        let query = request.query.map { "\($0.name)=\($0.value)" }.joined(separator: ";")
        let path = request.path.joined(separator: "|")
        return ServerResponse(
            status: 200, contentType: "text/plain",
            body: Array("<\(request.method) \(path) ?\(query) \(request.body.count)>".utf8))
    }

    @Test(arguments: [
        ("GET / HTTP/1.1", "<GET  ? 0>"),
        ("GET /a/b%2Fc/ HTTP/1.1", "<GET a|b/c| ? 0>"),
        ("GET /a?x=1&y=%2B+z&x HTTP/1.1", "<GET a ?x=1;y=+ z;x= 0>"),
        ("GET /%C3%A9 HTTP/1.1", "<GET é ? 0>"),
        ("OPTIONS /a HTTP/1.1", "<OPTIONS a ? 0>"),
        ("GET /a%zz HTTP/1.1", "HTTP/1.1 400"),
        ("GET /a%ff HTTP/1.1", "HTTP/1.1 400"),
        ("GET /a?x=%f HTTP/1.1", "HTTP/1.1 400"),
        ("GET /%00 HTTP/1.1", "<GET \u{0} ? 0>"),
        ("GET http://other/a/b?c=d HTTP/1.1", "<GET a|b ?c=d 0>"),
        ("GET http://other HTTP/1.1", "<GET  ? 0>"),
        ("FROB /a HTTP/1.1", "<FROB a ? 0>"), ("GET a HTTP/1.1", "HTTP/1.1 400"),
    ])
    func aTargetIsTakenApart(_ line: String, _ expected: String) async throws {
        try await run { port in
            let connection = try RawConnection(port: port)
            connection.write("\(line)\r\nHost: x\r\nConnection: close\r\n\r\n")
            #expect(connection.read().contains(expected))
        }
    }

    @Test func aBodyIsLimitedHoweverItComes() async throws {
        try await run { port in
            for (size, expected) in [(0, "200"), (1000, "200"), (1001, "413"), (20_000, "413")] {
                let plain = try RawConnection(port: port)
                plain.write(
                    "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: \(size)\r\n\r\n")
                plain.write([UInt8](repeating: 120, count: size))
                #expect(plain.read().hasPrefix("HTTP/1.1 \(expected)"), "length \(size)")
                let chunked = try RawConnection(port: port)
                chunked.write(
                    "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n")
                if size > 0 {
                    chunked.write(String(size, radix: 16) + "\r\n")
                    chunked.write([UInt8](repeating: 120, count: size) + [13, 10])
                }
                chunked.write("0\r\n\r\n")
                #expect(chunked.read().hasPrefix("HTTP/1.1 \(expected)"), "chunked \(size)")
            }
        }
    }

    @Test func whereARequestEndsIsNeverInDoubt() async throws {
        try await run { port in
            for (headers, body) in [
                ("Content-Length: 5\r\nContent-Length: 6", "hello!"),
                ("Content-Length: 5\r\nTransfer-Encoding: chunked", "0\r\n\r\n"),
                ("Transfer-Encoding: identity", "hello"), ("Transfer-Encoding: gzip, chunked", "0\r\n\r\n"),
                ("Host: y", ""),
            ] {
                let connection = try RawConnection(port: port)
                connection.write("POST /one HTTP/1.1\r\nHost: x\r\n\(headers)\r\n\r\n\(body)")
                connection.write("GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n")
                let answer = connection.read()
                #expect(answer.hasPrefix("HTTP/1.1 400"), "\(headers)")
                #expect(!answer.contains("smuggled"))
            }
            let hostless = try RawConnection(port: port)
            hostless.write("GET / HTTP/1.1\r\n\r\n")
            #expect(hostless.read().hasPrefix("HTTP/1.1 400"))
        }
    }

    @Test func requestsInARowAreAnsweredInOrder() async throws {
        try await run { port in
            let connection = try RawConnection(port: port)
            var text = ""
            for number in 0..<20 {
                text += "POST /r\(number) HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"
            }
            connection.write(text + "GET /end HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            let answer = connection.read()
            let seen = answer.split(separator: "<").dropFirst().map { String($0.split(separator: " ")[1]) }
            #expect(seen == (0..<20).map { "r\($0)" } + ["end"])
        }
    }

    @Test func anAnswerToHEADHasNoBody() async throws {
        try await run { port in
            let connection = try RawConnection(port: port)
            connection.write(
                "HEAD /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            let answer = connection.read()
            #expect(!answer.contains("<HEAD"))
            #expect(answer.contains("Content-Length: 12"))
            #expect(answer.contains("<GET b ? 0>"))
        }
    }

    @Test func aHeadThatIsTooLargeIsSaid() async throws {
        try await run { port in
            for (line, headers, status) in [
                ("GET /\(String(repeating: "a", count: 4095))", "", 200),
                ("GET /\(String(repeating: "a", count: 4096))", "", 414),
                ("GET /a?b=\(String(repeating: "c", count: 4200))", "", 414),
                ("GET /", "A: \(String(repeating: "b", count: 15_000))\r\n", 200),
                ("GET /", "A: \(String(repeating: "b", count: 17_000))\r\n", 431),
                ("GET /", String(repeating: "A: b\r\n", count: 62), 200),
                ("GET /", String(repeating: "A: b\r\n", count: 100), 431),
            ] {
                let connection = try RawConnection(port: port)
                connection.write("\(line) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\(headers)\r\n")
                #expect(connection.read().hasPrefix("HTTP/1.1 \(status)"), "\(line.prefix(9)) \(status)")
            }
        }
    }

    /// No byte of a body is asked for or read before it is known who sends it.
    @Test func aBodyWaitsUntilItIsKnownWhoSends() async throws {
        for isAdmitted in [true, false] {
            let gate = Gate()
            let admit: HTTPServer.Admit = { head in
                guard head.path == ["asked"] else { return .admitted }
                return .pending {
                    await gate.wait()
                    return isAdmitted ? nil : ServerResponse(status: 401, body: Array("no".utf8))
                }
            }
            try await run(limits: HTTPLimits(bodyBytes: 1 << 20), admit: admit) { port in
                let connection = try RawConnection(port: port)
                connection.write(
                    "POST /asked HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: 100-continue\r\n"
                        + "Content-Length: 400000\r\n\r\n")
                gate.waitForSomebody()
                // Others are served meanwhile.
                let other = try RawConnection(port: port)
                other.write("GET /ok HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                #expect(other.read().contains("<GET ok ? 0>"))
                #expect(!connection.hasInput)
                gate.open()
                guard isAdmitted else {
                    #expect(connection.read().hasPrefix("HTTP/1.1 401"))
                    return
                }
                #expect(connection.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 100"))
                connection.write([UInt8](repeating: 120, count: 400_000))
                #expect(connection.read().contains("<POST asked ? 400000>"))
            }
        }
    }

    @Test func aRefusalThatWasLookedUpReachesOneWhoHasSentItsBody() async throws {
        let admit: HTTPServer.Admit = { _ in
            .pending {
                await Task.yield()
                return ServerResponse(status: 401, body: Array("no".utf8))
            }
        }
        try await run(admit: admit) { port in
            let connection = try RawConnection(port: port)
            for _ in 0..<3 {
                connection.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 900\r\n\r\n")
                connection.write([UInt8](repeating: 120, count: 900))
                #expect(connection.read(until: "no").hasPrefix("HTTP/1.1 401"))
            }
        }
    }

    /// What anybody may ask takes no memory for a body, and its end is not long waited for.
    @Test func aBodyThatIsOfNoUseIsDropped() async throws {
        let admit: HTTPServer.Admit = { $0.path == ["open"] ? .admittedWithoutBody : .admitted }
        try await run(limits: HTTPLimits(bodyBytes: 1000, bytesInHand: 10), admit: admit) { port in
            let connection = try RawConnection(port: port)
            for (path, answer) in [
                ("open", "<GET open ? 0>"), ("other", "HTTP/1.1 503"), ("open", "<GET open ? 0>"),
            ] {
                connection.write("GET /\(path) HTTP/1.1\r\nHost: x\r\nContent-Length: 900\r\n\r\n")
                connection.write([UInt8](repeating: 120, count: 900))
                #expect(connection.read(until: answer).contains(answer))
            }
        }
    }

    @Test func whoIsBeingLookedUpIsAnsweredWhenTheServerStops() async throws {
        let gate = Gate()
        let server = try HTTPServer.start(
            address: ListenAddress(),
            admit: { _ in
                .pending {
                    await gate.wait()
                    return nil
                }
            }, handler: Self.echo)
        let answer = Answered()
        answer.read(try RawConnection(port: server.address.port), "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        await gate.somebodyWaits()
        await server.stop(within: .milliseconds(50))
        #expect(await answer.text.hasPrefix("HTTP/1.1 503"))
        gate.open()
    }

    @Test func aHeadThatTricklesIsGivenUp() async throws {
        try await run(limits: HTTPLimits(bodyBytes: 1000, headDeadline: .milliseconds(300))) { port in
            let slow = try RawConnection(port: port)
            slow.write("GET / HTTP/1.1\r\n")
            var written = 0
            while written < 3000, slow.write("X: y\r\n") {
                written += 1
                usleep(20_000)
            }
            #expect(written < 3000)
        }
    }

    @Test func allBodiesTogetherHaveALimit() async throws {
        let server = try HTTPServer.start(
            address: ListenAddress(), limits: HTTPLimits(bodyBytes: 100_000, bytesInHand: 250_000),
            handler: Self.echo)
        let port = server.address.port
        func send(_ path: String, _ count: Int, of length: Int) throws -> RawConnection {
            let connection = try RawConnection(port: port)
            connection.write("POST /\(path) HTTP/1.1\r\nHost: x\r\nContent-Length: \(length)\r\n\r\n")
            connection.write([UInt8](repeating: 120, count: count))
            return connection
        }
        func inHand(_ bytes: Int) async throws {
            while server.core.requests.bytesInHand != bytes { try await Task.sleep(for: .milliseconds(2)) }
        }
        // Two take nearly all there is, and wait with their last byte.
        let first = try (0..<2).map { _ in try send("a", 99_999, of: 100_000) }
        try await inHand(199_998)
        #expect(try send("b", 60_000, of: 60_000).read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 503"))
        for connection in first {
            connection.write("x")
            #expect(connection.read(until: ">").contains("<POST a ? 100000>"))
        }
        try await inHand(0)
        #expect(try send("c", 60_000, of: 60_000).read(until: ">").contains("<POST c ? 60000>"))
        await server.stop(within: .seconds(2))
    }

    @Test func idleConnectionsDoNotLockOthersOut() async throws {
        try await run(limits: HTTPLimits(connections: 64)) { port in
            let idle = try (0..<300).map { _ in try RawConnection(port: port) }
            for _ in 0..<20 {
                let sound = try RawConnection(port: port)
                sound.write("GET /ok HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                #expect(sound.read().contains("<GET ok ? 0>"))
            }
            withExtendedLifetime(idle) {}
        }
    }

    @Test func anAddressThatHasItsShareGetsNoMore() async throws {
        try await run(limits: HTTPLimits(connectionsPerAddress: 3)) { port in
            // Each says what it wants at once: the answer may take longer than the server waits for a request.
            let kept = try (0..<3).map { _ in
                let connection = try RawConnection(port: port)
                connection.write("GET /a HTTP/1.1\r\nHost: x\r\n\r\n")
                return connection
            }
            for connection in kept { #expect(connection.read(until: ">").contains("<GET a ? 0>")) }
            let further = try RawConnection(port: port)
            further.write("GET /b HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(!further.read().contains("<GET"))
            kept[0].write("GET /c HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(kept[0].read(until: ">").contains("<GET c ? 0>"))
        }
    }

    @Test func aBodyThatIsFarTooLargeIsNotReadToItsEnd() async throws {
        try await run { port in
            // Announced: refused at once, although nothing of it was sent.
            let announced = try RawConnection(port: port)
            announced.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000000\r\n\r\n")
            #expect(announced.read().hasPrefix("HTTP/1.1 413"))
            // A client that waits for a go-ahead is told before it sends.
            let waiting = try RawConnection(port: port)
            waiting.write(
                "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2000\r\nExpect: 100-continue\r\n\r\n")
            #expect(waiting.read(until: "413").hasPrefix("HTTP/1.1 413"))
            // Never ending: cut off.
            let endless = try RawConnection(port: port)
            endless.write("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
            let chunk = Array("1000\r\n".utf8) + [UInt8](repeating: 120, count: 4096) + [13, 10]
            var written = 0
            while written < 10_000, endless.write(chunk) { written += 1 }
            #expect(written < 10_000)
        }
    }

    @Test(arguments: hostileBytes)
    func noBytesStopTheServer(_ bytes: String) async throws {
        try await run { port in
            let hostile = try RawConnection(port: port)
            hostile.write(bytes)
            let sound = try RawConnection(port: port)
            sound.write("GET /ok HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            #expect(sound.read().contains("<GET ok ? 0>"))
        }
    }

    @Test func aClientThatLeavesHarmsNobody() async throws {
        try await run { port in
            for part in 1..<30 {
                let text = "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"
                try RawConnection(port: port).write(String(text.prefix(part * 2)))
            }
            let sound = try RawConnection(port: port)
            sound.write("GET /ok HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            #expect(sound.read().contains("<GET ok ? 0>"))
        }
    }

    @Test func aSilentConnectionIsClosed() async throws {
        try await run(limits: HTTPLimits(bodyBytes: 1000, idleSeconds: 1)) { port in
            let silent = try RawConnection(port: port)
            silent.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhe")
            // Closed by the server, well before this side's own deadline.
            let start = ContinuousClock.now
            _ = silent.read()
            #expect(ContinuousClock.now - start < .seconds(15))
        }
    }

    @Test func aBodyThatTricklesIsGivenUp() async throws {
        try await run(limits: HTTPLimits(bodyBytes: 1000, bodyDeadline: .milliseconds(300))) { port in
            let slow = try RawConnection(port: port)
            slow.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 900\r\n\r\n")
            var written = 0
            while written < 900, slow.write("x") {
                written += 1
                usleep(20_000)
            }
            #expect(written < 900)
        }
    }

    @Test func aSlowHandlerHoldsUpNobody() async throws {
        let gate = Gate()
        let handler: HTTPServer.Handler = { request in
            if request.path == ["slow"] { await gate.wait() }
            return ServerResponse(status: 200, body: Array("done".utf8))
        }
        try await run(handler: handler) { port in
            let slow = try RawConnection(port: port)
            slow.write("GET /slow HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            for _ in 0..<5 {
                let quick = try RawConnection(port: port)
                quick.write("GET /quick HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                #expect(quick.read().contains("done"))
            }
            gate.open()
            #expect(slow.read().contains("done"))
        }
    }

    @Test func aConnectionIsKeptForTheNextRequest() async throws {
        try await run { port in
            let connection = try RawConnection(port: port)
            for number in 0..<50 {
                connection.write("POST /\(number) HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc")
                #expect(connection.read(until: ">").contains("<POST \(number) ? 3>"))
            }
        }
    }

    @Test func whatRunsIsFinishedBeforeTheServerStops() async throws {
        let gate = Gate()
        let server = try HTTPServer.start(address: ListenAddress()) { _ in
            await gate.wait()
            return ServerResponse(status: 200, body: Array("finished".utf8))
        }
        let answer = Answered()
        let port = server.address.port
        answer.read(try RawConnection(port: port), "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        await gate.somebodyWaits()
        async let stopped: Void = server.stop(within: .seconds(20))
        while (try? RawConnection(port: port)) != nil { try await Task.sleep(for: .milliseconds(5)) }
        gate.open()
        await stopped
        #expect(await answer.text.contains("finished"))
    }

    @Test func aHandlerThatNeverEndsDoesNotKeepTheServerFromStopping() async throws {
        let gate = Gate()
        let server = try HTTPServer.start(address: ListenAddress()) { _ in
            await gate.wait()
            return ServerResponse(status: 200)
        }
        let answer = Answered()
        answer.read(try RawConnection(port: server.address.port), "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        await gate.somebodyWaits()
        await server.stop(within: .milliseconds(50))
        #expect(await answer.text.hasPrefix("HTTP/1.1 503"))
        // Its late answer goes nowhere.
        gate.open()
        await server.stop()
    }

    @Test func anAddressThatIsTakenIsNamed() async throws {
        let first = try HTTPServer.start(address: ListenAddress()) { _ in ServerResponse(status: 200) }
        do {
            let second = try HTTPServer.start(address: first.address) { _ in ServerResponse(status: 200) }
            await second.stop()
            Issue.record("two servers on one port")
        } catch {
            #expect(error.errno == EADDRINUSE)
            #expect("\(error)".contains("127.0.0.1:\(first.address.port)"))
        }
        await first.stop()
    }

    @Test func itListensOnIPv6() async throws {
        guard let address = ListenAddress("[::1]:0") else { return }
        // A machine without IPv6 says so in its own words.
        guard let server = try? HTTPServer.start(address: address, handler: Self.echo) else { return }
        #expect(server.address.description == "[::1]:\(server.address.port)")
        await server.stop()
    }

    @Test(arguments: [
        ("127.0.0.1:8080", "127.0.0.1:8080", true), ("[::1]:0", "[::1]:0", true),
        ("localhost:1", "localhost:1", true),
        ("0.0.0.0:80", "0.0.0.0:80", false), ("[::]:80", "[::]:80", false),
        ("192.168.1.5:80", "192.168.1.5:80", false),
        ("127.8.9.1:1", "127.8.9.1:1", true), ("[fe80::1]:1", "[fe80::1]:1", false),
        ("example.org:1", "example.org:1", false),
    ])
    func anAddressIsReadAndKnowsWhetherItIsLoopback(_ text: String, _ printed: String, _ loopback: Bool) {
        let address = ListenAddress(text)
        #expect(address?.description == printed)
        #expect(address?.isLoopback == loopback)
    }

    @Test(arguments: [
        "", "8080", ":8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "::1:80",
        "[::1:80", "a:b", "127.0.0.1: 80",
    ])
    func whatIsNoAddressIsRefused(_ text: String) { #expect(ListenAddress(text) == nil) }
}

/// Handlers wait at it until it is opened.
private final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Guarded(State())

    func wait() async {
        await withCheckedContinuation { continuation in
            let now = state.withLock { state in
                if state.isOpen { return true }
                state.waiting.append(continuation)
                return false
            }
            if now { continuation.resume() }
        }
    }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Blocks, for tests on threads of their own.
    func waitForSomebody() {
        while state.withLock({ $0.waiting.isEmpty }) { usleep(2000) }
    }

    func somebodyWaits() async {
        while state.withLock({ $0.waiting.isEmpty }) { try? await Task.sleep(for: .milliseconds(5)) }
    }
}

/// Reads an answer on a thread of its own.
private final class Answered: Sendable {
    private let queue = DispatchQueue(label: "answer")
    private let result = Guarded("")

    func read(_ connection: sending RawConnection, _ request: String) {
        connection.write(request)
        nonisolated(unsafe) let connection = connection
        queue.async {
            let text = connection.read()
            self.result.withLock { $0 = text }
        }
    }

    var text: String {
        get async {
            await withCheckedContinuation { continuation in
                queue.async { continuation.resume(returning: self.result.withLock { $0 }) }
            }
        }
    }
}
