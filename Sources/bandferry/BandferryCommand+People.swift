import CommandLineText
import GatewayBus
import GatewayModel

/// Who wears what since when, and where they are: written by the daemon, read from the state directory.
extension BandferryCommand {
    mutating func person(_ command: PersonCommand) async throws {
        switch command {
        case .add(let name, let id, let sharesName):
            let request = AddPersonRequest(name: name, id: id, sharesName: sharesName)
            let id = try await daemon().addPerson(request)
            let person = Person(id: id, name: name, sharesName: sharesName)
            try show(PersonText.json(person)) { _ in PersonText.added(name, id: id, sharesName: sharesName) }
        case .list:
            let persons = try LocalState(settings()).persons()
            let now = Timestamp.now
            try show(persons.json) {
                persons.rendered(now: now, times: .ofThisHost(now: now), terminal: $0)
            }
        case .setZone(let person, let zone, let from):
            let now = Timestamp.now
            let start = from.timestamp(now: now)
            try await daemon().setZone(zone, from: start, of: person)
            let stamp = stamp(start, now: now)
            try show(ChangeText.zone(zone, of: person, from: start)) { _ in
                "\(person) is in \(zone) from \(stamp) on. It counts where the band doesn't know its UTC offset. "
                    + "\(Self.following)\n"
            }
        case .removeZone(let person, let from):
            let start = from.timestamp(now: .now)
            try await daemon().removeZone(from: start, of: person)
            try show(ChangeText.zone(nil, of: person, from: start)) { _ in
                "That zone of \(person) is taken back. \(Self.following)\n"
            }
        case .remove(let person):
            try await daemon().removePerson(person)
            try show(ChangeText.removed(person: person)) { _ in
                "\(person) is no longer known here. The server keeps the id, and the name where it was shared.\n"
            }
        }
    }

    mutating func assign(_ band: String, to person: String, from: TimeArgument, to: TimeArgument?)
        async throws
    {
        let now = Timestamp.now
        let request = AssignRequest(
            band: band, person: person, from: from.timestamp(now: now), to: to?.timestamp(now: now))
        try await daemon().assign(request)
        let json = ChangeText.assigned(band, to: person, from: request.from, to: request.to)
        let start = stamp(request.from, now: now)
        let end = request.to.map { "until \(stamp($0, now: now))" } ?? "on"
        try show(json) { _ in "\(person) wears \(band) from \(start) \(end). \(Self.following)\n" }
    }

    mutating func unassign(_ band: String, from: TimeArgument) async throws {
        let start = from.timestamp(now: .now)
        try await daemon().unassign(band, from: start)
        try show(ChangeText.unassigned(band, from: start)) { _ in
            "That assignment of \(band) is taken back. \(Self.following)\n"
        }
    }

    private static let following = "Samples that are stored already follow by themselves."

    private func stamp(_ time: Timestamp, now: Timestamp) -> String {
        LocalTimes.ofThisHost(now: now).stamp(time)
    }

    mutating func assignments(of band: String?) throws {
        let assignments = try LocalState(settings()).assignments(of: band)
        try show(assignments.json) { assignments.rendered(times: .ofThisHost(now: .now), terminal: $0) }
    }

    mutating func gaps(of device: String?, all: Bool) throws {
        let gaps = try LocalState(settings()).gaps(of: device)
        try show(gaps.json) { gaps.rendered(all: all, times: .ofThisHost(now: .now), terminal: $0) }
    }
}
