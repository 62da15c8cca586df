/// A type of the server's that values are converted to and from, by its object id (PostgreSQL 15, pg_type.dat).
enum TypeKind: Equatable {
    case bool, bytes, int8, int4, int2, oid, text
    /// BIGINT[], TEXT[] or BYTEA[]: only as a parameter, made by `PostgreSQLValue.array`.
    case array(UInt32)
    /// What a function without a result gives: read as NULL.
    case void
    case other(UInt32)

    static let bytesOID: UInt32 = 17
    static let int8OID: UInt32 = 20
    static let textOID: UInt32 = 25

    init(oid: UInt32) {
        switch oid {
        case 16: self = .bool
        case Self.bytesOID: self = .bytes
        case Self.int8OID: self = .int8
        case 21: self = .int2
        case 23: self = .int4
        case 26: self = .oid
        // name, text, unknown, bpchar, varchar
        case 19, Self.textOID, 705, 1042, 1043: self = .text
        case 1001, 1009, 1016: self = .array(oid)
        case 2278: self = .void
        default: self = .other(oid)
        }
    }

    /// The name in SQL; of other types only the more common have one here.
    var name: String {
        switch self {
        case .bool: "BOOLEAN"
        case .bytes: "BYTEA"
        case .int8: "BIGINT"
        case .int4: "INTEGER"
        case .int2: "SMALLINT"
        case .oid: "OID"
        case .text: "TEXT"
        case .void: "VOID"
        case .array(let oid), .other(let oid): Self.names[oid] ?? "the type with OID \(oid)"
        }
    }

    private static let names: [UInt32: String] = [
        114: "JSON", 700: "REAL", 701: "DOUBLE PRECISION", 1000: "BOOLEAN[]", 1001: "BYTEA[]",
        1005: "SMALLINT[]",
        1007: "INTEGER[]", 1009: "TEXT[]", 1016: "BIGINT[]", 1082: "DATE", 1114: "TIMESTAMP",
        1184: "TIMESTAMPTZ",
        1186: "INTERVAL", 1700: "NUMERIC", 2950: "UUID", 3802: "JSONB",
    ]

    /// Whether a column of it can be read.
    var isReadable: Bool {
        switch self {
        case .array, .other: false
        case .bool, .bytes, .int8, .int4, .int2, .oid, .text, .void: true
        }
    }

    /// Where an integer fits.
    var integers: ClosedRange<Int64>? {
        switch self {
        case .bool: 0...1
        case .int8: .min ... .max
        case .int4: Int64(Int32.min)...Int64(Int32.max)
        case .int2: Int64(Int16.min)...Int64(Int16.max)
        case .oid: 0...Int64(UInt32.max)
        case .bytes, .text, .array, .void, .other: nil
        }
    }
}
