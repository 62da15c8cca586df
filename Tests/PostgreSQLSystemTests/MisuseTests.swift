import PostgreSQL
import PostgreSQLTestSupport
import Testing

/// What is the caller's mistake is found before anything runs, and the connection goes on.
@Suite struct MisuseTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var sql: String
        var parameters: [PostgreSQLValue] = []
        var words: [String]

        var testDescription: String { String(sql.prefix { $0 != "\0" }) }
    }

    static let cases = [
        Case(sql: "SELECT 1 AS one, 2.5 AS fraction", words: ["column 2", "fraction", "NUMERIC", "cast"]),
        Case(sql: "SELECT now() AS stamp", words: ["column 1", "stamp", "TIMESTAMPTZ", "cast"]),
        Case(sql: "SELECT '10.0.0.1'::inet AS host", words: ["host", "OID 869", "cast"]),
        Case(sql: "SELECT ARRAY[1::BIGINT] AS list", words: ["list", "BIGINT[]", "cast"]),
        Case(
            sql: "SELECT 1 WHERE $1::BIGINT[] IS NULL", parameters: [.int(1)],
            words: ["$1", "BIGINT[]", "integer"]),
        Case(sql: "SELECT $1::BIGINT", words: ["0 values for 1 parameters"]),
        Case(sql: "SELECT 1", parameters: [.null], words: ["1 values for 0 parameters"]),
        Case(sql: "SELECT $1::BIGINT", parameters: [.text("secret")], words: ["$1", "BIGINT", "text"]),
        Case(
            sql: "SELECT $1::TEXT, $2::TEXT", parameters: [.null, .int(9)], words: ["$2", "TEXT", "integer"]),
        Case(sql: "SELECT $1::TEXT", parameters: [.bytes([1])], words: ["$1", "TEXT", "bytes"]),
        Case(sql: "SELECT $1::BYTEA", parameters: [.text("secret")], words: ["$1", "BYTEA", "text"]),
        Case(sql: "SELECT $1::UUID IS NULL", parameters: [.text("secret")], words: ["$1", "UUID", "cast"]),
        Case(sql: "SELECT $1::INTEGER", parameters: [.int(2_147_483_648)], words: ["$1", "INTEGER"]),
        Case(sql: "SELECT $1::SMALLINT", parameters: [.int(-32_769)], words: ["$1", "SMALLINT"]),
        Case(sql: "SELECT $1::BOOLEAN", parameters: [.int(2)], words: ["$1", "BOOLEAN"]),
        Case(sql: "SELECT $1::OID", parameters: [.int(-1)], words: ["$1", "OID"]),
        Case(sql: "SELECT 1\0", words: ["zero byte"]),
    ]

    @Test(arguments: cases) func isNamedAndRunsNothing(_ wrong: Case) throws {
        let connection = try PostgreSQLConnection.toSharedServer()
        try connection.script("CREATE TEMP TABLE t (k BIGINT)")
        let insert = PostgreSQLCall("INSERT INTO t VALUES (1)")
        let failure = error { () throws(PostgreSQLError) in
            _ = try connection.run([insert, PostgreSQLCall(wrong.sql, wrong.parameters)])
        }
        let thrown = try #require(failure)
        #expect(thrown.kind == .misuse)
        for word in wrong.words { #expect(thrown.message.contains(word), "\(thrown.message)") }
        #expect(!thrown.message.contains("secret"))
        // Also when the statement is known already.
        let again = error { () throws(PostgreSQLError) in
            _ = try connection.run([insert, PostgreSQLCall(wrong.sql, wrong.parameters)])
        }
        #expect(again?.kind == .misuse)
        #expect(!connection.isBroken)
        #expect(try connection.number("SELECT count(*) FROM t") == 0)
    }

    @Test func copyIsNotDoneHere() throws {
        let server = try TestPostgreSQL.shared()
        for sql in ["COPY pg_class TO STDOUT", "COPY pg_class (oid) FROM STDIN"] {
            let script = try PostgreSQLConnection(server.conninfo(), deadline: .seconds(60))
            #expect(kind { () throws(PostgreSQLError) in try script.script(sql) } == .misuse)
            #expect(script.isBroken)
            let run = try PostgreSQLConnection(server.conninfo(), deadline: .seconds(60))
            #expect(kind { () throws(PostgreSQLError) in _ = try run.run([PostgreSQLCall(sql)]) } != nil)
        }
    }

    @Test func aClosedConnectionSaysSo() throws {
        let connection = try PostgreSQLConnection(TestPostgreSQL.shared().conninfo(), deadline: .seconds(60))
        connection.close()
        connection.close()
        #expect(!connection.isBroken)
        #expect(!connection.isInTransaction)
        #expect(kind { () throws(PostgreSQLError) in try connection.script("SELECT 1") } == .misuse)
    }
}
