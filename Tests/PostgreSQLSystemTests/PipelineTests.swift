import PostgreSQL
import PostgreSQLTestSupport
import Testing

@Suite struct PipelineTests {
    private static let table = """
        CREATE TEMP TABLE t (k BIGINT PRIMARY KEY, v TEXT);
        CREATE TEMP TABLE later (k BIGINT REFERENCES t DEFERRABLE INITIALLY DEFERRED);
        """

    private func connect() throws -> PostgreSQLConnection {
        let connection = try PostgreSQLConnection.toSharedServer()
        try connection.script(Self.table)
        return connection
    }

    private func insert(_ key: Int64) -> PostgreSQLCall {
        PostgreSQLCall("INSERT INTO t VALUES ($1, $2)", [.int(key), .text("v\(key)")])
    }

    @Test func resultsComeInOrder() throws {
        let connection = try connect()
        let results = try connection.run([
            insert(1), insert(2), PostgreSQLCall("SELECT k, v FROM t ORDER BY k"),
            PostgreSQLCall("UPDATE t SET v = 'x' WHERE k > $1", [.int(0)]),
            PostgreSQLCall("SELECT 1 WHERE false"),
            PostgreSQLCall(""), PostgreSQLCall("DELETE FROM t WHERE k = 1 RETURNING v"),
        ])
        #expect(results.map(\.affected) == [1, 1, 2, 2, 0, 0, 1])
        #expect(results[2].rows == [[.int(1), .text("v1")], [.int(2), .text("v2")]])
        #expect(results[6].rows == [[.text("x")]])
        #expect(results[4].rows.isEmpty && results[5].rows.isEmpty)
        #expect(try connection.run([]).isEmpty)
    }

    @Test func anErrorUndoesAPipelineOutsideATransaction() throws {
        let connection = try connect()
        _ = try connection.run([insert(7)])
        let failure = error { () throws(PostgreSQLError) in
            _ = try connection.run([insert(1), insert(7), insert(2), PostgreSQLCall("SELECT 1 / 0")])
        }
        #expect(failure?.kind == .server(sqlState: "23505"))
        #expect(failure?.message == "duplicate key value violates unique constraint \"t_pkey\"")
        #expect(!connection.isBroken && !connection.isInTransaction)
        #expect(try connection.rows("SELECT k FROM t") == [[.int(7)]])
    }

    @Test func aCommitThatFailsIsNoSuccess() throws {
        let connection = try connect()
        let failure = kind { () throws(PostgreSQLError) in
            _ = try connection.run([insert(1), PostgreSQLCall("INSERT INTO later VALUES (5)")])
        }
        #expect(failure == .server(sqlState: "23503"))
        #expect(!connection.isBroken)
        #expect(try connection.number("SELECT count(*) FROM t") == 0)
    }

    @Test func whatIsCommittedInAPipelineStays() throws {
        let connection = try connect()
        let failure = kind { () throws(PostgreSQLError) in
            _ = try connection.run([
                PostgreSQLCall("BEGIN"), insert(1), PostgreSQLCall("COMMIT"), insert(2), insert(2),
            ])
        }
        #expect(failure == .server(sqlState: "23505"))
        #expect(try connection.rows("SELECT k FROM t") == [[.int(1)]])
    }

    @Test func aTransactionSpansRuns() throws {
        let connection = try connect()
        let other = try connect()
        #expect(!connection.isInTransaction)
        _ = try connection.run([PostgreSQLCall("BEGIN"), insert(1)])
        #expect(connection.isInTransaction)
        _ = try connection.run([insert(2)])
        #expect(connection.isInTransaction && !other.isInTransaction)
        _ = try connection.run([PostgreSQLCall("COMMIT")])
        #expect(!connection.isInTransaction)
        _ = try connection.run([PostgreSQLCall("BEGIN"), insert(3)])
        _ = try connection.run([PostgreSQLCall("ROLLBACK")])
        #expect(try connection.rows("SELECT k FROM t ORDER BY k") == [[.int(1)], [.int(2)]])
    }

    @Test func afterAnErrorATransactionWaitsForItsRollback() throws {
        let connection = try connect()
        let first = kind { () throws(PostgreSQLError) in
            _ = try connection.run([PostgreSQLCall("BEGIN"), insert(1), insert(1)])
        }
        #expect(first == .server(sqlState: "23505"))
        #expect(connection.isInTransaction && !connection.isBroken)
        // Neither a known statement nor a new one.
        let second = kind { () throws(PostgreSQLError) in _ = try connection.run([insert(2)]) }
        #expect(second == .server(sqlState: "25P02"))
        let third = kind { () throws(PostgreSQLError) in _ = try connection.rows("SELECT k FROM later") }
        #expect(third == .server(sqlState: "25P02"))
        _ = try connection.run([PostgreSQLCall("ROLLBACK"), insert(3)])
        #expect(!connection.isInTransaction)
        #expect(try connection.rows("SELECT k FROM t") == [[.int(3)]])
        #expect(try connection.rows("SELECT k FROM later").isEmpty)
    }

    @Test func aStatementThatCantBePreparedRunsNothing() throws {
        let connection = try connect()
        let failure = error { () throws(PostgreSQLError) in
            _ = try connection.run([insert(1), PostgreSQLCall("SELECT nothing FROM nowhere"), insert(2)])
        }
        #expect(failure?.kind == .server(sqlState: "42P01"))
        #expect(failure?.message == "relation \"nowhere\" does not exist")
        #expect(try connection.number("SELECT count(*) FROM t") == 0)
        let known = "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE 'INSERT INTO t %'"
        #expect(try connection.number(known) == 1)
        // What was prepared before it is known, and once it can be prepared it is.
        try connection.script("CREATE TEMP TABLE nowhere (nothing BIGINT)")
        #expect(try connection.run([insert(1), PostgreSQLCall("SELECT nothing FROM nowhere")]).count == 2)
        #expect(try connection.number(known) == 1)
    }

    @Test func noValueIsInAMessage() throws {
        let connection = try connect()
        _ = try connection.run([PostgreSQLCall("INSERT INTO t VALUES (4711, 'v')")])
        let failing = [
            ("INSERT INTO t VALUES ($1, 'v')", PostgreSQLValue.int(4711)),
            ("INSERT INTO later VALUES ($1)", .int(47_110_815)),
            ("SELECT ($1::TEXT)::BIGINT", .text("secret4711\" 4711 \"4711")),
            ("SELECT ($1::TEXT)::SMALLINT", .text("471100000000")),
            ("SELECT ($1::TEXT)::JSONB IS NULL", .text("{\"4711")),
            ("SELECT ($1::TEXT)::DATE IS NULL", .text("4711-47-11")),
        ]
        for (sql, value) in failing {
            let failure = error { () throws(PostgreSQLError) in _ = try connection.rows(sql, [value]) }
            let thrown = try #require(failure)
            guard case .server = thrown.kind else {
                Issue.record("\(thrown)")
                continue
            }
            #expect(!"\(thrown)".contains("4711"))
        }
    }

    /// Far more than the buffers of a socket in both directions at once: each side would wait for the other.
    @Test func largePipelinesDoNotDeadlock() throws {
        let server = try TestPostgreSQL(onLoopback: true)
        for conninfo in [server.conninfo(), server.loopbackConninfo()] {
            let connection = try PostgreSQLConnection(conninfo, deadline: .seconds(60))
            let calls = (0..<12).map { number in
                PostgreSQLCall(
                    "SELECT $1::BYTEA, $2::BIGINT",
                    [.bytes([UInt8](repeating: UInt8(number), count: 4 << 20)), .int(Int64(number))])
            }
            let results = try connection.run(calls)
            #expect(results.count == 12)
            for (call, result) in zip(calls, results) { #expect(result.rows == [call.parameters]) }
            let many = try connection.run(
                (0..<20_000).map { PostgreSQLCall("SELECT $1::BIGINT", [.int($0)]) })
            #expect(many.map(\.rows) == (0..<20_000).map { [[.int($0)]] })
        }
    }
}
