import GatewayModel
import SQLite

/// Brings samples over, page by page: also what hangs on pages that are damaged, which no query finds any more.
struct SalvageSamples {
    let source: Database
    let target: Database
    let file: PageFile
    /// Rows of `rings` that are known: a sample of another says not whose it is.
    let rings: Set<Int64>

    struct Outcome {
        var orphans = 0
        var isDamaged = false
    }

    /// Rows of one transaction.
    private static let batch = 20_000

    func copy() throws -> Outcome {
        let columns = try target.all("PRAGMA table_info(samples)") { $0.text(1) }
        let writer = try SalvageWriter(target, columns: columns, rings: rings)
        var outcome = Outcome()
        var visited = [Bool](repeating: false, count: Int(file.pageCount) + 1)
        try target.execute("BEGIN")
        var pending = 0
        func take(_ rows: [BTreeRow]) throws {
            for row in rows {
                switch try writer.write(row) {
                case .written, .known: break
                case .orphan: outcome.orphans += 1
                case .implausible: outcome.isDamaged = true
                }
            }
            pending += rows.count
            guard pending >= Self.batch else { return }
            try target.execute("COMMIT; BEGIN")
            pending = 0
        }
        let root = try? source.first("SELECT rootpage FROM sqlite_schema WHERE name = 'samples'") {
            $0.int(0)
        }
        var stack: [UInt32] = []
        if let root = root.flatMap({ $0 }), let page = UInt32(exactly: root) {
            stack = [page]
        } else {
            outcome.isDamaged = true
        }
        while let number = stack.popLast() {
            guard number <= file.pageCount, !visited[Int(number)] else {
                outcome.isDamaged = true
                continue
            }
            visited[Int(number)] = true
            guard let bytes = try file.page(number),
                let page = BTreePage(bytes, columns: columns.count, pageCount: file.pageCount)
            else {
                outcome.isDamaged = true
                continue
            }
            switch page {
            case .interior(let children): stack += children.reversed()
            case .leaf(let rows): try take(rows)
            }
        }
        if outcome.isDamaged {
            // A page whose parent is damaged hangs on nothing. What was freed must not come to life again.
            let free = try file.freePages()
            for number in 2...max(2, file.pageCount) where number <= file.pageCount {
                guard !visited[Int(number)], !free.contains(number), let bytes = try file.page(number),
                    case .leaf(let rows)? = BTreePage(
                        bytes, columns: columns.count, pageCount: file.pageCount),
                    rows.allSatisfy({ writer.isSample($0) })
                else { continue }
                try take(rows)
            }
        }
        try target.execute("COMMIT")
        return outcome
    }
}

/// Writes rows of `samples` as they were read from a page.
private final class SalvageWriter {
    enum Outcome {
        case written
        case known
        case orphan
        case implausible
    }

    private let insert: Statement
    private let database: Database
    private let rings: Set<Int64>
    private let count: Int
    private let index: [String: Int]

    init(_ database: Database, columns: [String], rings: Set<Int64>) throws {
        self.database = database
        self.rings = rings
        count = columns.count
        index = Dictionary(uniqueKeysWithValues: columns.enumerated().map { ($1, $0) })
        let places = (1...max(1, columns.count)).map { "?\($0)" }.joined(separator: ", ")
        insert = try database.prepare("INSERT OR IGNORE INTO samples VALUES (\(places))")
    }

    func write(_ row: BTreeRow) throws -> Outcome {
        guard isSample(row) else { return .implausible }
        guard rings.contains(SampleKey(packed: row.rowID).ring) else { return .orphan }
        try insert.bind(1, row.rowID)
        for column in 1..<count {
            try insert.bind(
                Int32(column + 1), optional: column < row.values.count ? row.values[column] : nil)
        }
        try insert.run()
        return database.changes == 1 ? .written : .known
    }

    /// What could be a row of `samples`: no other table has such keys.
    func isSample(_ row: BTreeRow) -> Bool {
        func value(_ name: String) -> Int64? {
            index[name].flatMap { row.values.indices.contains($0) ? row.values[$0] : nil }
        }
        func has(_ name: String, in range: ClosedRange<Int64>) -> Bool {
            value(name).map { range.contains($0) } ?? false
        }
        let times = -4_000_000_000_000_000...4_000_000_000_000_000 as ClosedRange<Int64>
        return row.rowID >> 40 >= 1 && row.values.first == .some(nil)
            && has("value", in: Int64(Int32.min)...Int64(Int32.max)) && has("recorded_at", in: times)
            && has("band_time", in: times) && has("clock_id", in: 0...65_535) && has("flags", in: 0...255)
            && has("version", in: 1...Int64(Int32.max)) && has("provenance", in: 0...255)
            && has("time_uncertain", in: 0...1)
    }
}
