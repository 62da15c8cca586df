import Foundation
import Testing

@testable import SQLite

@Suite struct BTreePageTests {
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("a.db")
    }

    /// Rows of all lengths, with holes where some were deleted, read by queries.
    private func make(_ count: Int) throws -> [BTreeRow] {
        let database = try Database(path: path)
        try database.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER, b INTEGER, c INTEGER)")
        try database.transaction {
            for number in 0..<count {
                let value = Int64(1) << Int64(number % 63)
                try database.run(
                    "INSERT INTO t VALUES (?, ?, ?, ?)", .int(number * 3 - 40), .integer(value),
                    .integer(-value), number % 5 == 0 ? nil : .int(number % 2))
            }
            try database.run("DELETE FROM t WHERE id % 7 = 1")
        }
        return try database.all("SELECT * FROM t ORDER BY id") { row in
            BTreeRow(rowID: row.int64(0), values: [nil] + (1..<4).map { row.optionalInt64($0) })
        }
    }

    private func pages() throws -> [[UInt8]] {
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        return stride(from: 0, to: bytes.count, by: 4_096).map { Array(bytes[$0..<($0 + 4_096)]) }
    }

    private func read(_ page: [UInt8]) throws -> BTreePage? {
        BTreePage(page, columns: 4, pageCount: UInt32(try pages().count))
    }

    @Test(arguments: [0, 1, 40, 20_000]) func whatQueriesReadIsInThePages(_ count: Int) throws {
        let rows = try make(count)
        var found: [BTreeRow] = []
        var children: Set<UInt32> = []
        var others = 0
        for page in try pages().dropFirst() {
            switch try read(page) {
            case .leaf(let rows): found += rows
            case .interior(let pages): children.formUnion(pages)
            case nil: others += 1
            }
        }
        #expect(found.sorted { $0.rowID < $1.rowID } == rows)
        let free = try Int(Database(path: path).pragma("freelist_count"))
        #expect(others == free)
        // All but the first, the table's root, which is page 2, and the free ones.
        let below = count > 1_000 ? try pages().count - 2 - others : 0
        #expect(children.count == below)
    }

    @Test func aPageIsTakenAsAWholeOrNotAtAll() throws {
        _ = try make(20_000)
        var random = SystemRandomNumberGenerator()
        let whole = try pages()
        for number in 1..<min(40, whole.count) {
            for start in stride(from: 0, to: 4_096, by: 512) {
                for fill in [UInt8(0), 0xff, 0x5a] {
                    var page = whole[number]
                    for index in start..<(start + 512) {
                        page[index] = fill == 0x5a ? .random(in: 0...255, using: &random) : fill
                    }
                    // Where only unused bytes were hit, it is what it was.
                    let found = try read(page)
                    let original = try read(whole[number])
                    #expect(found == nil || found == original)
                }
            }
        }
    }

    /// Never a trap, whatever the bytes.
    @Test func anyBytesAreRead() throws {
        _ = try make(20_000)
        var random = SystemRandomNumberGenerator()
        let whole = try pages()
        for _ in 0..<2_000 {
            var page = whole[Int.random(in: 1..<whole.count, using: &random)]
            for _ in 0..<Int.random(in: 1...20, using: &random) {
                page[Int.random(in: 0..<4_096, using: &random)] = .random(in: 0...255, using: &random)
            }
            _ = try read(page)
        }
        for count in [0, 1, 7, 8, 99, 100, 4_095] {
            _ = BTreePage(Array(whole[1].prefix(count)), columns: 4, pageCount: 9)
            _ = BTreePage(Array(whole[1].prefix(count)), isFirst: true, columns: 4, pageCount: 9)
        }
    }

    @Test func anotherTablesPageIsNotTaken() throws {
        let database = try Database(path: path)
        try database.execute(
            """
            CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('a');
            CREATE TABLE u (a REAL); INSERT INTO u VALUES (0.5);
            CREATE TABLE v (a, b, c, d, e); INSERT INTO v VALUES (1, 2, 3, 4, 5);
            CREATE TABLE w (a PRIMARY KEY) WITHOUT ROWID; INSERT INTO w VALUES (1)
            """)
        for page in try pages().dropFirst() { #expect(try read(page) == nil) }
    }
}
