/// A value of a column or a parameter. Both engines keep integers with 64 bits.
enum SQLValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case text(String)
    case bytes([UInt8])

    static func int(_ value: some BinaryInteger) -> Self { .integer(Int64(value)) }
    static func optional(_ value: (some BinaryInteger)?) -> Self {
        value.map { .integer(Int64($0)) } ?? .null
    }
    static func optional(_ value: String?) -> Self { value.map(Self.text) ?? .null }
    static func optional(_ value: [UInt8]?) -> Self { value.map(Self.bytes) ?? .null }

    /// Roughly what it takes in a row.
    var size: Int {
        switch self {
        case .null: 0
        case .integer: 8
        case .text(let text): text.utf8.count
        case .bytes(let bytes): bytes.count
        }
    }
}

/// One statement with its values: parameter `$1` is the first.
struct SQLCall: Sendable {
    let text: String
    let values: [SQLValue]

    init(_ statement: some SQLStatement, _ values: SQLValue...) {
        text = statement.text
        self.values = values
    }
}

/// What a call came to.
struct SQLResult: Sendable {
    var rows: [SQLRow] = []
}

/// One row. A column that is not what its table says it is reads as damage, never as a trap.
struct SQLRow: Sendable {
    let values: [SQLValue]

    init(_ values: [SQLValue]) { self.values = values }

    private func damage(_ column: Int) -> StorageFailure {
        StorageFailure(.damaged, "column \(column + 1) of a row is not of its type")
    }

    func int64(_ column: Int) throws(StorageFailure) -> Int64 {
        guard column < values.count, case .integer(let value) = values[column] else { throw damage(column) }
        return value
    }

    func int(_ column: Int) throws(StorageFailure) -> Int { Int(try int64(column)) }

    func text(_ column: Int) throws(StorageFailure) -> String {
        guard column < values.count, case .text(let value) = values[column] else { throw damage(column) }
        return value
    }

    func bytes(_ column: Int) throws(StorageFailure) -> [UInt8] {
        guard column < values.count, case .bytes(let value) = values[column] else { throw damage(column) }
        return value
    }

    func isNull(_ column: Int) -> Bool { column >= values.count || values[column] == .null }

    func optionalInt64(_ column: Int) throws(StorageFailure) -> Int64? {
        isNull(column) ? nil : try int64(column)
    }
    func optionalInt(_ column: Int) throws(StorageFailure) -> Int? { isNull(column) ? nil : try int(column) }
    func optionalText(_ column: Int) throws(StorageFailure) -> String? {
        isNull(column) ? nil : try text(column)
    }
    func optionalBytes(_ column: Int) throws(StorageFailure) -> [UInt8]? {
        isNull(column) ? nil : try bytes(column)
    }

    /// A seq in its column.
    func seq(_ column: Int) throws(StorageFailure) -> UInt32 {
        guard let seq = UInt32(exactly: try int64(column)) else { throw damage(column) }
        return seq
    }
}
