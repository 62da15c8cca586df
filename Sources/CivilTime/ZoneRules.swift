/// A time zone as a value: which UTC offset its clocks have, from when on.
public struct ZoneRules: Equatable, Sendable {
    /// From `at` on the zone's clocks are `offsetMinutes` ahead of UTC.
    public struct Transition: Hashable, Sendable {
        /// Milliseconds since 1970-01-01T00:00:00Z.
        public var at: Int64
        public var offsetMinutes: Int

        public init(at: Int64, offsetMinutes: Int) {
            self.at = at
            self.offsetMinutes = offsetMinutes
        }
    }

    /// As the IANA database spells it.
    public let name: String
    /// Before the first transition.
    public let initialOffsetMinutes: Int
    /// In order of time; each changes the offset.
    public let transitions: [Transition]

    /// Offsets are kept within a day, so that a local date is never far from the UTC date.
    public init(name: String, initialOffsetMinutes: Int, transitions: [Transition] = []) {
        self.name = name
        self.initialOffsetMinutes = Self.withinDay(initialOffsetMinutes)
        var kept: [Transition] = []
        var offset = self.initialOffsetMinutes
        for transition in transitions.sorted(by: { $0.at < $1.at }) {
            let next = Self.withinDay(transition.offsetMinutes)
            guard next != offset else { continue }
            kept.append(Transition(at: transition.at, offsetMinutes: next))
            offset = next
        }
        self.transitions = kept
    }

    public static let utc = ZoneRules(name: "UTC", initialOffsetMinutes: 0)

    /// Minutes ahead of UTC at an instant in milliseconds since 1970.
    public func offsetMinutes(at milliseconds: Int64) -> Int {
        offset(before: firstTransition(after: milliseconds))
    }

    private static func withinDay(_ minutes: Int) -> Int { min(max(minutes, -1439), 1439) }

    /// The index of the first transition that comes after the instant.
    func firstTransition(after milliseconds: Int64) -> Int {
        var (low, high) = (0, transitions.count)
        while low < high {
            let middle = (low + high) / 2
            if transitions[middle].at <= milliseconds { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The offset in force just before the transition of that index.
    func offset(before index: Int) -> Int {
        index == 0 ? initialOffsetMinutes : transitions[index - 1].offsetMinutes
    }
}
