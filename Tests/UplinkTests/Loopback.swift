import Foundation

/// Sockets of this machine to itself.
enum Loopback {
    /// Listens on 127.0.0.1 or ::1, and there alone.
    static func listen(port: UInt16 = 0, family: Int32 = AF_INET) throws -> (descriptor: Int32, port: UInt16)
    {
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue), 0)
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        let bound: UInt16? =
            family == AF_INET6 ? listen6(descriptor, port: port) : listen4(descriptor, port: port)
        guard let bound else {
            close(descriptor)
            throw POSIXError(.EADDRINUSE)
        }
        return (descriptor, bound)
    }

    /// Nil when nobody listens there.
    static func connect(port: UInt16) -> Int32? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = address4(port: port)
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.connect(descriptor, $0, size) }
        }
        guard code == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    static func send(_ bytes: [UInt8], to connection: Int32) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    private static func address4(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return address
    }

    private static func listen4(_ descriptor: Int32, port: UInt16) -> UInt16? {
        var address = address4(port: port)
        return bind(descriptor, &address) ? UInt16(bigEndian: address.sin_port) : nil
    }

    private static func listen6(_ descriptor: Int32, port: UInt16) -> UInt16? {
        var yes: Int32 = 1
        setsockopt(
            descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port.bigEndian
        address.sin6_addr = in6addr_loopback
        return bind(descriptor, &address) ? UInt16(bigEndian: address.sin6_port) : nil
    }

    private static func bind<Address>(_ descriptor: Int32, _ address: inout Address) -> Bool {
        var size = socklen_t(MemoryLayout<Address>.size)
        return withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                Glibc.bind(descriptor, pointer, size) == 0 && Glibc.listen(descriptor, 16) == 0
                    && getsockname(descriptor, pointer, &size) == 0
            }
        }
    }
}
