import BandProfile

/// What `body` throws; nil when it succeeds. Decoders throw nothing but this type.
func failure<Value>(_ body: () throws -> Value) -> DecodingFailure? {
    do { _ = try body() } catch { return error as? DecodingFailure }
    return nil
}

extension DecodingFailure {
    var isTruncated: Bool {
        switch self {
        case .truncated: true
        case .trailing, .invalid: false
        }
    }
}
