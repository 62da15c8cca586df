import Conditions
import GatewayModel

/// Something that the doctor found, with what to do about it.
public struct Finding: Equatable, Sendable {
    public var problem: Problem
    /// The band that it is about, by name or address; nil = the gateway.
    public var subject: String?

    public init(_ problem: Problem, subject: String? = nil) {
        self.problem = problem
        self.subject = subject
    }

    init(_ condition: Condition, _ parameters: Condition.Parameters = [:], subject: String? = nil) {
        self.init(Problem(condition, parameters), subject: subject)
    }

    public var code: String { problem.code }
    public var severity: Condition.Severity { problem.severity }
}

/// All that was found, the gravest first.
public struct Diagnosis: Equatable, Sendable {
    public var findings: [Finding]
    /// What was looked at to its end.
    public var checked: [DoctorCheck]
    /// Whether bandferryd itself had its say.
    public var daemon: DaemonFacts.State

    public init(findings: [Finding], checked: [DoctorCheck], daemon: DaemonFacts.State) {
        self.findings = findings
        self.checked = checked
        self.daemon = daemon
    }

    public var worst: Condition.Severity? { findings.map(\.severity).max() }
}
