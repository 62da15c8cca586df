import Testing

@testable import PostgreSQL

@Suite struct ServerMessageTests {
    @Test func severityDecidesWhetherTheConnectionIsLost() {
        let refused = ServerMessage.error(
            severity: "ERROR", sqlState: "42601", primary: "syntax error at or near \"x\"")
        #expect(refused.kind == .server(sqlState: "42601"))
        #expect(refused.message == "syntax error at or near \"x\"")
        #expect(ServerMessage.error(severity: "FATAL", sqlState: "57P01", primary: "bye").kind == .connection)
        #expect(ServerMessage.error(severity: "PANIC", sqlState: "XX000", primary: "bye").kind == .connection)
        #expect(ServerMessage.error(severity: nil, sqlState: nil, primary: "lost\n").kind == .connection)
    }

    @Test func whyTheServerEndedAConnectionIsKept() {
        for (severity, state) in [("FATAL", "57P01"), ("PANIC", nil), ("ERROR", nil)] {
            let error = ServerMessage.error(severity: severity, sqlState: "57P01", primary: "bye")
            #expect(error.closedWith == state, "\(severity)")
        }
        #expect(ServerMessage.error(severity: nil, sqlState: nil, primary: "lost").closedWith == nil)
    }

    @Test func aDataExceptionLosesWhatItQuotes() {
        let error = ServerMessage.error(
            severity: "ERROR", sqlState: "22P02",
            primary: "invalid input syntax for type bigint: \"a \"quoted\" secret\"")
        #expect(error.message == "invalid input syntax for type bigint: \"…\"")
        #expect(ServerMessage.withoutQuotes("plain") == "plain")
        #expect(ServerMessage.withoutQuotes("one \" only") == "one \"…\" only")
        #expect(ServerMessage.withoutQuotes("\"secret\" at \"secret\", end") == "\"…\", end")
    }

    @Test func aMessageIsOneLine() {
        #expect(ServerMessage.oneLine("first\n\tsecond\n") == "first; second")
        #expect(ServerMessage.oneLine("") == "no reason was given")
    }
}
