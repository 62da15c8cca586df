import GatewayModel

/// `bandferry person list`, and what `person add` answers.
public struct PersonText {
    private let persons: [Person]
    private let assignments: [Assignment]
    private let bands: [BandStatus]

    /// `assignments` and `bands` tell who wears what now.
    public init(_ persons: [Person], assignments: [Assignment], bands: [BandStatus]) {
        self.persons = persons
        self.assignments = assignments
        self.bands = bands
    }

    public func rendered(now: Timestamp, times: LocalTimes, terminal: Terminal) -> String {
        guard !persons.isEmpty else {
            return wrapped(
                "Nobody is known here yet. 'bandferry person add NAME' adds somebody; 'bandferry assign' then says "
                    + "which band they wear.", width: terminal.width, indent: "") + "\n"
        }
        return persons.map { block($0, now: now, times: times, terminal: terminal) }
            .joined(separator: "\n\n") + "\n"
    }

    private func block(_ person: Person, now: Timestamp, times: LocalTimes, terminal: Terminal) -> String {
        var lines = [("id", person.id.text)]
        lines.append(("name", person.sharesName ? "shared with the server" : "stays on this gateway"))
        for (index, stay) in person.zones.enumerated() {
            let text = "\(stay.zone) from \(times.stamp(stay.from))"
            lines.append((index == 0 ? "zone" : "", text))
        }
        if person.zones.isEmpty { lines.append(("zone", "not said; the band or this host gives the offset")) }
        for (index, band) in worn(by: person, now: now).enumerated() {
            lines.append((index == 0 ? "wears" : "", band))
        }
        let text = lines.map { label, value in
            let padded = label + String(repeating: " ", count: 5 - label.count)
            return hanging(printable(value), after: "  \(padded)  ", width: terminal.width)
        }
        return ([terminal.bold(printable(person.name))] + text).joined(separator: "\n")
    }

    private func worn(by person: Person, now: Timestamp) -> [String] {
        assignments.filter {
            $0.person == person.id && $0.from <= now && ($0.to.map { now < $0 } ?? true)
        }.map { bandTitle($0.device, in: bands) }
    }

    /// What a new person is called where.
    public static func added(_ name: String, id: PersonID, sharesName: Bool) -> String {
        let server = sharesName ? "the server is told the name" : "the server only knows the id"
        return "\(printable(name)) is \(id); \(server).\n"
            + "Next, say which band they wear: 'bandferry help assign' shows how.\n"
    }

    // MARK: JSON

    public var json: JSONText { .array(persons.map(Self.json)) }

    public static func json(_ person: Person) -> JSONText {
        .object([
            ("id", .string(person.id.text)), ("name", .string(person.name)),
            ("share_name", .bool(person.sharesName)),
            (
                "zones",
                .array(
                    person.zones.map {
                        .object([("zone", .string($0.zone)), ("from", StatusText.time($0.from))])
                    })
            ),
        ])
    }
}

/// `text` after a label, wrapped so that what follows stands below its beginning.
func hanging(_ text: String, after label: String, width: Int) -> String {
    let blank = String(repeating: " ", count: label.count)
    return label + wrapped(text, width: width, indent: blank).dropFirst(label.count)
}
