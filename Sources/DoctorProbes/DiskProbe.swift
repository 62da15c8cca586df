import Doctor
import Glibc
import Store

/// How long a synced write takes where the database is, and how much room is left.
public struct DiskProbe: DoctorProbe {
    public let check = DoctorCheck.disk
    public let deadline = Duration.seconds(15)
    let directory: String

    /// 400 kB in all, and a rest after each write: a sync that runs keeps the disk to itself most of the time.
    static let writes = 100
    static let size = 4096
    static let restMicroseconds: UInt32 = 5_000
    /// Where a write takes very long, few are enough.
    static let budgetMicroseconds: Int64 = 8_000_000

    public init(directory: String) { self.directory = directory }

    public func gather() async throws(ProbeRefusal) -> FactUpdate {
        let directory = directory
        let (facts, refusal) = await blocking { () -> (DiskFacts, String?) in
            var facts = DiskFacts(directory: directory)
            var space = statvfs()
            if statvfs(directory, &space) == 0 {
                let free = Int64(clamping: UInt64(space.f_bavail) * UInt64(space.f_frsize))
                facts.freeBytes = free
                facts.roomBytes = SpaceJudge.Reading(free: free, log: Self.logSize(in: directory)).room
            }
            guard let descriptor = Self.scratchFile(in: directory) else {
                let code = errno
                // What is not there, or full, others say.
                return (facts, code == EACCES || code == EPERM ? String(cString: strerror(code)) : nil)
            }
            defer { close(descriptor) }
            (facts.syncMicroseconds, facts.ranOutOfTime) = Self.measure(descriptor)
            return (facts, nil)
        }
        if let refusal, facts.freeBytes == nil { throw ProbeRefusal(refusal) }
        return {
            $0.disk = facts
            if let refusal { $0.notPermitted[.disk] = refusal }
        }
    }

    /// Without a name, so that nothing is ever left of it; by a name that is removed at once where the file system can't.
    private static func scratchFile(in directory: String) -> Int32? {
        // O_TMPFILE, which glibc shows to GNU sources only.
        let nameless: Int32 = 0o20_000_000 | O_DIRECTORY
        let descriptor = open(directory, nameless | O_RDWR | O_CLOEXEC, 0o600)
        if descriptor >= 0 { return descriptor }
        guard errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL else { return nil }
        let path = "\(directory)/.doctor-\(getpid())"
        let named = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        guard named >= 0 else { return nil }
        unlink(path)
        return named
    }

    /// Of the write-ahead log, bytes; 0 where there is none, or where this user may not look.
    private static func logSize(in directory: String) -> Int64 {
        var facts = stat()
        return stat("\(directory)/gateway.db-wal", &facts) == 0 ? Int64(facts.st_size) : 0
    }

    /// Each in microseconds, and whether there was no time for more.
    private static func measure(_ descriptor: Int32) -> (times: [Int64], ranOutOfTime: Bool) {
        let page = [UInt8](repeating: 0x5a, count: size)
        var times: [Int64] = []
        var spent: Int64 = 0
        for index in 0..<writes {
            guard spent < budgetMicroseconds else { return (times, true) }
            let began = now()
            guard pwrite(descriptor, page, size, off_t(index * size)) == size, fdatasync(descriptor) == 0
            else {
                return (times, false)
            }
            let took = now() - began
            times.append(took)
            spent += took
            usleep(restMicroseconds)
        }
        return (times, false)
    }

    private static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }
}
