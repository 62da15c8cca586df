import GatewayBus
import GatewayModel
import IngestAPI

/// Finds who and which band is meant, and says why something can't be done. As of one moment.
struct PeopleLookup {
    var persons: [Person]
    var bands: [BandStatus]

    func person(_ text: String) throws(CommandFailure) -> Person {
        if let person = persons.person(called: text) { return person }
        let known = persons.map(\.name).joined(separator: ", ")
        throw CommandFailure(
            .notFound,
            "nobody here is called '\(text)'. "
                + (known.isEmpty
                    ? "Add them with: bandferry person add '\(text)'" : "Known: \(known)."))
    }

    /// By device id, address or name; forgotten bands included, as their samples are still here.
    func device(_ text: String) throws(CommandFailure) -> DeviceID {
        if let band = bands.band(called: text) { return band.device }
        throw CommandFailure(.notFound, bands.refusal(of: text))
    }

    /// A name that is an id, or the other way round, would leave open who is meant.
    func checkNew(name: String, id: PersonID) throws(CommandFailure) {
        if let other = persons.first(where: { $0.name == name || $0.id.text == name }) {
            throw CommandFailure(
                .taken,
                "somebody here has the name or id '\(name)' already: \(title(other)); choose another name")
        }
        // Who came from the server without a name is called by the id.
        let nameless = persons.contains { $0.id == id && $0.name == id.text }
        if let other = persons.first(where: { $0.id == id || $0.name == id.text }), !nameless {
            throw CommandFailure(
                .taken, "somebody here has the id or name '\(id)' already: \(title(other)); choose another id"
            )
        }
    }

    // MARK: what stands in the way

    /// Names the assignment in the way, and the command that makes room.
    func overlap(of new: AssignRequest, with old: Assignment) -> CommandFailure {
        let band = bands.first { $0.device == old.device }?.address.description ?? old.device.text
        let wearer = persons.first { $0.id == old.person }
        let end = old.to.map { "until \(Self.time($0))" } ?? "until further notice"
        let remedy: String
        if old.from == new.from {
            remedy = "Take that one back first: bandferry unassign \(band) --from \(Self.time(old.from))"
        } else if old.from < new.from {
            remedy =
                "End that one first: bandferry assign \(band) \(Self.quoted(wearer?.name ?? old.person.text)) "
                + "--from \(Self.time(old.from)) --to \(Self.time(new.from))"
        } else {
            remedy =
                "Give the new one an end with --to \(Self.time(old.from)) or earlier, or take that one back: "
                + "bandferry unassign \(band) --from \(Self.time(old.from))"
        }
        return CommandFailure(
            .taken,
            "\(band) is worn by \(wearer.map(title) ?? old.person.text) from \(Self.time(old.from)) \(end), and only one "
                + "assignment can hold at a time.\n\(remedy)")
    }

    /// Names the assignment, and how to take it back if it was a mistake.
    func stillWears(_ person: Person, _ assignment: Assignment) -> CommandFailure {
        let band =
            bands.first { $0.device == assignment.device }?.address.description ?? assignment.device.text
        let verb = assignment.to == nil ? "wears" : "wore"
        return CommandFailure(
            .failed,
            "\(title(person)) \(verb) \(band) from \(Self.time(assignment.from)) on: only somebody who never wore a band is "
                + "removed.\nIf that was a mistake, take it back first: bandferry unassign \(band) --from "
                + Self.time(assignment.from))
    }

    func stillHasSamples(_ person: Person) -> CommandFailure {
        CommandFailure(
            .failed,
            "Samples that are stored here are of \(title(person)): only somebody without any is removed.\n"
                + "If an assignment was taken back just now, try again in a while: its samples follow by themselves."
        )
    }

    func nothingBegins(_ what: String, at from: Timestamp) -> CommandFailure {
        CommandFailure(
            .notFound,
            "no \(what) begins at \(Self.time(from)); 'bandferry assignments' and 'bandferry person list' show when they do"
        )
    }

    private func title(_ person: Person) -> String { "\(person.name) (\(person.id))" }

    /// RFC 3339, as short as it can be copied into a command.
    private static func time(_ time: Timestamp) -> String {
        let text = APITime(milliseconds: time.milliseconds).description
        if time.milliseconds % 1000 != 0 { return text }
        return "\(text.prefix(time.milliseconds % 60_000 == 0 ? 16 : 19))Z"
    }

    /// As a shell takes it.
    private static func quoted(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) || (0x61...0x7a).contains($0)
                || $0 == 0x5f
                || $0 == 0x2d || $0 >= 0x80
        }
        if isPlain { return text }
        return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
            + "'"
    }
}
