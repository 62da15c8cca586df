import CGLib

/// A zone as the system's database has it, from 1970 to 2106 (the years of an unsigned 32-bit time).
public struct SystemZone: Equatable, Sendable {
    /// From `at` on the offset is `offsetSeconds`.
    public struct Change: Equatable, Sendable {
        /// Seconds since 1970-01-01T00:00:00Z.
        public var at: Int64
        /// Ahead of UTC.
        public var offsetSeconds: Int
    }

    public let name: String
    /// In 1970, before the first change.
    public let initialOffsetSeconds: Int
    /// In order of time.
    public let changes: [Change]

    private static let end: Int64 = 1 << 32

    /// Nil when GLib can't read the file.
    init?(name: String, file: String) {
        // GLib takes what the variable TZ may hold: a path is a file and never read as a rule like "EST5EDT".
        var functions = zone_functions()
        guard zone_load(&functions), let handle = functions.new_identifier(file) else { return nil }
        defer { functions.unref(handle) }
        let zone = Zone(handle: handle, functions: functions)
        self.name = name
        let first = Interval(of: zone, at: 0)
        initialOffsetSeconds = first.offsetSeconds
        var changes: [Change] = []
        Self.find(in: zone, from: first, to: Interval(of: zone, at: Self.end)) { changes.append($0) }
        self.changes = changes
    }

    /// GLib numbers the intervals between changes, but does not say when they begin. Found by halving the time
    /// between two instants until the number changes from one second to the next.
    private static func find(
        in zone: Zone, from low: Interval, to high: Interval, _ found: (Change) -> Void
    ) {
        guard low.index != high.index else { return }
        guard high.time - low.time > 1 else {
            // Intervals also change with the abbreviation alone.
            if low.offsetSeconds != high.offsetSeconds {
                found(Change(at: high.time, offsetSeconds: high.offsetSeconds))
            }
            return
        }
        let middle = Interval(of: zone, at: low.time + (high.time - low.time) / 2)
        find(in: zone, from: low, to: middle, found)
        find(in: zone, from: middle, to: high, found)
    }

    private struct Zone {
        let handle: zone_handle
        let functions: zone_functions
    }

    private struct Interval {
        let time: Int64
        let index: Int32
        let offsetSeconds: Int

        init(of zone: Zone, at time: Int64) {
            self.time = time
            index = zone.functions.find_interval(zone.handle, Int32(glib_time_type_universal), time)
            offsetSeconds = Int(zone.functions.get_offset(zone.handle, index))
        }
    }
}
