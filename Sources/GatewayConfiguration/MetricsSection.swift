/// The value of `listen` of `[metrics]`.
enum MetricsAddress {
    private static let example = "write unix:/run/bandferry/metrics or 127.0.0.1:9464"

    static func read(_ text: String) throws(Refusal) -> MetricsListener {
        if text.hasPrefix("unix:") { return .socket(path: try Value.path(String(text.dropFirst(5)))) }
        guard let colon = text.lastIndex(of: ":") else {
            throw Refusal("\(Value.quoted(text)) has no port; \(example)")
        }
        let digits = text[text.index(after: colon)...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = UInt16(digits),
            port > 0
        else { throw Refusal("\(Value.quoted(digits)) is no port; \(example)") }
        switch text[..<colon] {
        case "127.0.0.1", "localhost": return .loopback(host: "127.0.0.1", port: port)
        case "[::1]": return .loopback(host: "::1", port: port)
        default: throw Refusal("others than this host could read it at \(Value.quoted(text)); \(example)")
        }
    }
}
