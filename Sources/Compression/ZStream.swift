import CZlib

/// Owns one zlib stream; zlib's state points back at it, so it lives on the heap and never moves.
struct ZStream: ~Copyable {
    let pointer: UnsafeMutablePointer<z_stream>
    private let end: (UnsafeMutablePointer<z_stream>) -> Void

    /// 15 bits of window, and 16 more to ask for the gzip wrapper (zlib.h, `deflateInit2`).
    private static let gzipWindowBits: Int32 = 15 + 16

    static func deflating(level: Int32) throws(CompressionFailure) -> ZStream {
        try ZStream(
            begin: {
                deflateInit2_(
                    $0, level, Z_DEFLATED, gzipWindowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
                    Int32(MemoryLayout<z_stream>.size))
            }, end: { _ = deflateEnd($0) })
    }

    static func inflating() throws(CompressionFailure) -> ZStream {
        try ZStream(
            begin: { inflateInit2_($0, gzipWindowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) },
            end: { _ = inflateEnd($0) })
    }

    private init(
        begin: (UnsafeMutablePointer<z_stream>) -> Int32,
        end: @escaping (UnsafeMutablePointer<z_stream>) -> Void
    ) throws(CompressionFailure) {
        pointer = .allocate(capacity: 1)
        self.end = end
        pointer.initialize(to: z_stream())
        guard begin(pointer) == Z_OK else {
            // zlib frees what it took when its init fails; `deinit` may call its end on the empty stream.
            throw .outOfMemory
        }
    }

    deinit {
        end(pointer)
        pointer.deallocate()
    }
}
