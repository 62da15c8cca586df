import CZlib

/// gzip (RFC 1952), whole values in memory.
public enum Gzip {
    /// Level 6 is zlib's own default; 1 is the fastest.
    public static func compress(_ bytes: [UInt8], level: Int = 6) throws(CompressionFailure) -> [UInt8] {
        let stream = try ZStream.deflating(level: Int32(min(max(level, 1), 9)))
        var input = Input(bytes)
        var output = Output(limit: Int.max)
        while true {
            switch try output.step(stream, &input, { deflate($0, Z_FINISH) }) {
            case Z_STREAM_END: return output.bytes
            case Z_OK, Z_BUF_ERROR: continue
            default: throw .outOfMemory
            }
        }
    }

    /// Takes no more memory than `limit` and one buffer, whatever the input claims to hold.
    ///
    /// Several members in a row are one value (RFC 1952, section 2.2).
    public static func decompress(_ bytes: [UInt8], limit: Int) throws(CompressionFailure) -> [UInt8] {
        let stream = try ZStream.inflating()
        var input = Input(bytes)
        var output = Output(limit: limit)
        while true {
            switch try output.step(stream, &input, { inflate($0, Z_NO_FLUSH) }) {
            case Z_STREAM_END:
                if input.isEmpty { return output.bytes }
                guard input.startsMember else { throw .trailingBytes }
                guard inflateReset(stream.pointer) == Z_OK else { throw .outOfMemory }
            case Z_OK:
                continue
            case Z_BUF_ERROR:
                // No progress was possible although there is room for output: the input has ended.
                throw .truncated
            case Z_MEM_ERROR:
                throw .outOfMemory
            default:
                throw .corrupt
            }
        }
    }
}

/// What is left to read.
private struct Input {
    private let bytes: [UInt8]
    private(set) var offset = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isEmpty: Bool { offset == bytes.count }

    /// Another member begins here: the magic number of RFC 1952, section 2.3.1.
    var startsMember: Bool { bytes[offset...].starts(with: [0x1f, 0x8b]) }

    /// Lends the next bytes, at most as many as zlib's counter holds, and notes how many were used.
    mutating func lend<Result>(
        to stream: UnsafeMutablePointer<z_stream>, _ body: () -> Result
    ) -> Result {
        let start = offset
        let count = min(bytes.count - start, 1 << 30)
        let (result, left) = bytes.withUnsafeBufferPointer { buffer in
            // zlib only reads the input; its header takes a pointer to mutable bytes for old compilers.
            stream.pointee.next_in = buffer.baseAddress.map { UnsafeMutablePointer(mutating: $0 + start) }
            stream.pointee.avail_in = UInt32(count)
            let result = body()
            return (result, Int(stream.pointee.avail_in))
        }
        stream.pointee.next_in = nil
        offset = start + count - left
        return result
    }
}

/// The result so far, grown by a buffer at a time up to a limit.
private struct Output {
    private(set) var bytes: [UInt8] = []
    private let limit: Int
    private var buffer = [UInt8](repeating: 0, count: 64 * 1024)

    init(limit: Int) { self.limit = limit }

    mutating func step(
        _ stream: borrowing ZStream, _ input: inout Input, _ call: (UnsafeMutablePointer<z_stream>) -> Int32
    ) throws(CompressionFailure) -> Int32 {
        let pointer = stream.pointer
        let (code, written) = buffer.withUnsafeMutableBufferPointer { room in
            pointer.pointee.next_out = room.baseAddress
            pointer.pointee.avail_out = UInt32(room.count)
            let code = input.lend(to: pointer) { call(pointer) }
            return (code, room.count - Int(pointer.pointee.avail_out))
        }
        guard written <= limit - bytes.count else { throw .tooLarge(limit: limit) }
        bytes.append(contentsOf: buffer[..<written])
        return code
    }
}
