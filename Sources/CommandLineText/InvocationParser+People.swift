import GatewayModel

/// Who wears what since when, and where they are.
extension InvocationParser {
    mutating func person() throws(UsageError) -> PersonCommand {
        switch takeWord() {
        case "add": return try addPerson()
        case "list": return .list
        case "remove": return try removePerson()
        case "zone": return try zone()
        case nil:
            throw UsageError(
                message: "say person add, person list, person remove or person zone", command: "person")
        case let word?:
            throw UsageError(
                message: "there is no 'person \(word)'; there are add, list, remove and zone",
                command: "person")
        }
    }

    private mutating func addPerson() throws(UsageError) -> PersonCommand {
        guard let name = takeWord() else {
            throw UsageError(message: "'person add' needs a name, such as Anna", command: "person")
        }
        var id: PersonID?
        if let text = takeValue("id") {
            guard let parsed = PersonID(text) else {
                throw UsageError(
                    message: "--id has 1 to 128 letters, digits or signs, without blanks and /",
                    command: "person")
            }
            id = parsed
        }
        return .add(name: name, id: id, sharesName: takeSwitch("share-name"))
    }

    private mutating func removePerson() throws(UsageError) -> PersonCommand {
        guard let person = takeWord() else {
            throw UsageError(message: "'person remove' needs a person's name or id", command: "person")
        }
        return .remove(person)
    }

    private mutating func zone() throws(UsageError) -> PersonCommand {
        guard let person = takeWord() else {
            throw UsageError(message: "'person zone' needs a person's name or id", command: "person")
        }
        let removes = takeSwitch("remove")
        let zone = takeWord()
        let from = try requiredTime("from", for: "person")
        switch (zone, removes) {
        case (let zone?, false): return .setZone(person: person, zone: zone, from: from)
        case (nil, true): return .removeZone(person: person, from: from)
        case (nil, false):
            throw UsageError(
                message: "name the time zone, such as Europe/Berlin, or say --remove", command: "person")
        case (_?, true):
            throw UsageError(
                message: "with --remove no zone is named: --from says which entry goes", command: "person")
        }
    }

    mutating func assign() throws(UsageError) -> Command {
        let band = try requiredBand(for: "assign")
        guard let person = takeWord() else {
            throw UsageError(
                message: "'assign' needs a person's name or id after the band", command: "assign")
        }
        let from = try requiredTime("from", for: "assign")
        return .assign(band: band, person: person, from: from, to: try time("to", for: "assign"))
    }

    mutating func unassign() throws(UsageError) -> Command {
        let band = try requiredBand(for: "unassign")
        guard let from = try time("from", for: "unassign") else {
            throw UsageError(
                message:
                    "say which one: --from with the time at which it begins, as 'bandferry assignments' shows it",
                command: "unassign")
        }
        return .unassign(band: band, from: from)
    }

    // MARK: times

    private mutating func requiredTime(_ option: String, for command: String) throws(UsageError)
        -> TimeArgument
    {
        if let time = try time(option, for: command) { return time }
        throw UsageError(
            message: "say since when: --\(option) now, or --\(option) with a time such as 2026-10-03T09:00Z",
            command: command)
    }

    private mutating func time(_ option: String, for command: String) throws(UsageError) -> TimeArgument? {
        guard let text = takeValue(option) else { return nil }
        do throws(TimeArgument.Refusal) {
            return try TimeArgument(text)
        } catch {
            throw UsageError(message: "--\(option): '\(text)' \(error.reason)", command: command)
        }
    }
}
