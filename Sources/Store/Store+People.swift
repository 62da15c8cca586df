import GatewayModel
import Timekeeping

/// Persons, where they were, and which band they wore when. What was stored before follows late news.
extension Store {
    /// False when the id or the name is taken.
    public func addPerson(_ person: Person) throws(StoreError) -> Bool {
        try write("add a person") { engine, _ in try engine.people.add(person) }
    }

    /// Somebody who wears and wore nothing, and whom no sample names, is no longer known here.
    public func removePerson(_ person: PersonID) async throws(StoreError) -> RemovePersonOutcome {
        let row = try read("look for a person") { engine in try engine.people.id(of: person) }
        guard let row else { return .unknownPerson }
        // Samples have no index by person. In slices: a commit of a sync never waits for all of them.
        var last: Int64 = -1
        while let slice = try read(
            "look for samples of a person",
            { try $0.people.hasSamples(row, after: last, limit: Self.personSlice) })
        {
            if slice.found { return .hasSamples }
            last = slice.last
            await Task.yield()
        }
        return try write("remove a person") { engine, _ in
            if let worn = try engine.people.assignments().first(where: { $0.person == person }) {
                return .wears(worn)
            }
            if try engine.people.hasSecondReadings(row) { return .hasSamples }
            try engine.people.remove(row)
            return .done
        }
    }

    private static let personSlice = 10_000

    /// By name.
    public func persons() throws(StoreError) -> [Person] {
        try read("list the persons") { engine in try engine.people.all() }
    }

    /// Who wore a band when, as people here said.
    public func assignments(of device: DeviceID) throws(StoreError) -> [Assignment] {
        try read("list the assignments") { engine in
            try engine.people.assignments().filter { $0.device == device }
        }
    }

    /// From `stay.from` on the person is in that zone. False for a person that is not known.
    public func setZone(_ stay: ZoneStay, of person: PersonID) throws(StoreError) -> Bool {
        try write("set a zone") { engine, _ in
            guard let id = try engine.people.id(of: person) else { return false }
            try engine.people.setZone(stay, of: id)
            try engine.personMoved(id, from: stay.from)
            return true
        }
    }

    /// False when no stay of the person begins then.
    public func removeZone(from: Timestamp, of person: PersonID) throws(StoreError) -> Bool {
        try write("remove a zone") { engine, _ in
            guard let id = try engine.people.id(of: person),
                try engine.people.removeZone(from: from, of: id)
            else { return false }
            try engine.personMoved(id, from: from)
            return true
        }
    }

    /// An assignment with the same band, person and beginning is replaced; one that overlaps is refused.
    public func assign(_ assignment: Assignment) throws(StoreError) -> AssignOutcome {
        try write("assign a band") { engine, _ in
            guard assignment.to.map({ $0 > assignment.from }) ?? true else { return .emptyInterval }
            guard let band = try engine.bands.id(of: assignment.device) else { return .unknownBand }
            guard let person = try engine.people.id(of: assignment.person) else { return .unknownPerson }
            let history = WearerHistory(try engine.people.assignments(band: band))
            if let other = history.overlap(with: assignment) { return .overlaps(other) }
            let replaced = history.assignments.first { $0.from == assignment.from }
            if let replaced { try engine.people.withdraw(replaced, band: band) }
            try engine.people.put(assignment, band: band, person: person)
            try engine.wearerChanged([replaced, assignment].compactMap { $0 }, band: band)
            return .done
        }
    }

    /// False when no assignment of the band begins then.
    public func unassign(_ device: DeviceID, from: Timestamp) throws(StoreError) -> Bool {
        try write("take an assignment back") { engine, _ in
            guard let band = try engine.bands.id(of: device),
                let old = try engine.people.assignments(band: band).first(where: { $0.from == from })
            else { return false }
            try engine.people.withdraw(old, band: band)
            try engine.people.remove(from: from, band: band)
            try engine.wearerChanged([old], band: band)
            return true
        }
    }
}

extension Engine {
    /// A sample may lie so far from the border that its bound touches: half a day; vaguer ones are marked anyway.
    private static let reach = DayTable.milliseconds

    fileprivate func wearerChanged(_ assignments: [Assignment], band: Int64) throws {
        times.forget()
        let ends = assignments.map(\.to)
        try mark(
            band: band, from: (assignments.map(\.from.milliseconds).min() ?? 0) - Self.reach,
            to: ends.contains(nil) ? nil : (ends.compactMap { $0?.milliseconds }.max() ?? 0) + Self.reach)
    }

    fileprivate func personMoved(_ person: Int64, from: Timestamp) throws {
        times.forget()
        _ = try times.revisions.personMoved(person, from: from)
    }
}
