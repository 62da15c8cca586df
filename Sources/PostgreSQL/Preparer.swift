import CPostgreSQL

/// Prepares statements, each once, and finds them again by their text.
struct Preparer {
    /// Statements of one connection: more than the server has, and a bound for what it keeps for us.
    private static let capacity = 256
    private static let forgottenLimit = 1024

    private var cache = RecentCache<Statement>(capacity: Self.capacity)
    /// Prepared at the server, but not used any more; freed there when no transaction could suffer from it.
    /// When it is full, the server keeps the others until the connection ends.
    private var forgotten: [String] = []
    private var number = 0
    /// Behind a pooler the connections of several clients share a session at the server: names must not meet.
    private let prefix = "bf_" + String(UInt64.random(in: 0...(.max)), radix: 16) + "_"

    mutating func statements(
        for calls: [PostgreSQLCall], on exchange: Exchange
    ) throws(PostgreSQLError) -> [Statement] {
        var found: [Statement?] = []
        found.reserveCapacity(calls.count)
        var missing: [String] = []
        for call in calls {
            let statement = cache.find(call.sql)
            found.append(statement)
            if statement == nil, !missing.contains(call.sql) { missing.append(call.sql) }
        }
        if !missing.isEmpty {
            try freeForgotten(on: exchange)
            let prepared = try prepare(missing, on: exchange)
            for index in found.indices where found[index] == nil { found[index] = prepared[calls[index].sql] }
        }
        return found.compactMap { $0 }
    }

    /// A statement that a failure shows to be stale is prepared again at the next use. Which others are, nobody says.
    mutating func note(sqlState: String) {
        switch sqlState {
        // "cached plan must not change result type"
        case "0A000": forget(cache.removeAll().map(\.name))
        // A pooler or DISCARD took them away.
        case "26000":
            _ = cache.removeAll()
            forgotten = []
        default: break
        }
    }

    private mutating func prepare(
        _ texts: [String], on exchange: Exchange
    ) throws(PostgreSQLError) -> [String: Statement] {
        var names: [String] = []
        for sql in texts {
            guard !sql.utf8.contains(0) else {
                throw PostgreSQLError(kind: .misuse, message: "a zero byte in the SQL")
            }
            number += 1
            names.append(prefix + String(number))
        }
        for (sql, name) in zip(texts, names) {
            // Types of parameters are the server's to infer.
            guard PQsendPrepare(exchange.handle, name, sql, 0, nil) == 1,
                PQsendDescribePrepared(exchange.handle, name) == 1
            else { throw exchange.lost() }
        }
        var prepared: [String: Statement] = [:]
        var parsed = 0
        let outcome = Result { () throws(PostgreSQLError) in
            try exchange.pipeline(of: 2 * texts.count) { index, result in
                let place = index / 2
                if index.isMultiple(of: 2) {
                    parsed = place + 1
                } else {
                    prepared[texts[place]] = Statement(name: names[place], description: result)
                }
            }
        }
        for (sql, statement) in prepared {
            if let displaced = cache.insert(statement, for: sql) { forget([displaced.name]) }
        }
        if parsed > prepared.count { forget([names[parsed - 1]]) }
        try outcome.get()
        return prepared
    }

    private mutating func freeForgotten(on exchange: Exchange) throws(PostgreSQLError) {
        guard !forgotten.isEmpty, PQtransactionStatus(exchange.handle) == PQTRANS_IDLE else { return }
        for name in forgotten {
            guard PQsendQueryParams(exchange.handle, "DEALLOCATE " + name, 0, nil, nil, nil, nil, 0) == 1
            else {
                throw exchange.lost()
            }
        }
        let count = forgotten.count
        forgotten = []
        do throws(PostgreSQLError) {
            try exchange.pipeline(of: count) { _, _ in }
        } catch {
            // One that is gone already is as good as freed.
            guard case .server = error.kind, exchange.isInStep else { throw error }
        }
    }

    private mutating func forget(_ names: [String]) {
        forgotten.append(contentsOf: names.prefix(max(0, Self.forgottenLimit - forgotten.count)))
    }
}
