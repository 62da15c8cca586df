/// Why bytes could not be compressed or decompressed.
public enum CompressionFailure: Error, Equatable, Sendable, CustomStringConvertible {
    /// The input ends inside the compressed stream.
    case truncated
    /// The input is not gzip, or its checksum or length does not match.
    case corrupt
    /// Bytes follow the compressed stream that are not another one.
    case trailingBytes
    /// The result would be larger than the caller allows.
    case tooLarge(limit: Int)
    case outOfMemory

    public var description: String {
        switch self {
        case .truncated: "the gzip stream is cut off"
        case .corrupt: "the gzip stream is damaged"
        case .trailingBytes: "bytes follow the gzip stream"
        case .tooLarge(let limit): "the data is over \(limit) bytes when decompressed"
        case .outOfMemory: "there is no memory for the compressor"
        }
    }
}
