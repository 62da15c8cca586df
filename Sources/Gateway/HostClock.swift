import GatewayModel
import Glibc
import HistorySync

/// The host's clocks. Injected, so that tests run in their own time.
public struct HostClock: Sendable {
    /// Never steps, and goes on while the machine sleeps (CLOCK_BOOTTIME).
    public var monotonic: @Sendable () -> MonotonicTime
    /// May step at any moment: only ever a value to store.
    public var wall: @Sendable () -> Timestamp
    /// Names the boot that `monotonic` counts from.
    public var bootID: String

    public init(
        monotonic: @escaping @Sendable () -> MonotonicTime, wall: @escaping @Sendable () -> Timestamp,
        bootID: String
    ) {
        self.monotonic = monotonic
        self.wall = wall
        self.bootID = bootID
    }

    public static func system() -> HostClock {
        HostClock(
            monotonic: { MonotonicTime(milliseconds: milliseconds(of: CLOCK_BOOTTIME)) },
            wall: { Timestamp(milliseconds: milliseconds(of: CLOCK_REALTIME)) }, bootID: readBootID())
    }

    private static func milliseconds(of clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// Empty where the kernel does not tell.
    private static func readBootID() -> String {
        let descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(descriptor, &bytes, bytes.count)
        guard count > 0 else { return "" }
        return String(decoding: bytes[..<count].prefix { $0 > 32 }, as: UTF8.self)
    }
}
