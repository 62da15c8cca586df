import Conditions
import Doctor
import GatewayModel

/// `bandferry doctor`.
public enum DoctorText {
    /// What figures and times of bands are written with.
    public static let words = ConditionWords.people

    public static func rendered(_ diagnosis: Diagnosis, now: Timestamp, terminal: Terminal) -> String {
        let terminal = terminal.forProse
        var parts = [daemon(diagnosis.daemon)]
        parts += diagnosis.findings.map { finding($0, now: now, terminal: terminal) }
        let looked = diagnosis.checked.map(\.words).joined(separator: ", ")
        if !looked.isEmpty {
            parts.append(wrapped("Looked at \(looked).", width: terminal.width, indent: ""))
        }
        parts.append(summary(diagnosis))
        return parts.joined(separator: "\n\n") + "\n"
    }

    private static func daemon(_ state: DaemonFacts.State) -> String {
        switch state {
        case .running: "bandferryd is running."
        case .offTheBus:
            "bandferryd is running, but is not on the bus: what follows is from its state directory."
        case .stopped: "bandferryd is not running: what follows was found without it."
        case .silent: "bandferryd is running and does not answer: what follows was found without it."
        case .notPermitted: "This user may not ask bandferryd: what follows was found without it."
        case .unknown: "Whether bandferryd is running could not be found out."
        }
    }

    private static func finding(_ finding: Finding, now: Timestamp, terminal: Terminal) -> String {
        let word = "\(finding.severity.rawValue) \(printable(finding.code))"
        let head =
            switch finding.severity {
            case .error: terminal.alarming(terminal.bold(word))
            case .warning: terminal.bold(word)
            case .notice: terminal.quiet(word)
            }
        let subject = finding.subject.map { "\(printable($0)): " } ?? ""
        let note = Note(finding.problem, now: now)
        return [
            head, wrapped(subject + note.text, width: terminal.width, indent: "  "),
            wrapped("What to do: \(note.remedy)", width: terminal.width, indent: "    "),
        ].joined(separator: "\n")
    }

    private static func summary(_ diagnosis: Diagnosis) -> String {
        let counts = Condition.Severity.allCases.sorted(by: >).compactMap { severity -> String? in
            let count = diagnosis.findings.count { $0.severity == severity }
            return count == 0 ? nil : counted(count, severity.rawValue)
        }
        let said = counts.isEmpty ? "" : " \(counts.joined(separator: ", "))."
        return diagnosis.isHealthy ? "Nothing is wrong.\(said)" : String(said.dropFirst())
    }

    public static func exitCode(_ diagnosis: Diagnosis) -> ExitCode {
        switch diagnosis.worst {
        case nil, .notice: .success
        case .warning: .warningsFound
        case .error: .errorsFound
        }
    }

    // MARK: JSON

    public static func json(_ diagnosis: Diagnosis) -> JSONText {
        .object([
            ("healthy", .bool(diagnosis.isHealthy)), ("daemon", .string(diagnosis.daemon.rawValue)),
            ("checked", .array(diagnosis.checked.map { .string($0.rawValue) })),
            (
                "findings",
                .array(
                    diagnosis.findings.map { finding in
                        .object([
                            ("code", .string(finding.code)), ("severity", .string(finding.severity.rawValue)),
                            ("subject", .optional(finding.subject) { .string($0) }),
                            ("text", .string(finding.problem.text)),
                            ("remedy", .string(finding.problem.remedy)),
                            ("since", StatusText.time(finding.problem.since)),
                        ])
                    })
            ),
        ])
    }
}

extension Diagnosis {
    var isHealthy: Bool { DoctorText.exitCode(self) == .success }
}
