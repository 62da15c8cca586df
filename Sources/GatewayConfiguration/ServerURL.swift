/// The one kind of address that samples may go to: https anywhere, plain http only to this machine itself.
enum ServerURL {
    static func checked(_ text: String) throws(Refusal) -> String {
        let example = "write it as https://ingest.example.org"
        guard let scheme = ["https://", "http://"].first(where: { text.lowercased().hasPrefix($0) }) else {
            throw Refusal("\(Value.quoted(text)) has no https:// in front; \(example)")
        }
        let rest = text.dropFirst(scheme.count)
        guard rest.utf8.allSatisfy({ (0x21...0x7e).contains($0) && !isForbidden($0) }) else {
            throw Refusal("\(Value.quoted(text)) holds a character that no address has; \(example)")
        }
        guard !rest.contains(where: { $0 == "?" || $0 == "#" }) else {
            throw Refusal("\(Value.quoted(text)) has a query or fragment; \(example)")
        }
        let authority = rest.prefix { $0 != "/" }
        guard !authority.contains("@") else {
            throw Refusal("holds a user name or password; put the token into token_file and \(example)")
        }
        guard let host = host(of: authority) else {
            throw Refusal("\(Value.quoted(text)) has no valid host and port; \(example)")
        }
        guard scheme == "https://" || isLoopback(host) else {
            throw Refusal(
                "\(Value.quoted(text)) would send health data in the clear; "
                    + "write https:// (http:// only to 127.0.0.1, [::1] or localhost)")
        }
        var url = scheme + rest
        while url.hasSuffix("/") { url.removeLast() }
        return url
    }

    /// A quote or a backslash.
    static func isForbidden(_ byte: UInt8) -> Bool { byte == 0x22 || byte == 0x5c }

    static func host(of authority: Substring) -> Substring? {
        var host = authority
        var port: Substring?
        if authority.first == "[" {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            host = authority[...end]
            let after = authority[authority.index(after: end)...]
            guard after.isEmpty || after.first == ":" else { return nil }
            port = after.isEmpty ? nil : after.dropFirst()
            guard host.count > 2 else { return nil }
        } else if let colon = authority.firstIndex(of: ":") {
            host = authority[..<colon]
            port = authority[authority.index(after: colon)...]
        }
        if let port {
            guard let number = UInt16(port), number > 0, port.allSatisfy(\.isNumber) else { return nil }
        }
        return host.isEmpty ? nil : host
    }

    private static func isLoopback(_ host: Substring) -> Bool {
        if host.lowercased() == "localhost" || host == "[::1]" { return true }
        let octets = host.split(separator: ".", omittingEmptySubsequences: false)
        return octets.count == 4 && octets[0] == "127" && octets.allSatisfy { UInt8($0) != nil }
    }
}
