import PostgreSQL
import PostgreSQLTestSupport
import Testing

@Suite struct ScriptTests {
    @Test func severalStatementsAreOneTransaction() throws {
        let connection = try PostgreSQLConnection.toSharedServer()
        try connection.script(
            "CREATE TEMP TABLE t (k BIGINT); INSERT INTO t VALUES (1), (2); SELECT k FROM t;")
        let failure = error { () throws(PostgreSQLError) in
            try connection.script(
                "INSERT INTO t VALUES (3); INSERT INTO nowhere VALUES (4); INSERT INTO t VALUES (5)")
        }
        #expect(failure?.kind == .server(sqlState: "42P01"))
        #expect(!connection.isBroken && !connection.isInTransaction)
        #expect(try connection.number("SELECT sum(k)::BIGINT FROM t") == 3)
        try connection.script("")
        try connection.script("BEGIN; INSERT INTO t VALUES (10)")
        #expect(connection.isInTransaction)
        try connection.script("COMMIT")
        #expect(try connection.number("SELECT sum(k)::BIGINT FROM t") == 13)
    }

    @Test func aLongScriptIsSentWhole() throws {
        let connection = try PostgreSQLConnection.toSharedServer()
        let padding = "-- " + String(repeating: "x", count: 8 << 20) + "\n"
        try connection.script("CREATE TEMP TABLE t (k BIGINT);\n" + padding + "INSERT INTO t VALUES (1)")
        #expect(try connection.number("SELECT k FROM t") == 1)
    }
}
