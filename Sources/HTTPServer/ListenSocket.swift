import Glibc

/// A bound, listening socket, made here so that a failure can be named and the chosen port read back.
struct ListenSocket {
    let descriptor: Int32
    let address: ListenAddress

    init(_ address: ListenAddress) throws(HTTPServerFailure) {
        func failure(_ operation: String, _ code: Int32) -> HTTPServerFailure {
            HTTPServerFailure(
                operation: operation, address: address, reason: String(cString: strerror(code)), errno: code)
        }
        let bytes =
            if let path = address.path { try Self.file(path, address) } else { try Self.resolve(address) }
        let family = bytes.withUnsafeBytes { Int32($0.loadUnaligned(as: sockaddr.self).sa_family) }
        let flags = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(family, flags, 0)
        guard descriptor >= 0 else { throw failure("socket", Glibc.errno) }
        var open = true
        defer { if open { close(descriptor) } }
        var on: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        let bound = bytes.withUnsafeBytes { raw in
            raw.withMemoryRebound(to: sockaddr.self) {
                bind(descriptor, $0.baseAddress, socklen_t(bytes.count))
            }
        }
        guard bound == 0 else { throw failure("bind", Glibc.errno) }
        // Before anybody can connect: what the process creates is for its user alone, and its group shall have this too.
        if let path = address.path, chmod(path, 0o660) != 0 { throw failure("chmod", Glibc.errno) }
        guard listen(descriptor, SOMAXCONN) == 0 else { throw failure("listen", Glibc.errno) }
        var chosen = address
        if address.path == nil {
            guard let port = Self.port(of: descriptor) else { throw failure("getsockname", Glibc.errno) }
            chosen.port = port
        }
        open = false
        self.descriptor = descriptor
        self.address = chosen
    }

    /// The socket address as bytes. A name other than a numeric address or `localhost` is not looked up.
    private static func resolve(_ address: ListenAddress) throws(HTTPServerFailure) -> [UInt8] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_NUMERICSERV | AI_NUMERICHOST
        var list: UnsafeMutablePointer<addrinfo>?
        let host = address.host == "localhost" ? "127.0.0.1" : address.host
        let code = getaddrinfo(host, String(address.port), &hints, &list)
        defer { if let list { freeaddrinfo(list) } }
        guard code == 0, let first = list?.pointee, let pointer = first.ai_addr else {
            throw HTTPServerFailure(
                operation: "resolve", address: address, reason: "not a numeric address", errno: 0)
        }
        return Array(UnsafeRawBufferPointer(start: pointer, count: Int(first.ai_addrlen)))
    }

    /// The socket address of a file, where a server may have left one when it was killed.
    private static func file(_ path: String, _ address: ListenAddress) throws(HTTPServerFailure) -> [UInt8] {
        var storage = sockaddr_un()
        let room = MemoryLayout.size(ofValue: storage.sun_path)
        guard path.utf8.count < room else {
            throw HTTPServerFailure(
                operation: "bind", address: address, reason: "the path is longer than \(room - 1) bytes",
                errno: ENAMETOOLONG)
        }
        storage.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &storage.sun_path) { $0.copyBytes(from: path.utf8) }
        var status = stat()
        if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK { unlink(path) }
        return withUnsafeBytes(of: storage) { Array($0) }
    }

    private static func port(of descriptor: Int32) -> UInt16? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let code = withUnsafeMutableBytes(of: &storage) { raw in
            raw.withMemoryRebound(to: sockaddr.self) { getsockname(descriptor, $0.baseAddress, &length) }
        }
        guard code == 0 else { return nil }
        // The port lies at the same place, in network order, in sockaddr_in and sockaddr_in6.
        return withUnsafeBytes(of: storage) {
            UInt16(bigEndian: $0.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
        }
    }
}
