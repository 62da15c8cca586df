/// Arrays as parameters, for `unnest($1::BIGINT[])` and `= ANY($1)`: one statement for many rows.
extension PostgreSQLValue {
    /// For a parameter that is BIGINT[].
    public static func array(_ values: [Int64]) -> PostgreSQLValue {
        array(of: TypeKind.int8OID, values, size: { _ in 8 }) { bytes, value in bytes.append(bigEndian: value)
        }
    }

    /// For a parameter that is TEXT[].
    public static func array(_ values: [String]) -> PostgreSQLValue {
        array(of: TypeKind.textOID, values, size: \.utf8.count) { bytes, value in
            bytes.append(contentsOf: value.utf8)
        }
    }

    /// For a parameter that is BYTEA[].
    public static func array(_ values: [[UInt8]]) -> PostgreSQLValue {
        array(of: TypeKind.bytesOID, values, size: \.count) { bytes, value in bytes.append(contentsOf: value)
        }
    }

    /// The binary form of a one-dimensional array without NULL: array_recv in PostgreSQL 15, arrayfuncs.c.
    private static func array<Element>(
        of type: UInt32, _ values: [Element], size: (Element) -> Int, append: (inout [UInt8], Element) -> Void
    ) -> PostgreSQLValue {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(values.reduce(20) { $0 + 4 + size($1) })
        bytes.append(bigEndian: Int32(values.isEmpty ? 0 : 1))  // dimensions
        bytes.append(bigEndian: Int32(0))  // no NULL in it
        bytes.append(bigEndian: type)
        if !values.isEmpty {
            bytes.append(bigEndian: Int32(truncatingIfNeeded: values.count))
            bytes.append(bigEndian: Int32(1))  // the first index
        }
        for value in values {
            bytes.append(bigEndian: Int32(truncatingIfNeeded: size(value)))
            append(&bytes, value)
        }
        return .bytes(bytes)
    }
}

extension [UInt8] {
    fileprivate mutating func append(bigEndian number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
    }
}
