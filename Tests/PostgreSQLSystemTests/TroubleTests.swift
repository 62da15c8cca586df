import Glibc
import PostgreSQL
import PostgreSQLTestSupport
import Testing

/// Servers that are slow, silent, killed or gone: the right kind, within the deadline.
@Suite struct TroubleTests {
    /// How long a call takes, and how it ends.
    private func timed(_ body: () throws(PostgreSQLError) -> Void) -> (PostgreSQLError.Kind?, Duration) {
        let start = ContinuousClock.now
        let kind = kind(body)
        return (kind, ContinuousClock.now - start)
    }

    /// On another thread, as soon as the server shows that the backend is at it.
    private func whenActive(
        _ backend: pid_t, on server: TestPostgreSQL, _ body: @escaping @Sendable () -> Void
    ) throws -> Thread {
        let observer = try PostgreSQLConnection(server.conninfo(), deadline: .seconds(60))
        return Thread(carrying: observer) { observer in
            let active = "SELECT count(*) FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'PgSleep'"
            _ = try? observer.wait(until: active, [.int(Int64(backend))], is: 1)
            observer.close()
            body()
        }
    }

    @Test func aSlowStatementIsCancelled() throws {
        let server = try TestPostgreSQL.shared()
        let connection = try PostgreSQLConnection(server.conninfo(), deadline: .seconds(60))
        let backend = try connection.backend()
        connection.deadline = .milliseconds(500)
        let (kind, time) = timed { () throws(PostgreSQLError) in
            _ = try connection.rows("SELECT pg_sleep(600)")
        }
        #expect(kind == .timeout)
        #expect(time >= .milliseconds(500) && time < .seconds(20))
        #expect(connection.isBroken && !connection.isInTransaction)
        let later = timed { () throws(PostgreSQLError) in _ = try connection.rows("SELECT 1") }
        #expect(later.0 == .connection)
        let observer = try PostgreSQLConnection(server.conninfo(), deadline: .seconds(60))
        #expect(
            try observer.wait(
                until: "SELECT count(*) FROM pg_stat_activity WHERE pid = $1", [.int(Int64(backend))], is: 0))
    }

    @Test func aSlowScriptIsCancelled() throws {
        let connection = try PostgreSQLConnection(
            TestPostgreSQL.shared().conninfo(), deadline: .seconds(60))
        connection.deadline = .milliseconds(300)
        let (kind, time) = timed { () throws(PostgreSQLError) in try connection.script("SELECT pg_sleep(600)")
        }
        #expect(kind == .timeout)
        #expect(time < .seconds(20))
        #expect(connection.isBroken)
    }

    @Test func aFrozenServerIsATimeout() throws {
        let server = try TestPostgreSQL(onLoopback: true)
        let connection = try PostgreSQLConnection(server.conninfo(), deadline: .seconds(60))
        let other = try PostgreSQLConnection(server.loopbackConninfo(), deadline: .seconds(60))
        let third = try PostgreSQLConnection(server.conninfo(), deadline: .seconds(60))
        for each in [connection, other] { each.deadline = .milliseconds(400) }
        server.freeze()
        defer { server.thaw() }
        let run = timed { () throws(PostgreSQLError) in _ = try connection.rows("SELECT 1") }
        #expect(run.0 == .timeout)
        #expect(run.1 < .seconds(20))
        // An end that is nearer than the deadline.
        let limited = timed { () throws(PostgreSQLError) in
            _ = try PostgreSQLConnection(
                server.conninfo(), deadline: .seconds(60), limit: .now + .milliseconds(400))
        }
        #expect(limited.0 == .timeout)
        #expect(limited.1 < .seconds(20))
        third.limit = .now + .milliseconds(400)
        let limitedRun = timed { () throws(PostgreSQLError) in _ = try third.rows("SELECT 1") }
        #expect(limitedRun.0 == .timeout)
        #expect(limitedRun.1 < .seconds(20))
        // More than the socket takes: the writing side waits as well.
        let large = PostgreSQLCall(
            "SELECT length($1::BYTEA)", [.bytes([UInt8](repeating: 1, count: 16 << 20))])
        let write = timed { () throws(PostgreSQLError) in _ = try other.run([large]) }
        #expect(write.0 == .timeout)
        #expect(write.1 < .seconds(20))
        for conninfo in [server.conninfo(), server.loopbackConninfo()] {
            let connect = timed { () throws(PostgreSQLError) in
                _ = try PostgreSQLConnection(conninfo, deadline: .milliseconds(400))
            }
            #expect(connect.0 == .timeout)
            #expect(connect.1 < .seconds(20))
        }
    }

    @Test func aTerminatedBackendIsALostConnection() throws {
        let server = try TestPostgreSQL.shared()
        let connection = try PostgreSQLConnection(server.conninfo(), deadline: .seconds(60))
        let backend = try connection.backend()
        let other = try PostgreSQLConnection(server.conninfo(), deadline: .seconds(60))
        #expect(try other.number("SELECT pg_terminate_backend($1, 30000)", [.int(Int64(backend))]) == 1)
        #expect(kind { () throws(PostgreSQLError) in _ = try connection.rows("SELECT 1") } == .connection)
        #expect(connection.isBroken)
    }

    @Test func aBackendThatIsTerminatedAtWorkSaysWhy() throws {
        let server = try TestPostgreSQL.shared()
        let connection = try PostgreSQLConnection(server.conninfo(), deadline: .seconds(60))
        let backend = try connection.backend()
        let thread = try whenActive(backend, on: server) { Glibc.kill(backend, SIGTERM) }
        let failure = error { () throws(PostgreSQLError) in
            _ = try connection.run(
                ["SELECT 1", "SELECT pg_sleep(600)", "SELECT 2"].map { PostgreSQLCall($0) })
        }
        thread.join()
        #expect(failure?.kind == .connection)
        #expect(failure?.message == "terminating connection due to administrator command")
        #expect(failure?.closedWith == "57P01")
        #expect(connection.isBroken)
    }

    @Test func killsInAPipelineAreLostConnections() throws {
        let server = try TestPostgreSQL()
        try PostgreSQLConnection(server.conninfo(), deadline: .seconds(60)).script(
            "CREATE TABLE t (k BIGINT)")
        for victim in ["backend", "server"] {
            let connection = try PostgreSQLConnection(server.conninfo(), deadline: .seconds(60))
            let backend = try connection.backend()
            let thread = try whenActive(backend, on: server) {
                if victim == "backend" { Glibc.kill(backend, SIGKILL) } else { server.kill() }
            }
            let (kind, time) = timed { () throws(PostgreSQLError) in
                _ = try connection.run([
                    PostgreSQLCall("INSERT INTO t VALUES (1)"), PostgreSQLCall("SELECT pg_sleep(600)"),
                    PostgreSQLCall("INSERT INTO t VALUES (2)"),
                ])
            }
            thread.join()
            #expect(kind == .connection, "\(victim)")
            #expect(time < .seconds(60))
            #expect(connection.isBroken)
            if victim == "server" {
                let refused = timed { () throws(PostgreSQLError) in
                    _ = try PostgreSQLConnection(server.conninfo(), deadline: .seconds(60))
                }
                #expect(refused.0 == .connection)
                #expect(refused.1 < .seconds(10))
            }
            try server.restart()
            let after = try PostgreSQLConnection(server.conninfo(), deadline: .seconds(60))
            #expect(try after.number("SELECT count(*) FROM t") == 0)
        }
    }

    @Test func aRestartBetweenRunsIsNoticed() throws {
        let server = try TestPostgreSQL()
        let connection = try PostgreSQLConnection(server.conninfo(), deadline: .seconds(60))
        #expect(try connection.number("SELECT 1") == 1)
        try server.restart()
        #expect(kind { () throws(PostgreSQLError) in _ = try connection.rows("SELECT 1") } == .connection)
        #expect(connection.isBroken)
    }
}

/// A thread that is joined; what it carries belongs to it alone.
final class Thread: @unchecked Sendable {
    private var handle = pthread_t()
    private let body: () -> Void

    init<Carried>(carrying carried: Carried, _ body: @escaping @Sendable (Carried) -> Void) {
        self.body = { body(carried) }
        pthread_create(
            &handle, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<Thread>.fromOpaque(context).takeRetainedValue().body()
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
    }

    func join() { pthread_join(handle, nil) }
}
