import CLinux
import FileReading
import GatewayModel
import Glibc
import HistorySync
import Timekeeping

/// The host's clocks. Injected, so that tests run in their own time.
public struct HostClock: Sendable {
    /// Never steps, and goes on while the machine sleeps (CLOCK_BOOTTIME).
    public var monotonic: @Sendable () -> MonotonicTime
    /// May step at any moment: only ever a value to store.
    public var wall: @Sendable () -> Timestamp
    /// What the kernel says of its wall clock.
    public var kernel: @Sendable () -> KernelClock
    /// Names the boot that `monotonic` counts from.
    public var bootID: String
    /// The wall clock was set from a clock that runs while the host is off.
    public var hasBatteryClock: Bool

    public init(
        monotonic: @escaping @Sendable () -> MonotonicTime, wall: @escaping @Sendable () -> Timestamp,
        kernel: @escaping @Sendable () -> KernelClock, bootID: String, hasBatteryClock: Bool
    ) {
        self.monotonic = monotonic
        self.wall = wall
        self.kernel = kernel
        self.bootID = bootID
        self.hasBatteryClock = hasBatteryClock
    }

    public static func system() -> HostClock {
        HostClock(
            monotonic: { MonotonicTime(milliseconds: milliseconds(of: CLOCK_BOOTTIME)) },
            wall: { Timestamp(milliseconds: milliseconds(of: CLOCK_REALTIME)) }, kernel: readKernel,
            bootID: readBootID(), hasBatteryClock: lastsWhileOff)
    }

    /// Boards that are described by a device tree often have no clock that runs while they are off; other machines have
    /// one, or get their time from their host.
    private static var lastsWhileOff: Bool {
        access("/sys/class/rtc/rtc0", F_OK) == 0 || access("/proc/device-tree", F_OK) != 0
    }

    @Sendable private static func readKernel() -> KernelClock {
        var error = 0
        let isSynchronised = linux_clock_is_synchronised(&error) != 0
        return KernelClock(
            isSynchronised: isSynchronised, maxErrorMilliseconds: (Int64(error) + 999) / 1000)
    }

    private static func milliseconds(of clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// Empty where the kernel does not tell.
    private static func readBootID() -> String {
        let bytes = try? ReadableFile("/proc/sys/kernel/random/boot_id").bytes(limit: 64)
        return String(decoding: (bytes ?? []).prefix { $0 > 32 }, as: UTF8.self)
    }
}
