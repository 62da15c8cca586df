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

/// What clients can do to the server that are slow, many, greedy or hostile.
@Suite struct HTTPLimitTests {
    @Test func aBodyIsLimitedHoweverItComes() async throws {
        try await RawServer.run { port in
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

    @Test func aHeadThatIsTooLargeIsSaid() async throws {
        try await RawServer.run { port in
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

    /// Each costs the library memory of the connection: more than there is ended it without a word.
    @Test func aQueryOfManyParametersIsAnswered() async throws {
        try await RawServer.run { port in
            for parameter in ["&", "a=b&", "a&"] {
                for (count, status) in [
                    (31, 200), (32, 400), (300, 400), (500, 400), (700, 400), (1000, 400), (4070, 400),
                ] where count * parameter.utf8.count < 4090 {
                    let connection = try RawConnection(port: port)
                    let query = String(repeating: parameter, count: count)
                    connection.write("GET /a?\(query) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                    #expect(connection.read().hasPrefix("HTTP/1.1 \(status)"), "\(count) x \(parameter)")
                }
            }
            // All that a head may be, and the connection's memory is enough for it.
            let connection = try RawConnection(port: port)
            let query = String(repeating: "abc=\(String(repeating: "d", count: 120))&", count: 31) + "e"
            let headers = (0..<62).map { "A\($0): \(String(repeating: "b", count: 250))\r\n" }.joined()
            connection.write("GET /?\(query) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\(headers)\r\n")
            #expect(connection.read().hasPrefix("HTTP/1.1 200"))
            // One that ends before its headers are in harms nobody.
            for _ in 0..<50 {
                try RawConnection(port: port).write(
                    "GET /a?\(String(repeating: "&", count: 500)) HTTP/1.1\r\n")
            }
            let after = try RawConnection(port: port)
            after.write("GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            #expect(after.read().contains("<GET a ? 0>"))
        }
    }

    @Test(arguments: ["9223372036854775807", "9223372036854775808", "18446744073709551614"])
    func aLengthThatNobodyCanCountIsTooLarge(_ length: String) async throws {
        try await RawServer.run { port in
            let connection = try RawConnection(port: port)
            connection.write("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: \(length)\r\n\r\n")
            #expect(connection.read().hasPrefix("HTTP/1.1 413"))
        }
    }

    /// What is long leaves half of the room to others, until it is sent.
    @Test func longAnswersHaveALimitTogether() async throws {
        // More than the kernel takes of what nobody reads.
        let long = 32 << 20
        let held = Held()
        try await RawServer.run(
            limits: HTTPLimits(bodyBytes: 1000, bytesInHand: 3 * long),
            handler: { request in
                guard request.path == ["long"] else { return await RawServer.echo(request) }
                var response = ServerResponse(
                    status: 200, contentType: "text/plain", body: [UInt8](repeating: 120, count: long))
                response.hold = held.hold()
                return response
            }
        ) { port in
            func ask(_ path: String) throws -> RawConnection {
                let connection = try RawConnection(port: port)
                connection.write("GET /\(path) HTTP/1.1\r\nHost: x\r\n\r\n")
                return connection
            }
            // Its reader takes the beginning only.
            var first: RawConnection? = try ask("long")
            #expect(first?.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 200") == true)
            let refused = try ask("long").read(until: "\r\n\r\n")
            #expect(refused.hasPrefix("HTTP/1.1 503"))
            #expect(try ask("short").read(until: ">").contains("<GET short ? 0>"))
            // What was refused is let go a moment after the refusal is sent.
            while held.count > 1 { usleep(2000) }
            #expect(held.count == 1)
            first = nil
            while held.count > 0 { usleep(2000) }
            let next = try ask("long").read(until: "\r\n\r\n")
            #expect(next.hasPrefix("HTTP/1.1 200"))
        }
    }

    /// It says what was stored: a refusal would be wrong.
    @Test func anAnswerThatIsOwedIsSentHoweverMuchIsInHand() async throws {
        let long = 32 << 20
        try await RawServer.run(
            limits: HTTPLimits(bodyBytes: 1000, bytesInHand: long * 3 / 2),
            handler: { request in
                var response = ServerResponse(
                    status: 200, contentType: "text/plain", body: [UInt8](repeating: 120, count: long))
                response.isOwed = request.path == ["owed"]
                return response
            }
        ) { port in
            func ask(_ path: String) throws -> RawConnection {
                let connection = try RawConnection(port: port)
                connection.write("GET /\(path) HTTP/1.1\r\nHost: x\r\n\r\n")
                return connection
            }
            var slow: [RawConnection] = []
            for path in ["long", "owed", "owed"] {
                slow.append(try ask(path))
                let head = slow.last?.read(until: "\r\n\r\n")
                #expect(head?.hasPrefix(path == "owed" ? "HTTP/1.1 200" : "HTTP/1.1 503") == true)
            }
        }
    }

    @Test func aBodyThatIsFarTooLargeIsNotReadToItsEnd() async throws {
        try await RawServer.run { port in
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

    @Test func allBodiesTogetherHaveALimit() async throws {
        let server = try HTTPServer.start(
            address: ListenAddress(), limits: HTTPLimits(bodyBytes: 100_000, bytesInHand: 250_000),
            handler: RawServer.echo)
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
        try await RawServer.run(limits: HTTPLimits(connections: 64)) { port in
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
        try await RawServer.run(limits: HTTPLimits(connectionsPerAddress: 3)) { port in
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

    @Test(arguments: hostileBytes)
    func noBytesStopTheServer(_ bytes: String) async throws {
        try await RawServer.run { port in
            let hostile = try RawConnection(port: port)
            hostile.write(bytes)
            let sound = try RawConnection(port: port)
            sound.write("GET /ok HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            #expect(sound.read().contains("<GET ok ? 0>"))
        }
    }

    @Test func aClientThatLeavesHarmsNobody() async throws {
        try await RawServer.run { port in
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
        try await RawServer.run(limits: HTTPLimits(bodyBytes: 1000, idleSeconds: 1)) { port in
            let silent = try RawConnection(port: port)
            silent.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhe")
            // Closed by the server, well before this side's own deadline.
            let start = ContinuousClock.now
            _ = silent.read()
            #expect(ContinuousClock.now - start < .seconds(15))
        }
    }

    @Test func aHeadThatTricklesIsGivenUp() async throws {
        try await RawServer.run(limits: HTTPLimits(bodyBytes: 1000, headDeadline: .milliseconds(300))) {
            port in
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

    @Test func aBodyThatTricklesIsGivenUp() async throws {
        try await RawServer.run(limits: HTTPLimits(bodyBytes: 1000, bodyDeadline: .milliseconds(300))) {
            port in
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
}

/// How much is held now.
private final class Held: Sendable {
    private let held = Guarded(0)
    var count: Int { held.withLock { $0 } }

    func hold() -> AnswerHold {
        held.withLock { $0 += 1 }
        return AnswerHold { [held] in held.withLock { $0 -= 1 } }
    }
}
