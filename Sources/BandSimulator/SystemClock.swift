import Glibc

/// The two clocks of a simulator: what time it is, and how much of it has passed.
enum SystemClock {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    static var wallMilliseconds: Int64 {
        let now = read(CLOCK_REALTIME)
        return Int64(now.tv_sec) * 1_000 + Int64(now.tv_nsec) / 1_000_000
    }

    /// CLOCK_MONOTONIC: comparable between the processes of one machine.
    static var monotonicNanoseconds: Int64 {
        let now = read(CLOCK_MONOTONIC)
        return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
    }

    private static func read(_ clock: clockid_t) -> timespec {
        var now = timespec()
        clock_gettime(clock, &now)
        return now
    }
}
