import PostgreSQL
import PostgreSQLTestSupport
import Testing

@Suite struct ValueTests {
    private func connect() throws -> PostgreSQLConnection {
        try PostgreSQLConnection(TestPostgreSQL.shared().conninfo(), deadline: .seconds(60))
    }

    /// The one row of a call.
    private func row(_ sql: String, _ parameters: [PostgreSQLValue] = []) throws -> [PostgreSQLValue] {
        let connection = try connect()
        defer { connection.close() }
        let rows = try connection.run([PostgreSQLCall(sql, parameters)])[0].rows
        return try #require(rows.first)
    }

    @Test(arguments: [
        PostgreSQLValue.null, .int(0), .int(1), .int(-1), .int(.max), .int(.min), .int(0x0102_0304_0506_0708),
    ])
    func bigints(_ value: PostgreSQLValue) throws {
        #expect(try row("SELECT $1::BIGINT", [value]) == [value])
    }

    @Test func texts() throws {
        for text in ["", "a", "Zoë ☂ 🚲", String(repeating: "x", count: 100_000)] {
            let value = PostgreSQLValue.text(text)
            #expect(try row("SELECT $1::TEXT, $2::VARCHAR", [value, value]) == [value, value])
        }
    }

    @Test func bytes() throws {
        for bytes in [[], [0], [0, 255, 0, 1], [UInt8](repeating: 0, count: 100_000)] {
            #expect(try row("SELECT $1::BYTEA", [.bytes(bytes)]) == [.bytes(bytes)])
        }
    }

    @Test func nulls() throws {
        #expect(
            try row("SELECT $1::BIGINT, $2::TEXT, $3::BYTEA, $4::BOOLEAN", [.null, .null, .null, .null])
                == [.null, .null, .null, .null])
    }

    @Test func smallerIntegersGoAndComeAsIntegers() throws {
        #expect(
            try row(
                "SELECT $1::INTEGER, $2::SMALLINT, $3::BOOLEAN, $4::BOOLEAN, $5::OID",
                [.int(-2_147_483_648), .int(32_767), .int(1), .int(0), .int(4_294_967_295)])
                == [.int(-2_147_483_648), .int(32_767), .int(1), .int(0), .int(4_294_967_295)])
    }

    @Test func otherReadableColumns() throws {
        #expect(
            try row("SELECT 'n'::NAME, 'c'::CHARACTER(3), 'u', true, 7, 8::SMALLINT, pg_sleep(0)")
                == [.text("n"), .text("c  "), .text("u"), .int(1), .int(7), .int(8), .null])
    }

    @Test func arraysAreParameters() throws {
        let connection = try connect()
        let each =
            "SELECT u.* FROM unnest($1::BIGINT[], $2::TEXT[], $3::BYTEA[]) WITH ORDINALITY AS u ORDER BY 4"
        let numbers: [Int64] = [5, .min, .max]
        let rows = try connection.rows(
            each, [.array(numbers), .array(["", "ä", "b\"{},"]), .array([[], [0, 255], [7] as [UInt8]])])
        #expect(
            rows == [
                [.int(5), .text(""), .bytes([]), .int(1)],
                [.int(.min), .text("ä"), .bytes([0, 255]), .int(2)],
                [.int(.max), .text("b\"{},"), .bytes([7]), .int(3)],
            ])
        let none = try connection.rows(each, [.array([Int64]()), .array([String]()), .array([[UInt8]]())])
        #expect(none.isEmpty)
        #expect(
            try connection.number("SELECT count(*) WHERE $1 = ANY($2::BIGINT[])", [.int(2), .array([1, 2])])
                == 1)
        // The server checks what the bytes are.
        let wrong = kind { () throws(PostgreSQLError) in
            _ = try connection.rows("SELECT 1 WHERE $1::BIGINT[] IS NULL", [.array(["a"])])
        }
        #expect(wrong == .server(sqlState: "42804"))
    }

    /// Values of any kind, from a printed seed, through a table and back.
    @Test func randomRowsSurviveATable() throws {
        let seed = UInt64.random(in: 0...(.max))
        var random = Splitmix(state: seed)
        let connection = try PostgreSQLConnection(
            TestPostgreSQL.shared().makeDatabase(), deadline: .seconds(60))
        try connection.script("CREATE TABLE t (k BIGINT, i BIGINT, s TEXT, b BYTEA)")
        var rows: [[PostgreSQLValue]] = []
        for key in 0..<500 {
            let count = Int.random(in: 0...300, using: &random)
            let text = String(
                (0..<count).map { _ in
                    Character(UnicodeScalar(UInt32.random(in: 1...0xd7ff, using: &random)) ?? "?")
                })
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            let row: [PostgreSQLValue] = [
                .int(.random(in: .min ... .max, using: &random)), .text(text), .bytes(bytes),
            ]
            rows.append(
                [.int(Int64(key))] + row.map { Int.random(in: 0..<10, using: &random) == 0 ? .null : $0 })
        }
        let inserted = try connection.run(
            rows.map { PostgreSQLCall("INSERT INTO t VALUES ($1, $2, $3, $4)", $0) })
        #expect(inserted.allSatisfy { $0.affected == 1 && $0.rows.isEmpty })
        let read = try connection.run([PostgreSQLCall("SELECT k, i, s, b FROM t ORDER BY k")])
        #expect(read[0].rows == rows, "seed \(seed)")
        #expect(read[0].affected == 500)
    }
}

struct Splitmix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
