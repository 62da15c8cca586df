import GatewayModel
import Glibc

/// The time that the uploader goes by. Waits are monotonic; wall time is only shown, and compared with HTTP dates.
public protocol UploadClock: Sendable {
    /// Since a fixed moment; never steps back, counts while the machine sleeps.
    var monotonic: Duration { get }
    var wall: Timestamp { get }
}

/// The kernel's clocks.
public struct SystemUploadClock: UploadClock {
    public init() {}

    public var monotonic: Duration {
        let time = Self.read(CLOCK_BOOTTIME)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    public var wall: Timestamp {
        let time = Self.read(CLOCK_REALTIME)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec / 1_000_000))
    }

    private static func read(_ clock: clockid_t) -> timespec {
        var time = timespec()
        clock_gettime(clock, &time)
        return time
    }
}
