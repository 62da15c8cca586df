import SQLite
import Testing

@Suite struct StatementTests {
    @Test func everyKindOfValueComesBackAsItWasBound() throws {
        let database = try Database(path: ":memory:")
        let values: [SQLiteValue] = [
            .null, .integer(0), .integer(-1), .integer(Int64.max), .integer(Int64.min), .real(1.5), .text(""),
            .text("räv 🦊"), .text("a\0b"), .blob([]), .blob([0, 255, 1]),
        ]
        for value in values {
            let back = try database.first("SELECT ?", value) { $0.value(0) }
            #expect(back == value)
        }
    }

    @Test func bindingsSurviveAResetAndAreGoneFromACachedStatement() throws {
        let database = try Database(path: ":memory:")
        let statement = try database.statement("SELECT ?, ?")
        try statement.bind(1, 7)
        try statement.bind(2, 8)
        #expect(try statement.step())
        statement.reset()
        try statement.bind(2, 9)
        #expect(try statement.step())
        #expect(statement.int(0) == 7)
        #expect(statement.int(1) == 9)
        statement.reset()
        let again = try database.statement("SELECT ?, ?")
        #expect(again === statement)
        #expect(try again.step())
        #expect(again.isNull(0))
    }

    @Test func aCachedStatementThatIsRunningIsNotHandedOutAgain() throws {
        let database = try Database(path: ":memory:")
        try database.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
        var pairs = 0
        try database.query("SELECT a FROM t") { _ in
            try database.query("SELECT a FROM t") { _ in pairs += 1 }
        }
        #expect(pairs == 4)
    }

    @Test func aWrongNumberOfValuesIsAnErrorNotATrap() throws {
        let database = try Database(path: ":memory:")
        #expect(throws: SQLiteError.self) { try database.run("SELECT ?", 1, 2) }
        #expect(throws: SQLiteError.self) { try database.run("") }
    }

    @Test func anErrorNamesCodeOperationAndFileButNoBoundValue() throws {
        let database = try Database(path: ":memory:")
        try database.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT) STRICT")
        try database.run("INSERT INTO t VALUES (?, ?)", 1, "secret")
        do {
            try database.run("INSERT INTO t VALUES (?, ?)", 1, "secret")
            Issue.record("the second row was taken")
        } catch {
            #expect(error.code == .primaryKeyConstraint)
            #expect(error.code.description == "SQLITE_CONSTRAINT_PRIMARYKEY")
            #expect(ResultCode.constraint ~= error.code)
            #expect(error.path == ":memory:")
            #expect(error.operation.contains("INSERT INTO t"))
            #expect(!error.description.contains("secret"))
        }
    }
}

@Suite struct ResultCodeTests {
    // Typed, and not in the attribute: Swift 6.0.3 never finishes with it there.
    static let spellings: [(Int, String)] = [
        (0, "SQLITE_OK"), (13, "SQLITE_FULL"), (10 | 3 << 8, "SQLITE_IOERR_WRITE"),
        (10 | 4 << 8, "SQLITE_IOERR_FSYNC"),
        (8 | 4 << 8, "SQLITE_READONLY_DBMOVED"), (14 | 6 << 8, "SQLITE_CANTOPEN_SYMLINK"),
        (26, "SQLITE_NOTADB"),
        (19 | 8 << 8, "SQLITE_CONSTRAINT_UNIQUE"), (10 | 99 << 8, "SQLITE_IOERR_99"), (77, "SQLITE_77"),
    ]

    @Test(arguments: spellings)
    func codesAreSpeltAsSQLiteSpellsThem(_ number: Int, _ name: String) {
        #expect(ResultCode(rawValue: Int32(number)).description == name)
    }
}
