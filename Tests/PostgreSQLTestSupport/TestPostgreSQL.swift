import Glibc
import Locking
import PostgreSQL

/// A private PostgreSQL server: its own cluster, a Unix socket, and nothing left when the test process ends.
public final class TestPostgreSQL: Sendable {
    private static let common = Result { try TestPostgreSQL() }
    private static let numbers = Guarded(0)

    /// One for the whole process, without fsync. Tests share it by taking a database each, and never kill it.
    public static func shared() throws -> TestPostgreSQL { try common.get() }

    /// Holds the socket, the data and the log.
    public let directory: String
    /// Nil for a server that only listens at its socket.
    public let port: UInt16?
    private let words: [String]
    /// 0 while it does not run.
    private let process = Guarded<pid_t>(0)

    private var data: String { directory + "/data" }
    private var log: String { directory + "/log" }

    /// Starts one, ready for connections.
    ///
    /// - Parameters:
    ///   - fsync: true where speed or a power cut is the subject.
    ///   - settings: of postgresql.conf, for instance `["max_connections": "10"]`.
    ///   - onLoopback: listens on a free port of 127.0.0.1 as well.
    ///   - isStandby: a copy that waits for a primary and lets nobody in; not waited for.
    public init(
        fsync: Bool = false, settings: [String: String] = [:], onLoopback: Bool = false,
        isStandby: Bool = false
    ) throws {
        let workshop = try Workshop.shared.get()
        let number = Self.next()
        directory = workshop.directory + "/\(number)"
        port = onLoopback ? try Self.freePort() : nil
        var all = [
            "fsync": fsync ? "on" : "off", "listen_addresses": onLoopback ? "127.0.0.1" : "",
            "unix_socket_directories": directory, "shared_buffers": "32MB", "logging_collector": "off",
            "log_min_messages": "warning",
            // Servers of many tests are there at once, and the usual 100 are seven of them.
            "max_connections": "400",
        ]
        if let port { all["port"] = String(port) }
        if isStandby { all["hot_standby"] = "off" }
        all.merge(settings) { $1 }
        let options = all.sorted { $0.key < $1.key }.flatMap { ["-c", "\($0.key)=\($0.value)"] }
        words = workshop.programs.command("postgres", ["-D", directory + "/data"] + options)
        guard mkdir(directory, 0o700) == 0 else {
            throw Programs.Failure(description: "can't make \(directory)")
        }
        if let owner = workshop.programs.owner { chown(directory, owner.user, owner.group) }
        try Programs.run(["cp", "-a", workshop.template, data], log: log)
        if isStandby { close(open(data + "/standby.signal", O_CREAT | O_CLOEXEC, 0o644)) }
        try launch()
        if !isStandby { try awaitReady() }
    }

    deinit {
        kill()
        try? Programs.run(["rm", "-rf", directory], log: "/dev/null")
    }

    /// What connects to a database, by its socket; to `postgres`, which every cluster has, unless it says another.
    public func conninfo(_ database: String = "postgres", user: String = "bandferry") -> String {
        let port = port.map { " port=\($0)" } ?? ""
        return "host=\(directory)\(port) user=\(user) dbname=\(database)"
    }

    /// What connects over TCP; only with `onLoopback`.
    public func loopbackConninfo(_ database: String = "postgres") -> String {
        "postgresql://bandferry@127.0.0.1:\(port ?? 0)/\(database)?sslmode=disable"
    }

    /// A fresh database; what connects to it.
    public func makeDatabase() throws -> String {
        let name = "test_\(Self.next())"
        let connection = try PostgreSQLConnection(conninfo(), deadline: .seconds(60))
        defer { connection.close() }
        try connection.script("CREATE DATABASE \(name)")
        return conninfo(name)
    }

    // MARK: trouble

    /// Ends the server and all its backends at once, as a power cut would.
    public func kill() {
        signal(SIGKILL)
        process.withLock { process in
            if process > 0 { waitpid(process, nil, 0) }
            process = 0
        }
        // One that was just being forked is found by the second look.
        while signal(SIGKILL) > 0 { pause(milliseconds: 1) }
    }

    /// Ends the server in order: open connections are told and closed.
    public func stop() {
        process.withLock { process in
            guard process > 0 else { return }
            Glibc.kill(process, SIGINT)
            waitpid(process, nil, 0)
            process = 0
        }
    }

    /// Starts it again on the same data, after `kill()`, `stop()` or neither.
    public func restart() throws {
        stop()
        try launch()
        try awaitReady()
    }

    /// Lets the server and its backends stand still: connections stay open, and nothing is answered.
    public func freeze() { signal(SIGSTOP) }

    public func thaw() { signal(SIGCONT) }

    /// Every process that lives in the data directory gets it; how many that were.
    @discardableResult
    private func signal(_ number: Int32) -> Int {
        guard let processes = opendir("/proc") else { return 0 }
        defer { closedir(processes) }
        var count = 0
        while let entry = readdir(processes) {
            // In place: an entry is shorter than its type says, and a copy of the whole would read beyond the listing.
            guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { break }
            let name = String(cString: (UnsafeRawPointer(entry) + offset).assumingMemoryBound(to: CChar.self))
            guard let process = pid_t(name), Self.workingDirectory(of: process) == data else { continue }
            if Glibc.kill(process, number) == 0 { count += 1 }
        }
        return count
    }

    private static func workingDirectory(of process: pid_t) -> String {
        var bytes = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/\(process)/cwd", &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    // MARK: starting

    private func launch() throws {
        try process.withLock { process in process = try Programs.start(words, log: log) }
    }

    private func awaitReady() throws {
        let limit = ContinuousClock.now + .seconds(60)
        while true {
            do throws(PostgreSQLError) {
                try PostgreSQLConnection(conninfo(), deadline: .seconds(60)).close()
                return
            } catch {
                let hasEnded = process.withLock { process in
                    guard waitpid(process, nil, WNOHANG) == process else { return false }
                    process = 0
                    return true
                }
                guard !hasEnded, ContinuousClock.now < limit else {
                    throw Programs.Failure(
                        description: "the server did not start: \(error); \(Programs.text(of: log))")
                }
                pause(milliseconds: 5)
            }
        }
    }

    private func pause(milliseconds: Int32) { poll(nil, 0, milliseconds) }

    private static func next() -> Int {
        numbers.withLock { number in
            number += 1
            return number
        }
    }

    private static func freePort() throws -> UInt16 {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(socket, address, size) == 0 && getsockname(socket, address, &size) == 0
            }
        }
        guard isBound else { throw Programs.Failure(description: "no free port on 127.0.0.1") }
        return UInt16(bigEndian: address.sin_port)
    }
}
