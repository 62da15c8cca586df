import Conditions

/// A condition that holds now: its code, what happened and what to do in this case, and since when.
public struct Problem: Equatable, Sendable {
    public var code: String
    public var text: String
    public var remedy: String
    public var since: Timestamp?

    public init(_ condition: Condition, _ parameters: Condition.Parameters = [:], since: Timestamp? = nil) {
        self.init(
            code: condition.code, text: condition.text(parameters), remedy: condition.fix(parameters),
            since: since)
    }

    /// As it was written down or came over the bus, perhaps from another version. New ones are made from a condition.
    public init(code: String, text: String, remedy: String, since: Timestamp? = nil) {
        self.code = code
        self.text = text
        self.remedy = remedy
        self.since = since
    }

    /// As declared; a code of another version is taken for a warning.
    public var severity: Condition.Severity { ConditionTable.severity(of: code) ?? .warning }
}

extension Sequence<Problem> {
    /// The gravest; of several the first.
    public var worst: Problem? {
        var worst: Problem?
        for problem in self where worst.map({ $0.severity < problem.severity }) ?? true { worst = problem }
        return worst
    }
}
