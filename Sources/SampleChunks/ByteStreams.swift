/// Stored bytes that are not what this program writes.
public struct DamagedChunk: Error, Equatable, Sendable {
    public init() {}
}

/// Appends integers as LEB128 varints: seven bits a byte, the lowest first, the top bit set on all but the last.
public struct ByteWriter {
    public private(set) var bytes: [UInt8] = []

    public init(capacity: Int) { bytes.reserveCapacity(capacity) }

    public mutating func byte(_ value: UInt8) { bytes.append(value) }

    public mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// Small numbers of either sign are short.
    public mutating func signed(_ value: Int64) { varint(Self.zigzag(value)) }

    public mutating func text(_ value: String) {
        varint(UInt64(value.utf8.count))
        bytes.append(contentsOf: value.utf8)
    }

    /// Bytes with their number before them.
    public mutating func part(_ part: [UInt8]) {
        varint(UInt64(part.count))
        bytes.append(contentsOf: part)
    }

    static func zigzag(_ value: Int64) -> UInt64 { UInt64(bitPattern: (value << 1) ^ (value >> 63)) }

    /// Bytes that `varint` takes.
    static func length(_ value: UInt64) -> Int { max(1, (70 - value.leadingZeroBitCount) / 7) }
}

/// Takes apart what `ByteWriter` wrote; throws at the first byte that can't be of it.
public struct ByteReader {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var offset = 0

    public init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    public var isAtEnd: Bool { offset == bytes.count }

    public mutating func byte() throws(DamagedChunk) -> UInt8 {
        guard offset < bytes.count else { throw DamagedChunk() }
        offset += 1
        return bytes[offset - 1]
    }

    public mutating func varint() throws(DamagedChunk) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let byte = try byte()
            guard shift < 63 || byte <= 1 else { throw DamagedChunk() }
            value |= UInt64(byte & 0x7f) << shift
            if byte & 0x80 == 0 { return value }
            shift += 7
        }
    }

    public mutating func signed() throws(DamagedChunk) -> Int64 {
        let value = try varint()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    /// A number of things that follow; each takes at least a byte unless the caller says otherwise.
    public mutating func count(atMost limit: Int) throws(DamagedChunk) -> Int {
        let value = try varint()
        guard value <= UInt64(limit) else { throw DamagedChunk() }
        return Int(value)
    }

    public mutating func text() throws(DamagedChunk) -> String {
        guard let text = String(validating: try slice(), as: UTF8.self) else { throw DamagedChunk() }
        return text
    }

    /// What `ByteWriter.part` wrote, on its own. Good as long as this reader is.
    public mutating func part() throws(DamagedChunk) -> ByteReader { ByteReader(try slice()) }

    private mutating func slice() throws(DamagedChunk) -> UnsafeBufferPointer<UInt8> {
        let length = try count(atMost: bytes.count)
        guard length <= bytes.count - offset else { throw DamagedChunk() }
        defer { offset += length }
        return UnsafeBufferPointer(rebasing: bytes[offset..<offset + length])
    }
}
