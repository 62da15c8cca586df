/// Values by the text they belong to; when it is full, the one that was not asked for longest makes room.
struct RecentCache<Value> {
    private let capacity: Int
    private var entries: [String: (value: Value, used: UInt64)] = [:]
    private var clock: UInt64 = 0

    init(capacity: Int) { self.capacity = max(1, capacity) }

    var count: Int { entries.count }

    mutating func find(_ key: String) -> Value? {
        guard let index = entries.index(forKey: key) else { return nil }
        clock += 1
        entries.values[index].used = clock
        return entries.values[index].value
    }

    /// Returns what had to go.
    mutating func insert(_ value: Value, for key: String) -> Value? {
        var displaced: Value?
        if let old = entries[key] {
            displaced = old.value
        } else if entries.count >= capacity, let oldest = entries.min(by: { $0.value.used < $1.value.used }) {
            displaced = oldest.value.value
            entries[oldest.key] = nil
        }
        clock += 1
        entries[key] = (value, clock)
        return displaced
    }

    /// Empties it and returns what was in it.
    mutating func removeAll() -> [Value] {
        defer { entries = [:] }
        return entries.values.map(\.value)
    }
}
