import Glibc

/// Whom limits by address count: an IPv4 address, or the /64 of an IPv6 address, which is what one site has.
public struct ClientAddress: Hashable, Sendable {
    private let isIPv4: Bool
    /// The 32 bits of an IPv4 address, or the first 64 of an IPv6 one.
    private let bits: UInt64

    /// Nil when the text is no numeric address.
    public init?(_ text: some StringProtocol) {
        let text = String(text)
        var address4 = in_addr()
        var address6 = in6_addr()
        if inet_pton(AF_INET, text, &address4) == 1 {
            self.init(address4)
        } else if inet_pton(AF_INET6, text, &address6) == 1 {
            self.init(address6)
        } else {
            return nil
        }
    }

    /// Nil when it is neither IPv4 nor IPv6.
    init?(_ address: UnsafePointer<sockaddr>?) {
        guard let address else { return nil }
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            self.init(UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in.self).sin_addr)
        case AF_INET6:
            self.init(UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in6.self).sin6_addr)
        default: return nil
        }
    }

    private init(_ address: in_addr) {
        isIPv4 = true
        bits = UInt64(UInt32(bigEndian: address.s_addr))
    }

    private init(_ address: in6_addr) {
        let bytes = withUnsafeBytes(of: address) { Array($0) }
        // An IPv4 address as a socket for both shows it (RFC 4291, 2.5.5.2).
        isIPv4 = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xff && bytes[11] == 0xff
        bits = (isIPv4 ? bytes[12...] : bytes[..<8]).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
