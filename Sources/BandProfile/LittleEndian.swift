/// Why bytes from a band could not be read, and where.
public enum DecodingFailure: Error, Equatable, Sendable {
    /// The bytes end before the field at this offset.
    case truncated(at: Int)
    /// Bytes are left over after the last field.
    case trailing(at: Int)
    /// A field has a value that its definition does not allow.
    case invalid(field: String, at: Int)
}

extension DecodingFailure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .truncated(let offset): "truncated at byte \(offset)"
        case .trailing(let offset): "unexpected bytes from byte \(offset) on"
        case .invalid(let field, let offset): "invalid \(field) at byte \(offset)"
        }
    }
}

/// Reads little-endian integers from the front of a byte array; never reads past its end.
struct LittleEndianReader {
    private let bytes: [UInt8]
    private(set) var offset: Int

    init(_ bytes: [UInt8], from offset: Int = 0) {
        self.bytes = bytes
        self.offset = offset
    }

    var remaining: Int { bytes.count - offset }

    mutating func read<Value: FixedWidthInteger>(_: Value.Type) throws(DecodingFailure) -> Value {
        let size = MemoryLayout<Value>.size
        guard remaining >= size else { throw .truncated(at: offset) }
        let value = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Value.self) }
        offset += size
        return Value(littleEndian: value)
    }

    mutating func end() throws(DecodingFailure) {
        guard remaining == 0 else { throw .trailing(at: offset) }
    }
}

extension [UInt8] {
    mutating func appendLittleEndian(_ value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }
}
