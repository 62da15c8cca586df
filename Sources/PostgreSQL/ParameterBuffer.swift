import CPostgreSQL
import Glibc

/// Parameters of one call in binary form, in memory that is used again for the next call.
final class ParameterBuffer {
    private var start: UnsafeMutableRawPointer
    private var capacity: Int
    private var count = 0
    /// Where each value begins; -1 for NULL.
    private var offsets: [Int] = []
    private var pointers: [UnsafePointer<CChar>?] = []
    private var lengths: [Int32] = []
    private var formats: [Int32] = []

    /// What is kept between calls at most: one large parameter must not stay in memory for ever.
    private static let kept = 1 << 20
    private static let initial = 4096

    init() {
        capacity = Self.initial
        start = .allocate(byteCount: Self.initial, alignment: 8)
    }

    deinit { start.deallocate() }

    /// Sends the statement with values that it has no complaint about. False when libpq could not take it.
    func send(_ values: [PostgreSQLValue], to statement: Statement, on handle: OpaquePointer) -> Bool {
        clear()
        for (value, kind) in zip(values, statement.parameters) { append(value, kind) }
        for offset in offsets {
            pointers.append(
                offset < 0
                    ? nil : UnsafePointer(start.advanced(by: offset).assumingMemoryBound(to: CChar.self)))
        }
        // Result format 1 is binary. libpq copies everything before it returns.
        return PQsendQueryPrepared(
            handle, statement.name, Int32(values.count), pointers, lengths, formats, 1) == 1
    }

    private func clear() {
        count = 0
        offsets.removeAll(keepingCapacity: true)
        pointers.removeAll(keepingCapacity: true)
        lengths.removeAll(keepingCapacity: true)
        formats.removeAll(keepingCapacity: true)
        if capacity > Self.kept { grow(to: Self.initial) }
    }

    @inline(__always)
    private func append(_ value: PostgreSQLValue, _ kind: TypeKind) {
        formats.append(1)
        switch value {
        case .null:
            offsets.append(-1)
            lengths.append(0)
        case .int(let number):
            switch kind {
            case .bool: append(UInt8(truncatingIfNeeded: number))
            case .int2: append(Int16(truncatingIfNeeded: number))
            case .int4, .oid: append(Int32(truncatingIfNeeded: number))
            default: append(number)
            }
        case .text(var text): text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
        case .bytes(let bytes): bytes.withUnsafeBytes { append($0) }
        }
    }

    @inline(__always)
    private func append(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.bigEndian) { append($0) }
    }

    @inline(__always)
    private func append(_ bytes: UnsafeRawBufferPointer) {
        // Room for one more: the address of an empty value must not be past the end.
        if count + bytes.count + 1 > capacity { grow(to: max(2 * capacity, count + bytes.count + 1)) }
        if let source = bytes.baseAddress {
            start.advanced(by: count).copyMemory(from: source, byteCount: bytes.count)
        }
        offsets.append(count)
        lengths.append(Int32(truncatingIfNeeded: bytes.count))
        count += bytes.count
    }

    private func grow(to size: Int) {
        let larger = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 8)
        larger.copyMemory(from: start, byteCount: count)
        start.deallocate()
        start = larger
        capacity = size
    }
}
