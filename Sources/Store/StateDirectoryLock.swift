import CLinux

#if canImport(Glibc)
    import Glibc
#endif

/// One daemon a state directory: an advisory lock on its `lock` file, held until this value goes or the process
/// ends, however it ends.
public final class StateDirectoryLock: Sendable {
    private let descriptor: Int32

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Given back by its word: a program that is just being started has a copy of every descriptor until it runs.
    deinit {
        _ = linux_unlock_file(descriptor)
        close(descriptor)
    }

    /// Throws `.locked` when another process has it, and says which.
    public static func acquire(directory: String) throws(StoreError) -> StateDirectoryLock {
        try StateDirectory(path: directory).prepare()
        let path = directory + "/lock"
        let descriptor = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("open the lock file", path, .directory) }
        guard linux_lock_file(descriptor) == 0 else {
            defer { close(descriptor) }
            guard errno == EAGAIN || errno == EACCES else {
                throw failure("lock the state directory", path, .io)
            }
            let owner = holder(of: descriptor).map { ", process \($0)," } ?? ""
            throw StoreError(
                kind: .locked, operation: "lock the state directory", path: directory,
                message: "another daemon\(owner) has it")
        }
        // The number is for people who read the file or the error; the lock is what counts.
        let text = "\(getpid())\n"
        if ftruncate(descriptor, 0) == 0 { _ = text.withCString { pwrite(descriptor, $0, strlen($0), 0) } }
        return StateDirectoryLock(descriptor)
    }

    /// True while a process holds the lock. For the command line: is a daemon running here? Takes no lock itself, so a
    /// daemon that starts at this moment is not refused.
    public static func isHeld(directory: String) -> Bool {
        let descriptor = open(directory + "/lock", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return linux_is_file_locked(descriptor)
    }

    private static func holder(of descriptor: Int32) -> Int32? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        return Int32(String(decoding: bytes.prefix(count).prefix { $0 != 10 }, as: UTF8.self))
    }

    private static func failure(_ operation: String, _ path: String, _ kind: StoreError.Kind) -> StoreError {
        StoreError(kind: kind, operation: operation, path: path, message: String(cString: strerror(errno)))
    }
}
