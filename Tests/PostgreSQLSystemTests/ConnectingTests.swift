import PostgreSQL
import PostgreSQLTestSupport
import Testing

@Suite struct ConnectingTests {
    @Test func whoAndWhat() throws {
        let server = try TestPostgreSQL.shared()
        let connection = try PostgreSQLConnection(server.conninfo(), deadline: .seconds(60))
        #expect(connection.serverVersion >= 150_000)
        let name = "SELECT current_setting('application_name'), current_setting('client_encoding')"
        #expect(try connection.rows(name) == [[.text("bandferry-ingest"), .text("UTF8")]])
        let other = try PostgreSQLConnection(
            server.conninfo() + " application_name=mine client_encoding=LATIN1", deadline: .seconds(60),
            applicationName: "yours")
        #expect(try other.rows(name) == [[.text("mine"), .text("UTF8")]])
    }

    @Test func overTCPByAURI() throws {
        let server = try TestPostgreSQL(fsync: true, onLoopback: true)
        let connection = try PostgreSQLConnection(server.loopbackConninfo(), deadline: .seconds(60))
        #expect(try connection.number("SELECT 1 + $1", [.int(1)]) == 2)
        #expect(try connection.rows("SELECT current_setting('fsync')") == [[.text("on")]])
    }

    @Test func aWrongPasswordOrDatabaseIsNoConnection() throws {
        let server = try TestPostgreSQL.shared()
        let owner = try PostgreSQLConnection(server.conninfo(), deadline: .seconds(60))
        try owner.script("CREATE ROLE guarded LOGIN PASSWORD 'right'")
        let guarded = server.conninfo(user: "guarded")
        let wrong = error { () throws(PostgreSQLError) in
            _ = try PostgreSQLConnection(guarded + " password=wrongsecret", deadline: .seconds(60))
        }
        #expect(wrong?.kind == .connection)
        #expect(wrong?.message.contains("password authentication failed") == true)
        #expect(wrong?.message.contains("wrongsecret") == false)
        _ = try PostgreSQLConnection(guarded + " password=right", deadline: .seconds(60))
        let nowhere = error { () throws(PostgreSQLError) in
            _ = try PostgreSQLConnection(server.conninfo("nowhere"), deadline: .seconds(60))
        }
        #expect(nowhere?.kind == .connection)
        #expect(nowhere?.message.contains("\n") == false)
    }

    @Test func aServerThatIsFullOrNotReadyRefuses() throws {
        let server = try TestPostgreSQL(settings: [
            "max_connections": "5", "superuser_reserved_connections": "0", "max_wal_senders": "0",
        ])
        var connections: [PostgreSQLConnection] = []
        var refusal: PostgreSQLError?
        while connections.count < 10, refusal == nil {
            refusal = error { () throws(PostgreSQLError) in
                connections.append(try PostgreSQLConnection(server.conninfo(), deadline: .seconds(60)))
            }
        }
        #expect(refusal?.kind == .connection)
        #expect(refusal?.message.contains("too many clients") == true, "\(String(describing: refusal))")

        let standby = try TestPostgreSQL(isStandby: true)
        let limit = ContinuousClock.now + .seconds(60)
        var answer: PostgreSQLError?
        // First there is no socket yet.
        while answer?.message.contains("not accepting connections") != true, ContinuousClock.now < limit {
            answer = error { () throws(PostgreSQLError) in
                _ = try PostgreSQLConnection(standby.conninfo(), deadline: .seconds(60))
            }
            #expect(answer?.kind == .connection)
        }
        #expect(ContinuousClock.now < limit)
    }
}
