import Testing

@testable import HTTPServer

/// A body waits until it is known who sends it.
@Suite struct HTTPAdmissionTests {
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
            try await RawServer.run(limits: HTTPLimits(bodyBytes: 1 << 20), admit: admit) { port in
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
        try await RawServer.run(admit: admit) { port in
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
        try await RawServer.run(limits: HTTPLimits(bodyBytes: 1000, bytesInHand: 10), admit: admit) { port in
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
            }, handler: RawServer.echo)
        let answer = Answered()
        answer.read(try RawConnection(port: server.address.port), "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        await gate.somebodyWaits()
        await server.stop(within: .milliseconds(50))
        #expect(await answer.text.hasPrefix("HTTP/1.1 503"))
        gate.open()
    }
}
