import GatewayModel

/// How `bandferry sync` ended.
public enum SyncText {
    public static func rendered(_ reports: [SyncReport], terminal: Terminal) -> String {
        guard !reports.isEmpty else {
            return "There is no band to sync. 'bandferry adopt ADDRESS' takes one in.\n"
        }
        return reports.map { report in
            var words = "\(report.address): \(counted(report.stored, "new record"))"
            if report.gaps > 0 { words += ", \(counted(report.gaps, "new gap")) (bandferry gaps)" }
            guard let problem = report.problem else { return words }
            let note = Note(text: printable(problem.text), remedy: printable(problem.remedy))
            return words + "\n" + note.rendered(subject: nil, for: terminal)
        }.joined(separator: "\n") + "\n"
    }

    /// Out of range only when nothing else went wrong. The code is that of the gateway's problem.
    public static func exitCode(_ reports: [SyncReport]) -> ExitCode {
        let problems = reports.compactMap(\.problem)
        if problems.isEmpty { return .success }
        return problems.allSatisfy { $0.code == "band_unreachable" } ? .outOfRange : .failed
    }

    public static func json(_ reports: [SyncReport]) -> JSONText {
        .array(
            reports.map { report in
                .object([
                    ("address", .string(report.address.description)), ("stored", .number(report.stored)),
                    ("gaps", .number(report.gaps)), ("problem", .optional(report.problem, StatusText.json)),
                ])
            })
    }
}
