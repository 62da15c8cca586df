import PostgreSQL
import PostgreSQLTestSupport
import Testing

@Suite struct PreparingTests {
    private static let prepared = "SELECT count(*) FROM pg_prepared_statements"

    @Test func eachTextIsPreparedOnce() throws {
        let connection = try PostgreSQLConnection.toSharedServer()
        let call = PostgreSQLCall("SELECT $1::BIGINT", [.int(1)])
        _ = try connection.run([call, call, PostgreSQLCall("SELECT 2"), call])
        #expect(try connection.number(Self.prepared) == 3)
        for _ in 0..<10 { _ = try connection.run([call, call]) }
        #expect(try connection.number(Self.prepared) == 3)
    }

    @Test func neitherSideKeepsMoreThanTheBound() throws {
        let connection = try PostgreSQLConnection.toSharedServer()
        // One run with more statements than are kept, twice, then one at a time.
        for _ in 0..<2 {
            let results = try connection.run((0..<300).map { PostgreSQLCall("SELECT \($0)::BIGINT") })
            #expect(results.map(\.rows) == (0..<300).map { [[.int($0)]] })
        }
        for number in Int64(300)..<400 {
            #expect(try connection.number("SELECT \(number)::BIGINT") == number)
        }
        // What is not used any more is freed when the next one is prepared.
        let kept = try connection.number(Self.prepared)
        #expect(kept ?? 0 > 200 && kept ?? 999 <= 258, "\(kept ?? -1)")
    }

    @Test func whatIsUsedOftenStays() throws {
        let connection = try PostgreSQLConnection.toSharedServer()
        let usual = "SELECT 'usual'"
        _ = try connection.rows(usual)
        let when =
            "SELECT (extract(epoch FROM prepare_time) * 1000000)::BIGINT FROM pg_prepared_statements WHERE statement = $1"
        let first = try connection.number(when, [.text(usual)])
        for number in 0..<600 {
            _ = try connection.run([PostgreSQLCall("SELECT \(number)"), PostgreSQLCall(usual)])
        }
        #expect(first != nil)
        #expect(try connection.number(when, [.text(usual)]) == first)
    }

    @Test func aStalePlanIsForgotten() throws {
        let connection = try PostgreSQLConnection.toSharedServer()
        try connection.script("CREATE TEMP TABLE t (k BIGINT); INSERT INTO t VALUES (1)")
        #expect(try connection.rows("SELECT * FROM t") == [[.int(1)]])
        #expect(try connection.rows("SELECT * FROM t WHERE k = $1", [.int(1)]) == [[.int(1)]])
        try connection.script("ALTER TABLE t ADD v TEXT DEFAULT 'v'")
        let failure = kind { () throws(PostgreSQLError) in _ = try connection.rows("SELECT * FROM t") }
        #expect(failure == .server(sqlState: "0A000"))
        #expect(try connection.rows("SELECT * FROM t") == [[.int(1), .text("v")]])
        #expect(try connection.rows("SELECT * FROM t WHERE k = $1", [.int(1)]) == [[.int(1), .text("v")]])
        #expect(try connection.number("\(Self.prepared) WHERE statement = 'SELECT * FROM t'") == 1)
    }

    /// The types of parameters and columns may change while the text does not.
    @Test func aChangedTypeIsLearntAgain() throws {
        let connection = try PostgreSQLConnection.toSharedServer()
        try connection.script("CREATE TEMP TABLE t (k INTEGER)")
        let insert = PostgreSQLCall("INSERT INTO t VALUES ($1) RETURNING k", [.int(5)])
        #expect(try connection.run([insert])[0].rows == [[.int(5)]])
        try connection.script("ALTER TABLE t ALTER k TYPE BIGINT")
        let failure = kind { () throws(PostgreSQLError) in _ = try connection.run([insert]) }
        #expect(failure == .server(sqlState: "0A000"))
        #expect(try connection.run([insert])[0].rows == [[.int(5)]])
    }

    @Test func statementsThatWentAreForgotten() throws {
        let connection = try PostgreSQLConnection.toSharedServer()
        let calls = ["SELECT 1", "SELECT 2", "SELECT 3"].map { PostgreSQLCall($0) }
        _ = try connection.run(calls)
        for taking in ["DISCARD ALL", "DEALLOCATE ALL"] {
            try connection.script(taking)
            let failure = kind { () throws(PostgreSQLError) in _ = try connection.run(calls) }
            #expect(failure == .server(sqlState: "26000"))
            #expect(try connection.run(calls).map(\.rows) == [[[.int(1)]], [[.int(2)]], [[.int(3)]]])
        }
    }

    /// Freeing what is not used any more must not end a transaction.
    @Test func noTransactionSuffersFromWhatIsForgotten() throws {
        let connection = try PostgreSQLConnection.toSharedServer()
        _ = try connection.run((0..<256).map { PostgreSQLCall("SELECT \($0)") })
        _ = try connection.run((256..<300).map { PostgreSQLCall("SELECT \($0)") })
        // What it would free is not there: freeing fails.
        try connection.script("DEALLOCATE ALL; BEGIN; CREATE TEMP TABLE t (k BIGINT)")
        _ = try connection.run([PostgreSQLCall("INSERT INTO t VALUES (1)")])
        #expect(connection.isInTransaction)
        _ = try connection.run([PostgreSQLCall("COMMIT")])
        #expect(try connection.number("SELECT k FROM t") == 1)
    }
}
