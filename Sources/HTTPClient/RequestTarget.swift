/// What must be true of a request before a byte of it is sent.
struct RequestTarget {
    let host: String
    let isEncrypted: Bool

    var isLoopback: Bool { host == "localhost" || host == "::1" || host.hasPrefix("127.") }

    init(_ request: HTTPRequest) throws(HTTPFailure) {
        let url = request.url
        guard url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }), let colon = url.range(of: "://") else {
            throw HTTPFailure(.badRequest, "The URL is not one of http or https.")
        }
        switch url[..<colon.lowerBound].lowercased() {
        case "http": isEncrypted = false
        case "https": isEncrypted = true
        default: throw HTTPFailure(.badRequest, "The URL is not one of http or https.")
        }
        let authority = url[colon.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard !authority.isEmpty, !authority.contains("@") else {
            throw HTTPFailure(.badRequest, "The URL has no host, or a user name in it.")
        }
        host = Self.host(of: authority)
        for header in request.headers where !Self.isSafe(header) {
            // The value may be a secret: only the name is said.
            throw HTTPFailure(
                .badRequest, "The header \(header.name.filter(\.isLetter)) holds a control character.")
        }
    }

    private static func host(of authority: Substring) -> String {
        if authority.first == "[" {
            return String(authority.dropFirst().prefix { $0 != "]" })
        }
        return String(authority.prefix { $0 != ":" }).lowercased()
    }

    private static func isSafe(_ header: HTTPHeader) -> Bool {
        !header.name.isEmpty
            && header.name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: ":") }
            && header.value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f }
    }
}

extension String {
    fileprivate func range(of text: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
            start = index(after: start)
        }
        return nil
    }
}
