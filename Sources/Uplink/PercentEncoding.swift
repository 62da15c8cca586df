/// Text as one segment of a path, or as a value in a query: everything but the unreserved characters is encoded.
/// RFC 3986, sections 2.1 and 2.3.
enum PercentEncoding {
    static func encode(_ text: String) -> String {
        // Such a segment would be taken for a step in the path (RFC 3986, section 5.2.4).
        let isDots = text == "." || text == ".."
        var result: [UInt8] = []
        for byte in text.utf8 {
            if isUnreserved(byte), !isDots {
                result.append(byte)
            } else {
                result += [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 15)]
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}
