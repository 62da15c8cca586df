import CSystemd

/// What a `Type=notify` service tells systemd. Without systemd every call does nothing. sd_notify(3).
public enum ServiceManager {
    /// Start-up is finished: the bus, the store and the gateway answer.
    public static func ready(status: String? = nil) { notify("READY=1", status) }

    public static func stopping(status: String? = nil) { notify("STOPPING=1", status) }

    /// One line that `systemctl status` shows.
    public static func status(_ text: String) { notify(nil, text) }

    /// Call only after a round trip through every part that must be alive.
    public static func watchdog() { notify("WATCHDOG=1", nil) }

    /// Asks for this much time beyond what start-up or stop may usually take.
    public static func extendTimeout(_ duration: Duration) {
        notify("EXTEND_TIMEOUT_USEC=\(duration.inMilliseconds)000", nil)
    }

    /// How often systemd wants to hear `watchdog()`; nil when it does not watch this process. Ping at half of it.
    public static var watchdogInterval: Duration? {
        var microseconds: UInt64 = 0
        guard sd_watchdog_enabled(0, &microseconds) > 0 else { return nil }
        return .microseconds(Int64(clamping: microseconds))
    }

    private static func notify(_ state: String?, _ status: String?) {
        var lines: [String] = []
        if let state { lines.append(state) }
        if let status {
            lines.append("STATUS=" + status.split(whereSeparator: \.isNewline).joined(separator: " "))
        }
        // A failure can't be mended here: systemd then sees a service that never got ready, and says so.
        _ = sd_notify(0, lines.joined(separator: "\n"))
    }
}
