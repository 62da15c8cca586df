import Glibc
import IngestAPI

/// The host's wall clock, read only where a time is stored or sent.
public enum WallClock {
    public static let now: @Sendable () -> APITime = {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return APITime(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }
}
