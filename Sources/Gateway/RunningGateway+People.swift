import GatewayBus
import GatewayModel
import Store
import ZoneDatabase

/// Persons, their zones, and which band they wear. What is stored already is worked over by the store.
extension RunningGateway {
    func addPerson(_ request: AddPersonRequest) async throws -> PersonID {
        let id = request.id ?? .random()
        try await changing { lookup in
            try lookup.checkNew(name: request.name, id: id)
            let person = Person(id: id, name: request.name, sharesName: request.sharesName)
            guard try await store.addPerson(person) else {
                // Somebody added them since the look.
                throw CommandFailure(.taken, "the name or the id was just given to somebody; try again")
            }
        }
        return id
    }

    func removePerson(_ name: String) async throws {
        try await changing { lookup in
            let person = try lookup.person(name)
            switch try await store.removePerson(person.id) {
            case .done: return
            case .wears(let assignment): throw lookup.stillWears(person, assignment)
            case .hasSamples: throw lookup.stillHasSamples(person)
            case .unknownPerson: throw CommandFailure(.notFound, "\(person.name) is not known any more")
            }
        }
    }

    func setZone(_ zone: String, from: Timestamp, of person: String) async throws {
        guard zones.rules(named: zone) != nil else {
            throw CommandFailure(
                .invalidArguments,
                "this system knows no time zone '\(zone)'; write one such as Europe/Berlin: 'timedatectl list-timezones' "
                    + "lists them")
        }
        try await changing { lookup in
            let person = try lookup.person(person)
            guard try await store.setZone(ZoneStay(zone: zone, from: from), of: person.id) else {
                throw CommandFailure(.notFound, "\(person.name) is not known any more")
            }
        }
    }

    func removeZone(from: Timestamp, of person: String) async throws {
        try await changing { lookup in
            let person = try lookup.person(person)
            guard try await store.removeZone(from: from, of: person.id) else {
                throw lookup.nothingBegins("zone of \(person.name)", at: from)
            }
        }
    }

    func assign(_ request: AssignRequest) async throws {
        try await changing { lookup in
            let device = try lookup.device(request.band)
            let person = try lookup.person(request.person)
            let assignment = Assignment(
                device: device, person: person.id, from: request.from, to: request.to)
            switch try await store.assign(assignment) {
            case .done: return
            case .overlaps(let other): throw lookup.overlap(of: request, with: other)
            case .unknownPerson: throw CommandFailure(.notFound, "\(person.name) is not known any more")
            case .unknownBand: throw CommandFailure(.notFound, "\(device) is not known any more")
            case .emptyInterval:
                throw CommandFailure(
                    .invalidArguments, "it would end when or before it begins: 'to' must be after 'from'")
            }
        }
    }

    func unassign(_ band: String, from: Timestamp) async throws {
        try await changing { lookup in
            let device = try lookup.device(band)
            guard try await store.unassign(device, from: from) else {
                throw lookup.nothingBegins("assignment of \(band)", at: from)
            }
        }
    }

    /// Hands over who and what there is, and passes on that something may have changed.
    private func changing(_ body: (PeopleLookup) async throws -> Void) async throws {
        do {
            let lookup = PeopleLookup(
                persons: try await store.persons(), bands: try await store.bandStatuses())
            try await body(lookup)
        } catch let error as StoreError {
            let problem = error.problem
            throw CommandFailure(.notReady, "\(problem.text) \(problem.remedy)")
        }
        haveChanged()
    }
}

extension PersonID {
    /// `p_` and 16 hex digits: nothing can be told from it, and two gateways never make the same one.
    static func random() -> PersonID {
        let digits = String(UInt64.random(in: 0 ... .max), radix: 16)
        let text = "p_" + String(repeating: "0", count: 16 - digits.count) + digits
        guard let id = PersonID(text) else { preconditionFailure("hex digits make an id") }
        return id
    }
}
