import SQLite

/// Brings the rows of one table over by queries, around what can't be read.
struct SalvageTable {
    let source: Database
    let target: Database
    let skipsReadErrors: Bool

    /// Row ids that are tried one by one where a part of a table can't be read.
    private static let probeLimit = 20_000

    /// Copies what `accepts`. True when something of the table is damaged, also where nothing shows it but the check.
    func copy(_ table: String, accepts: (Row) -> Bool) throws -> Bool {
        var isDamaged = try isUnsound(table)
        let columns = try target.all("PRAGMA table_info(\(table))") {
            (name: $0.text(1), isInteger: $0.text(2) == "INTEGER", keyPart: $0.int(5))
        }
        let keys = columns.filter { $0.keyPart > 0 }.sorted { $0.keyPart < $1.keyPart }
        let writer = try Writer(target, table, columns: columns.map(\.name))
        try target.execute("BEGIN")
        // STRICT tables refuse what is of another type: such a row is damaged, no more.
        func take(_ row: Statement) throws {
            let row = Row(
                names: writer.columns, values: (0..<writer.columns.count).map { row.value(Int32($0)) })
            guard accepts(row) else { return isDamaged = true }
            if try !writer.write(row.values) { isDamaged = true }
        }
        let order = keys.map(\.name).joined(separator: ", ")
        let backwards = keys.map { $0.name + " DESC" }.joined(separator: ", ")
        if try !scan("SELECT * FROM \(table) NOT INDEXED ORDER BY \(order)", take) {
            isDamaged = true
            _ = try scan("SELECT * FROM \(table) NOT INDEXED ORDER BY \(backwards)", take)
            if keys.count == 1, keys[0].isInteger { try probe(table, keys[0].name, take) }
        }
        try target.execute("COMMIT")
        return isDamaged
    }

    struct Row {
        let names: [String]
        let values: [SQLiteValue]

        func integer(_ name: String) -> Int64? {
            guard let index = names.firstIndex(of: name), case .integer(let value) = values[index] else {
                return nil
            }
            return value
        }

        func text(_ name: String) -> String? {
            guard let index = names.firstIndex(of: name), case .text(let value) = values[index] else {
                return nil
            }
            return value
        }
    }

    // MARK: Helpers

    private func isUnsound(_ table: String) throws -> Bool {
        do throws(SQLiteError) {
            return try source.check(full: true, table: table, within: .seconds(600)) != .sound
        } catch {
            guard canSkip(error) else { throw error }
            return true
        }
    }

    private func canSkip(_ error: SQLiteError) -> Bool {
        switch error.code.primary {
        case .corrupt, .notADatabase: true
        // The table is not in a schema that is damaged.
        case .error: true
        case .ioError: skipsReadErrors
        default: false
        }
    }

    /// False when it ended at something that can't be read.
    private func scan(_ sql: String, _ body: (Statement) throws -> Void) throws -> Bool {
        let statement: Statement
        do throws(SQLiteError) { statement = try source.prepare(sql) } catch {
            guard canSkip(error) else { throw error }
            return false
        }
        while true {
            do throws(SQLiteError) {
                guard try statement.step() else { return true }
            } catch {
                guard canSkip(error) else { throw error }
                return false
            }
            try body(statement)
        }
    }

    /// Seeks into what lies between the readable ends, by halves: a seek meets only the pages on its own way.
    private func probe(_ table: String, _ key: String, _ take: (Statement) throws -> Void) throws {
        let reached = try target.first("SELECT min(\(key)), max(\(key)) FROM \(table)") {
            ($0.optionalInt64(0), $0.optionalInt64(1))
        }
        guard let lowest = reached?.0, let highest = reached?.1, lowest < highest else { return }
        var ranges = [lowest...highest]
        var probes = 0
        while !ranges.isEmpty, probes < Self.probeLimit {
            var next: [ClosedRange<Int64>] = []
            for range in ranges {
                probes += 1
                guard probes < Self.probeLimit else { break }
                let sql =
                    "SELECT * FROM \(table) NOT INDEXED WHERE \(key) BETWEEN \(range.lowerBound) AND \(range.upperBound) ORDER BY \(key)"
                if try scan(sql, take) { continue }
                guard range.lowerBound < range.upperBound else { continue }
                let middle = range.lowerBound + (range.upperBound - range.lowerBound) / 2
                next += [range.lowerBound...middle, (middle + 1)...range.upperBound]
            }
            ranges = next
        }
    }

    private final class Writer {
        let columns: [String]
        private let insert: Statement

        init(_ database: Database, _ table: String, columns: [String]) throws {
            self.columns = columns
            let places = (1...max(1, columns.count)).map { "?\($0)" }.joined(separator: ", ")
            insert = try database.prepare("INSERT OR IGNORE INTO \(table) VALUES (\(places))")
        }

        /// False for a row that the table does not take.
        func write(_ values: [SQLiteValue]) throws(SQLiteError) -> Bool {
            do throws(SQLiteError) {
                try insert.run(values)
                return true
            } catch {
                guard error.code.primary == .constraint || error.code.primary == .mismatch else {
                    throw error
                }
                return false
            }
        }
    }
}
