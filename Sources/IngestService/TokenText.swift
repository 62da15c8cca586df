import Glibc

/// The text of a new token: `bft_`, by which scanners for leaked secrets know it, and 256 random bits.
public enum TokenText {
    static let prefix = "bft_"

    public static func make() throws(TokenTextFailure) -> String { prefix + base64URL(try randomBytes(32)) }

    /// 8 hex digits, for people.
    static func makeID() throws(TokenTextFailure) -> String {
        try randomBytes(4).map { byte in
            let digits = String(byte, radix: 16)
            return byte < 16 ? "0" + digits : digits
        }.joined()
    }

    /// getentropy(3) draws on getrandom(2), and waits only in the first moments of a boot.
    private static func randomBytes(_ count: Int) throws(TokenTextFailure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        guard getentropy(&bytes, count) == 0 else {
            throw TokenTextFailure(reason: String(cString: strerror(errno)))
        }
        return bytes
    }

    /// RFC 4648, section 5, without padding.
    static func base64URL(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
            for index in 0...group.count {
                text.append(alphabet[Int(bits >> UInt32(18 - 6 * index) & 0x3f)])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

/// The system gave no random bytes.
public struct TokenTextFailure: Error, Equatable, Sendable {
    public var reason: String
}
