/// A dictionary with a bound: what has not been used for longest makes room for what is new.
struct RecencyMap<Key: Hashable, Value> {
    private struct Slot {
        var key: Key
        var value: Value
        /// Places of the neighbours by use; nil at either end.
        var older: Int?
        var newer: Int?
    }

    private let capacity: Int
    private var slots: [Slot] = []
    private var places: [Key: Int] = [:]
    private var oldest: Int?
    private var newest: Int?

    /// `capacity` is at least 1.
    init(capacity: Int) { self.capacity = max(1, capacity) }

    var count: Int { slots.count }

    /// Does not count as use.
    func peek(_ key: Key) -> Value? { places[key].map { slots[$0].value } }

    mutating func use(_ key: Key) -> Value? {
        guard let place = places[key] else { return nil }
        makeNewest(place)
        return slots[place].value
    }

    mutating func set(_ value: Value, for key: Key) {
        if let place = places[key] {
            slots[place].value = value
            makeNewest(place)
        } else if slots.count < capacity {
            slots.append(Slot(key: key, value: value))
            places[key] = slots.count - 1
            link(slots.count - 1)
        } else if let place = oldest {
            unlink(place)
            places[slots[place].key] = nil
            slots[place] = Slot(key: key, value: value)
            places[key] = place
            link(place)
        }
    }

    private mutating func makeNewest(_ place: Int) {
        guard newest != place else { return }
        unlink(place)
        link(place)
    }

    private mutating func unlink(_ place: Int) {
        let (older, newer) = (slots[place].older, slots[place].newer)
        if let older { slots[older].newer = newer } else { oldest = newer }
        if let newer { slots[newer].older = older } else { newest = older }
    }

    private mutating func link(_ place: Int) {
        slots[place].older = newest
        slots[place].newer = nil
        if let newest { slots[newest].newer = place } else { oldest = place }
        newest = place
    }
}
