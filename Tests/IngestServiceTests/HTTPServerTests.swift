import Testing

@testable import HTTPServer

/// libmicrohttpd behind its wrapper: requests and their answers.
@Suite struct HTTPServerTests {
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
        try await RawServer.run { port in
            let connection = try RawConnection(port: port)
            connection.write("\(line)\r\nHost: x\r\nConnection: close\r\n\r\n")
            #expect(connection.read().contains(expected))
        }
    }

    @Test func whereARequestEndsIsNeverInDoubt() async throws {
        try await RawServer.run { port in
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
        try await RawServer.run { port in
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
        try await RawServer.run { port in
            let connection = try RawConnection(port: port)
            connection.write(
                "HEAD /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            let answer = connection.read()
            #expect(!answer.contains("<HEAD"))
            #expect(answer.contains("Content-Length: 12"))
            #expect(answer.contains("<GET b ? 0>"))
        }
    }

    @Test func aSlowHandlerHoldsUpNobody() async throws {
        let gate = Gate()
        let handler: HTTPServer.Handler = { request in
            if request.path == ["slow"] { await gate.wait() }
            return ServerResponse(status: 200, body: Array("done".utf8))
        }
        try await RawServer.run(handler: handler) { port in
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
        try await RawServer.run { port in
            let connection = try RawConnection(port: port)
            for number in 0..<50 {
                connection.write("POST /\(number) HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc")
                #expect(connection.read(until: ">").contains("<POST \(number) ? 3>"))
            }
        }
    }
}
