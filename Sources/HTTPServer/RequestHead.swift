/// Judges a request by its target and its headers alone.
struct RequestHead {
    /// Of path and query, as they came.
    var targetBytes: Int
    var headers: [HTTPField]
    /// False when more came than target and headers show, or something else between two lines than CRLF.
    var isAsItCame = true

    /// Why the request is refused whoever asks; nil when it is not.
    func fault(_ limits: HTTPLimits) -> HTTPRefusal? {
        guard targetBytes <= limits.targetBytes else { return .targetTooLong(limit: limits.targetBytes) }
        let bytes = headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        guard headers.count <= limits.headers, bytes <= limits.headerBytes else { return .headersTooLarge }
        return form ?? framing
    }

    /// A name is a token, and nothing in a value ends a line or a text (RFC 9110, 5.1 and 5.5; RFC 9112, 5.1):
    /// whoever reads on where another stops sees other headers.
    private var form: HTTPRefusal? {
        guard isAsItCame else {
            return .malformedHead("a line does not end with CRLF, is folded, or has a NUL in it")
        }
        for field in headers {
            guard !field.name.isEmpty, field.name.utf8.allSatisfy(Self.isTokenByte) else {
                return .malformedHead("a header's name is not one")
            }
            guard field.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }) else {
                return .malformedHead("there is a control character in a header")
            }
        }
        return nil
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    /// Where a body ends may not depend on who reads it: a proxy before this server that understands a request
    /// otherwise would let one client's bytes be taken for another's (RFC 9112, 6.3 and 11.2).
    private var framing: HTTPRefusal? {
        var lengths = 0
        var encodings: [String] = []
        var hosts = 0
        for field in headers {
            switch field.name.lowercased() {
            case "content-length": lengths += 1
            case "transfer-encoding": encodings.append(field.value.lowercased())
            case "host": hosts += 1
            default: break
            }
        }
        guard hosts <= 1 else { return .malformedHead("there is more than one Host") }
        guard lengths <= 1 else { return .malformedHead("there is more than one Content-Length") }
        guard encodings.isEmpty || encodings == ["chunked"] else {
            return .malformedHead("the transfer encoding is not chunked")
        }
        guard encodings.isEmpty || lengths == 0 else {
            return .malformedHead("there are both a Content-Length and a Transfer-Encoding")
        }
        return nil
    }

    /// The bytes that its `Content-Length` announces; 0 when it has none, `.max` when they are more than can be counted.
    static func declaredBytes(_ headers: [HTTPField]) -> Int {
        guard let text = headers.first(where: { $0.name.lowercased() == "content-length" })?.value else {
            return 0
        }
        if let bytes = Int(text) { return max(0, bytes) }
        let isNumber = !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
        return isNumber ? .max : 0
    }

    /// The path of a target in absolute form, `http://host/path`, which a server must accept too (RFC 9112,
    /// 3.2.2); any other target as it is.
    static func path(_ target: String) -> Substring {
        let bytes = target.utf8
        for scheme in ["http://", "https://"]
        where bytes.count >= scheme.utf8.count
            && zip(bytes, scheme.utf8).allSatisfy({ $0 | ($0 > 0x40 && $0 < 0x5b ? 0x20 : 0) == $1 })
        {
            let rest = target.dropFirst(scheme.utf8.count)
            guard let slash = rest.firstIndex(of: "/") else { return "/" }
            return rest[slash...]
        }
        return target[...]
    }
}
