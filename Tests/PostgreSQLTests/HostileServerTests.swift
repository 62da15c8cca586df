import PostgreSQL
import Testing

/// What is not a PostgreSQL server, or one that stops in the middle.
@Suite struct HostileServerTests {
    private func outcome(
        _ conninfo: String, deadline: Duration, _ body: (PostgreSQLConnection) throws(PostgreSQLError) -> Void
    ) -> (kind: PostgreSQLError.Kind?, time: Duration) {
        let start = ContinuousClock.now
        do throws(PostgreSQLError) {
            try body(try PostgreSQLConnection(conninfo, deadline: deadline))
            return (nil, ContinuousClock.now - start)
        } catch {
            return (error.kind, ContinuousClock.now - start)
        }
    }

    private func outcome(
        _ server: FakeServer, deadline: Duration,
        _ body: (PostgreSQLConnection) throws(PostgreSQLError) -> Void
    ) -> (kind: PostgreSQLError.Kind?, time: Duration) {
        // It listens for as long as it lives.
        defer { withExtendedLifetime(server) {} }
        return outcome(server.conninfo, deadline: deadline, body)
    }

    private func connect(_ server: FakeServer, deadline: Duration = .seconds(60)) -> PostgreSQLError.Kind? {
        outcome(server, deadline: deadline) { _ in }.kind
    }

    @Test func nobodyAnswersAConnection() throws {
        let chatter = FakeServer.Step.chatter(
            after: FakeServer.authenticationOk, repeating: FakeServer.notice)
        for steps in [[], [.send([])], [.send(FakeServer.authenticationOk)], [chatter]] {
            let server = try FakeServer(steps)
            let (kind, time) = outcome(server, deadline: .milliseconds(300)) { _ in }
            #expect(kind == .timeout)
            #expect(time >= .milliseconds(300) && time < .seconds(10))
        }
    }

    @Test func connectingToWhatIsNoServer() throws {
        #expect(connect(try FakeServer([.close(after: [])])) == .connection)
        #expect(
            connect(try FakeServer([.close(after: Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))]))
                == .connection)
        #expect(connect(try FakeServer([.close(after: Array(FakeServer.welcome.prefix(12)))])) == .connection)
        #expect(
            connect(try FakeServer([.close(after: [UInt8](repeating: 0xff, count: 9000))])) == .connection)
        // A port where nobody listens, a socket that is not there, a name that is none.
        let nobody = [
            "host=127.0.0.1 port=1 gssencmode=disable", "host=/nonexistent",
            "host=nobody..invalid",
        ]
        for conninfo in nobody {
            #expect(
                outcome(conninfo + " user=u dbname=d", deadline: .seconds(60)) { _ in }.kind == .connection)
        }
    }

    @Test(arguments: [0, 1, 4, 5, 20]) func anAnswerThatIsCut(at count: Int) throws {
        // ParseComplete, ParameterDescription, and a RowDescription that does not end.
        let answer: [UInt8] = [
            UInt8(ascii: "1"), 0, 0, 0, 4, UInt8(ascii: "t"), 0, 0, 0, 6, 0, 0, UInt8(ascii: "T"), 0, 0, 1,
        ]
        let server = try FakeServer([.send(FakeServer.welcome), .close(after: Array(answer.prefix(count)))])
        let (kind, _) = outcome(server, deadline: .seconds(60)) {
            connection throws(PostgreSQLError) in
            _ = try connection.run([PostgreSQLCall("SELECT 1")])
        }
        #expect(kind == .connection)
    }

    @Test func answersThatMakeNoSense() throws {
        for answer in [
            [UInt8](repeating: 0x41, count: 9000), Array("Z\0\0\0\u{5}I".utf8),
            Array("D\0\0\0\u{6}\0\0".utf8),
        ] {
            let server = try FakeServer([.send(FakeServer.welcome), .send(answer)])
            let (kind, time) = outcome(server, deadline: .milliseconds(500)) {
                connection throws(PostgreSQLError) in
                _ = try connection.run([PostgreSQLCall("SELECT 1")])
            }
            #expect(kind == .connection || kind == .timeout)
            #expect(time < .seconds(10))
        }
    }

    /// The deadline is for the whole answer, not for each of its parts.
    @Test func aServerThatOnlyChatters() throws {
        for asScript in [false, true] {
            let server = try FakeServer([
                .send(FakeServer.welcome), .chatter(after: [], repeating: FakeServer.notice),
            ])
            let (kind, time) = outcome(server, deadline: .milliseconds(400)) {
                connection throws(PostgreSQLError) in
                if asScript {
                    try connection.script("SELECT 1")
                } else {
                    _ = try connection.run([PostgreSQLCall("SELECT 1")])
                }
            }
            #expect(kind == .timeout)
            #expect(time >= .milliseconds(400) && time < .seconds(10))
        }
    }
}
