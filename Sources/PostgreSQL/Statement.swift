import CPostgreSQL

/// A prepared statement of one connection, as the server described it.
final class Statement {
    let name: String
    let parameters: [TypeKind]
    let columns: [TypeKind]
    /// Why it can't be used: a column that nothing here reads.
    let misuse: String?

    /// - Parameter description: the result of PQsendDescribePrepared.
    init(name: String, description: OpaquePointer) {
        self.name = name
        parameters = (0..<PQnparams(description)).map { TypeKind(oid: PQparamtype(description, $0)) }
        columns = (0..<PQnfields(description)).map { TypeKind(oid: PQftype(description, $0)) }
        var misuse: String?
        for (index, column) in columns.enumerated() {
            guard misuse == nil, !column.isReadable else { continue }
            let title = PQfname(description, Int32(index)).map { String(cString: $0) } ?? ""
            misuse = """
                column \(index + 1) ("\(title)") is \(column.name), which is not read here; \
                cast it in the SQL to BIGINT, TEXT or BYTEA
                """
        }
        self.misuse = misuse
    }

    /// MaxAllocSize in PostgreSQL 15, memutils.h: a value in the server's memory.
    private static let largest = 0x3fff_ffff

    /// Why these parameters can't be sent; nil when they can.
    func complaint(about values: [PostgreSQLValue]) -> String? {
        if let misuse { return misuse }
        guard values.count == parameters.count else {
            return "\(values.count) values for \(parameters.count) parameters"
        }
        for (index, (value, kind)) in zip(values, parameters).enumerated() {
            let place = "parameter $\(index + 1)"
            guard value.size <= Self.largest else { return "\(place) is larger than a field can be, 1 GB" }
            switch (value, kind) {
            case (.null, _), (.text, .text), (.bytes, .bytes), (.bytes, .array): continue
            case (.int(let number), _):
                guard let range = kind.integers else {
                    return "\(place) is \(kind.name) and was given an integer; cast it in the SQL"
                }
                guard range.contains(number) else { return "\(place) does not fit \(kind.name)" }
            case (.text, _): return "\(place) is \(kind.name) and was given text; cast it in the SQL"
            case (.bytes, _): return "\(place) is \(kind.name) and was given bytes; cast it in the SQL"
            }
        }
        return nil
    }

    /// The rows of a result of this statement, which came in binary form; nil when they are not as described.
    func decode(_ result: OpaquePointer) -> PostgreSQLResult? {
        let count = PQntuples(result)
        guard Int(PQnfields(result)) == columns.count else { return nil }
        var decoded = PostgreSQLResult(affected: Self.affected(result))
        guard count > 0 else { return decoded }
        decoded.rows.reserveCapacity(Int(count))
        var isAsDescribed = true
        for row in 0..<count {
            decoded.rows.append(
                [PostgreSQLValue](unsafeUninitializedCapacity: columns.count) { cells, initialized in
                    for (column, kind) in columns.enumerated() {
                        let value = Self.value(result, row, Int32(column), kind)
                        if value == nil { isAsDescribed = false }
                        cells.initializeElement(at: column, to: value ?? .null)
                    }
                    initialized = columns.count
                })
        }
        return isAsDescribed ? decoded : nil
    }

    @inline(__always)
    private static func value(
        _ result: OpaquePointer, _ row: Int32, _ column: Int32, _ kind: TypeKind
    ) -> PostgreSQLValue? {
        if PQgetisnull(result, row, column) != 0 { return .null }
        guard let start = PQgetvalue(result, row, column) else { return nil }
        let bytes = UnsafeRawBufferPointer(start: start, count: Int(PQgetlength(result, row, column)))
        func integer<Number: FixedWidthInteger>(_: Number.Type) -> PostgreSQLValue? {
            guard bytes.count == MemoryLayout<Number>.size else { return nil }
            return .int(Int64(Number(bigEndian: bytes.loadUnaligned(as: Number.self))))
        }
        switch kind {
        case .int8: return integer(Int64.self)
        case .int4: return integer(Int32.self)
        case .int2: return integer(Int16.self)
        case .oid: return integer(UInt32.self)
        case .bool: return integer(UInt8.self)
        case .text: return .text(String(decoding: bytes, as: UTF8.self))
        case .bytes: return .bytes([UInt8](bytes))
        case .void: return .null
        case .array, .other: return nil
        }
    }

    /// PQcmdTuples gives digits, or nothing for a statement that has no count.
    private static func affected(_ result: OpaquePointer) -> Int {
        guard var digit = PQcmdTuples(result) else { return 0 }
        var count = 0
        while digit.pointee >= 0x30, digit.pointee <= 0x39 {
            count = count &* 10 &+ Int(digit.pointee - 0x30)
            digit += 1
        }
        return count
    }
}

extension PostgreSQLValue {
    /// Bytes in binary form.
    fileprivate var size: Int {
        switch self {
        case .null: 0
        case .int: 8
        case .text(let text): text.utf8.count
        case .bytes(let bytes): bytes.count
        }
    }
}
