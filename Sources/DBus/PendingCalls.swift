import Dispatch

typealias CallResult = Result<[BusValue], BusError>

/// Calls that wait for a reply, with one timer for all their deadlines. Used only on the connection's queue.
struct PendingCalls {
    struct Entry {
        var deadline: DispatchTime
        var takesFileDescriptors: Bool
        /// What the call is about, so that all calls about a thing that went can be failed.
        var subject: String?
        var complete: (CallResult) -> Void
    }

    private var entries: [UInt32: Entry] = [:]

    /// The earliest deadline; nil when nothing waits.
    var nextDeadline: DispatchTime? { entries.values.map(\.deadline).min() }
    var isEmpty: Bool { entries.isEmpty }

    mutating func add(_ entry: Entry, serial: UInt32) { entries[serial] = entry }

    mutating func take(serial: UInt32) -> Entry? { entries.removeValue(forKey: serial) }

    mutating func takeExpired(at now: DispatchTime) -> [Entry] {
        let serials = entries.filter { $0.value.deadline <= now }.keys.sorted()
        return serials.compactMap { entries.removeValue(forKey: $0) }
    }

    mutating func take(about subject: String) -> [Entry] {
        let serials = entries.filter { $0.value.subject == subject }.keys.sorted()
        return serials.compactMap { entries.removeValue(forKey: $0) }
    }

    mutating func takeAll() -> [Entry] {
        defer { entries = [:] }
        return entries.sorted { $0.key < $1.key }.map(\.value)
    }
}

extension Duration {
    /// From now; far enough is never.
    var asDispatchTime: DispatchTime {
        let (seconds, attoseconds) = components
        guard seconds >= 0 else { return .now() }
        let bounded = min(seconds, 1_000_000_000)
        return .now() + .seconds(Int(bounded)) + .nanoseconds(Int(attoseconds / 1_000_000_000))
    }
}
