/// Percent-decodes a part of a request target; nil when an escape is not one or the result is not UTF-8.
func percentDecoded(_ text: some StringProtocol) -> String? {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
    var decoded: [UInt8] = []
    var bytes = text.utf8.makeIterator()
    while let byte = bytes.next() {
        guard byte == UInt8(ascii: "%") else {
            decoded.append(byte)
            continue
        }
        guard let high = bytes.next().flatMap(hexValue), let low = bytes.next().flatMap(hexValue) else {
            return nil
        }
        decoded.append(high << 4 | low)
    }
    return String(validating: decoded, as: UTF8.self)
}

/// The segments of a path after its first slash, each decoded on its own; nil when one can't be.
func pathSegments(_ path: some StringProtocol) -> [String]? {
    guard path.utf8.first == UInt8(ascii: "/") else { return nil }
    var segments: [String] = []
    for part in path.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
        guard let segment = percentDecoded(part) else { return nil }
        segments.append(segment)
    }
    return segments
}

private func hexValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
}
