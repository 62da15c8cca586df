import GatewayModel

/// Who wore a band at a time that is known only within a bound.
public enum WearerVerdict: Hashable, Sendable {
    /// The band was never assigned to anybody.
    case unsaid
    case nobody
    /// The bound touches a border between two wearers, or between one and nobody.
    case undecided
    case person(PersonID)
}

/// The assignments of one band: disjoint, half open intervals.
public struct WearerHistory: Sendable {
    /// By rising `from`.
    public let assignments: [Assignment]

    public init(_ assignments: [Assignment]) {
        self.assignments = assignments.sorted { $0.from < $1.from }
    }

    public func wearer(at time: Int64, bound: Int64?) -> WearerVerdict {
        guard !assignments.isEmpty else { return .unsaid }
        let (low, high) = Self.span(of: time, bound: bound)
        var first: WearerVerdict = .nobody
        var isUncovered = true
        for assignment in assignments {
            let from = assignment.from.milliseconds
            if let to = assignment.to?.milliseconds, to <= low { continue }
            guard from <= high else { break }
            // Somebody wore it for a part of the bound: for the whole of it, or it can't be told.
            let person = WearerVerdict.person(assignment.person)
            if isUncovered {
                guard from <= low else { return .undecided }
                (first, isUncovered) = (person, false)
            } else if first != person {
                return .undecided
            }
            guard let to = assignment.to?.milliseconds, to <= high else { return first }
            // Where nobody takes over at once, nobody wore it for a while.
            guard follows(to) else { return .undecided }
        }
        return first
    }

    /// When a sample may have been measured. A bound may be another gateway's word, and as large as can be written.
    static func span(of time: Int64, bound: Int64?) -> (low: Int64, high: Int64) {
        guard let bound else { return (.min, .max) }
        let (low, isBeforeAll) = time.subtractingReportingOverflow(bound)
        let (high, isAfterAll) = time.addingReportingOverflow(bound)
        return (isBeforeAll ? .min : low, isAfterAll ? .max : high)
    }

    private func follows(_ time: Int64) -> Bool {
        assignments.contains { $0.from.milliseconds == time }
    }

    /// The first assignment that `new` would overlap. One of the same person with the same beginning is replaced by it, not
    /// overlapped.
    public func overlap(with new: Assignment) -> Assignment? {
        assignments.first { old in
            guard old.from != new.from || old.person != new.person else { return false }
            let newEndsFirst = new.to.map { $0 <= old.from } ?? false
            let oldEndsFirst = old.to.map { $0 <= new.from } ?? false
            return !newEndsFirst && !oldEndsFirst
        }
    }
}
