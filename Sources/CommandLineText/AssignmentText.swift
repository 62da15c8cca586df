import GatewayModel

/// `bandferry assignments`: who wore which band when.
public struct AssignmentText {
    private let assignments: [Assignment]
    private let undecided: [UndecidedRange]
    private let persons: [Person]
    private let bands: [BandStatus]

    public init(
        _ assignments: [Assignment], undecided: [UndecidedRange], persons: [Person], bands: [BandStatus]
    ) {
        self.assignments = assignments
        self.undecided = undecided
        self.persons = persons
        self.bands = bands
    }

    public func rendered(times: LocalTimes, terminal: Terminal) -> String {
        guard !assignments.isEmpty else {
            return wrapped(
                "No band is assigned to anybody: samples go up without a person. 'bandferry assign BAND PERSON --from TIME' "
                    + "assigns one.", width: terminal.width, indent: "") + "\n"
        }
        var table = TextTable([.init("BAND"), .init("PERSON"), .init("FROM"), .init("TO")])
        for assignment in assignments {
            table.add([
                bandTitle(assignment.device, in: bands), name(assignment.person),
                times.stamp(assignment.from),
                assignment.to.map(times.stamp) ?? "until further notice",
            ])
        }
        var parts = [table.rendered(for: terminal)]
        if !undecided.isEmpty {
            let notes = undecided.map { note($0, times: times, terminal: terminal) }
            let advice = wrapped(Self.advice, width: terminal.forProse.width, indent: "    ")
            parts.append((notes + [advice]).joined(separator: "\n"))
        }
        return parts.joined(separator: "\n\n") + "\n"
    }

    private static let advice =
        "What to do: If 'bandferry status' complains of this host's clock, mend that. Else, if you know better, move the "
        + "change by a few minutes with 'bandferry assign'."

    private func note(_ range: UndecidedRange, times: LocalTimes, terminal: Terminal) -> String {
        let when =
            range.from == range.to
            ? "at \(times.moment(range.from))" : "from \(times.span(range.from, range.to))"
        let seqs =
            range.seqs.count == 1
            ? "number \(range.seqs.lowerBound)"
            : "numbers \(range.seqs.lowerBound) to \(range.seqs.upperBound)"
        return Note(
            text: "\(counted(range.count, "sample")) \(when) (\(seqs) of ring \(range.ring)) "
                + "\(range.count == 1 ? "is" : "are") nobody's: the time is not exact enough to tell on which side of "
                + "a change of hands \(range.count == 1 ? "it lies" : "they lie").",
            remedy: ""
        ).rendered(subject: bandTitle(range.device, in: bands), for: terminal.forProse)
    }

    private func name(_ id: PersonID) -> String {
        persons.first { $0.id == id }.map { "\($0.name) (\(id))" } ?? id.text
    }

    // MARK: JSON

    public var json: JSONText {
        .object([
            ("assignments", .array(assignments.map(Self.json))),
            (
                "undecided",
                .array(
                    undecided.map {
                        .object([
                            ("device_id", .string($0.device.text)), ("ring", .string($0.ring.description)),
                            ("first_seq", .number($0.seqs.lowerBound)),
                            ("last_seq", .number($0.seqs.upperBound)),
                            ("count", .number($0.count)), ("from", StatusText.time($0.from)),
                            ("to", StatusText.time($0.to)),
                        ])
                    })
            ),
        ])
    }

    private static func json(_ assignment: Assignment) -> JSONText {
        .object([
            ("device_id", .string(assignment.device.text)), ("person", .string(assignment.person.text)),
            ("from", StatusText.time(assignment.from)), ("to", StatusText.time(assignment.to)),
        ])
    }
}
