import Glibc

/// Where a server listens: `127.0.0.1:8080`, `[::1]:8080`, `localhost:8080`, or a socket file. Port 0 asks the kernel for
/// one.
public struct ListenAddress: Sendable, Equatable, CustomStringConvertible {
    public var host: String
    public var port: UInt16
    /// Of a socket file; host and port mean nothing then.
    public var path: String?

    /// Loopback, on a port of the kernel's choice.
    public init(host: String = "127.0.0.1", port: UInt16 = 0) {
        self.host = host
        self.port = port
    }

    /// A socket file, which the user and the group of this process may use. One that a server left behind is replaced.
    public init(path: String) {
        self.init()
        self.path = path
    }

    /// Nil when the text is not an address and a port.
    public init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        var host = text[..<colon]
        if host.first == "[" {
            guard host.last == "]" else { return nil }
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        let digits = text[text.index(after: colon)...]
        guard !host.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(digits)
        else { return nil }
        self.init(host: String(host), port: port)
    }

    public var description: String {
        if let path { return "unix:\(path)" }
        return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    /// Nobody outside this machine can reach it.
    public var isLoopback: Bool {
        if path != nil { return true }
        var address4 = in_addr()
        if inet_pton(AF_INET, host, &address4) == 1 {
            return UInt32(bigEndian: address4.s_addr) >> 24 == 127
        }
        var address6 = in6_addr()
        if inet_pton(AF_INET6, host, &address6) == 1 {
            let bytes = withUnsafeBytes(of: address6) { Array($0) }
            return bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
        }
        return host == "localhost"
    }
}

/// Why a server could not start.
public struct HTTPServerFailure: Error, Equatable, Sendable, CustomStringConvertible {
    public var operation: String
    public var address: ListenAddress
    public var reason: String
    /// Zero when the failure is not the kernel's.
    public var errno: Int32

    static let notInstalled = "libmicrohttpd.so.12 is not installed, or too old"

    public var description: String { "can't listen on \(address): \(operation): \(reason)" }
}
