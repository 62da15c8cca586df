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
        ("GET /a? HTTP/1.1", "<GET a ? 0>"), ("GET /a?& HTTP/1.1", "<GET a ?"),
        ("GET /a?x&y=&z&&=v& HTTP/1.1", "<GET a ?x=;y=;z="),
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
                ("Host: y", ""), ("Transfer-Encoding : chunked", "0\r\n\r\n"),
                ("Content-Length : 5", "hello"),
                ("Content-Length\t: 5", "hello"), ("X\u{0}: y", ""), ("X: y\u{0}z", ""),
                ("X: y\u{0}z\r\nY: z", ""),
                ("X: y\u{0}\u{0}", ""), ("Content-Length: 5\u{0}0", "hello"),
                ("X: y\rContent-Length: 5", "hello"),
                ("X: y\u{1}", ""), ("X: y\u{7f}", ""), ("X: y\nContent-Length: 5", "hello"), ("X: y\n", ""),
                ("X:\r\n y", ""), ("X: y\r\n z", ""), ("X: y\r\n\tContent-Length: 5", "hello"),
                ("\u{0}", "\r\n"), ("X(: y", ""), ("X Y: z", ""), ("é: y", ""), (": y", ""), ("X", ""),
            ] {
                let connection = try RawConnection(port: port)
                connection.write("POST /one HTTP/1.1\r\nHost: x\r\n\(headers)\r\n\r\n\(body)")
                connection.write("GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n")
                let answer = connection.read()
                #expect(answer.hasPrefix("HTTP/1.1 400"), "\(headers.debugDescription)")
                #expect(!answer.contains("smuggled"))
            }
            for line in [
                "/ HTTP/1.1\r\n Content-Length: 5", "/ HTTP/1.1\r\n\tX: y", "/ HTTP/1.1\n", "/ HTTP/1.1 \r\n",
                "/\0b HTTP/1.1", "/?x=\0b HTTP/1.1", " / HTTP/1.1",
            ] {
                let connection = try RawConnection(port: port)
                connection.write("GET \(line)\r\nHost: x\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n")
                let answer = connection.read()
                // Some of them the library only closes.
                #expect(answer.hasPrefix("HTTP/1.1 400") || answer.isEmpty, "\(line.debugDescription)")
                #expect(!answer.contains("smuggled"))
            }
            let hostless = try RawConnection(port: port)
            hostless.write("GET / HTTP/1.1\r\n\r\n")
            #expect(hostless.read().hasPrefix("HTTP/1.1 400"))
        }
    }

    @Test func whatAHeadMayHaveIsTaken() async throws {
        try await RawServer.run { port in
            for headers in [
                "X:", "X: ", "X:y", "X: \t y", "X: é", "X: \u{ff}", "X: a\tb", "!#$%&'*+-.^_`|~09: y",
                "X: y:z",
                "Cookie: a=b; c=d",
            ] {
                let connection = try RawConnection(port: port)
                for number in 1...2 {
                    connection.write(
                        "\r\nPOST /\(number)?q=1 HTTP/1.1\r\n\(headers)\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"
                    )
                    connection.write("GET /end HTTP/1.1\r\nHost: x\r\n\(headers)\r\n\r\n")
                    #expect(
                        connection.read(until: "<GET end").contains("<POST \(number) ?q=1 5>"), "\(headers)")
                }
            }
        }
    }

    /// How the chunks were told apart is not to be seen, so nothing that follows them is another request.
    @Test func whatComesInChunksIsTheLastRequestOfItsConnection() async throws {
        try await RawServer.run { port in
            for (version, chunks) in [
                ("1.1", "5\r\nhello\r\n0\r\n\r\n"), ("1.1", "5;a\nhello\n0\n\n"),
                ("1.0", "5\r\nhello\r\n0\r\n\r\n"),
            ] {
                let connection = try RawConnection(port: port)
                connection.write(
                    "POST /one HTTP/\(version)\r\nHost: x\r\nConnection: keep-alive\r\n"
                        + "Transfer-Encoding: chunked\r\n\r\n\(chunks)GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
                )
                let answer = connection.read()
                // A newer library refuses some of them itself.
                #expect(answer.contains("<POST one ? 5>") || answer.hasPrefix("HTTP/1.1 400"))
                #expect(!answer.contains("smuggled"))
            }
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
