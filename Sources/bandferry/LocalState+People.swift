import CommandLineText
import GatewayModel
import Store

/// Who wears what, and what is missing, as the state directory says.
extension LocalState {
    func gaps(of name: String?) throws -> GapText {
        let bands = try reader.status()
        let gaps = try reader.gaps(try device(name, in: bands))
        return GapText(gaps.map { BandGap(device: $0.device, gap: $0.gap) }, bands: bands)
    }

    func persons() throws -> PersonText {
        PersonText(
            try reader.persons(), assignments: try reader.assignments(), bands: try reader.status())
    }

    func assignments(of name: String?) throws -> AssignmentText {
        let bands = try reader.status()
        let device = try device(name, in: bands)
        return AssignmentText(
            try reader.assignments(device),
            undecided: try reader.undecided(device),
            persons: try reader.persons(), bands: bands)
    }

    func person(_ text: String) throws -> Person {
        let persons = try reader.persons()
        if let person = persons.person(called: text) { return person }
        let known = persons.map(\.name).joined(separator: ", ")
        throw Failure(
            .notFound, "Nobody here is called '\(text)'.\nKnown: \(known.isEmpty ? "nobody yet" : known).")
    }
}
