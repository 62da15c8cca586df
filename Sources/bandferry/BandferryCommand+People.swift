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
            try await daemon().setZone(zone, from: from.timestamp(now: now), of: person)
            try say(
                "\(person) is in \(zone) from \(stamp(from, now: now)) on. It counts where the band doesn't know its UTC "
                    + "offset. \(Self.following)")
        case .removeZone(let person, let from):
            try await daemon().removeZone(from: from.timestamp(now: .now), of: person)
            try say("That zone of \(person) is taken back. \(Self.following)")
        }
    }

    mutating func assign(_ band: String, to person: String, from: TimeArgument, to: TimeArgument?)
        async throws
    {
        let now = Timestamp.now
        let request = AssignRequest(
            band: band, person: person, from: from.timestamp(now: now), to: to?.timestamp(now: now))
        try await daemon().assign(request)
        let end = to.map { "until \(stamp($0, now: now))" } ?? "on"
        try say("\(person) wears \(band) from \(stamp(from, now: now)) \(end). \(Self.following)")
    }

    mutating func unassign(_ band: String, from: TimeArgument) async throws {
        try await daemon().unassign(band, from: from.timestamp(now: .now))
        try say("That assignment of \(band) is taken back. \(Self.following)")
    }

    private static let following = "Samples that are stored already follow by themselves."

    private func stamp(_ time: TimeArgument, now: Timestamp) -> String {
        LocalTimes.ofThisHost(now: now).stamp(time.timestamp(now: now))
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
