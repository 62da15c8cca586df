import Conditions

/// A failure of BlueZ, classified: what to try, and what to tell people.
public struct BlueZFailure: Error, Equatable, Sendable, CustomStringConvertible {
    public var kind: BlueZFailureKind
    public var operation: BlueZOperation
    /// The D-Bus error name, empty when the failure was found here.
    public var name: String
    /// BlueZ's own text.
    public var text: String

    /// Classifies an error as it came from the bus.
    public init(name: String, text: String, during operation: BlueZOperation) {
        self.init(
            kind: BlueZErrorTable.kind(name: name, text: text), during: operation, name: name, text: text)
    }

    public init(
        kind: BlueZFailureKind, during operation: BlueZOperation, name: String = "", text: String = ""
    ) {
        self.kind = kind
        self.operation = operation
        self.name = name
        self.text = text
    }

    public var description: String {
        name.isEmpty ? "\(operation.rawValue): \(text)" : "\(operation.rawValue): \(name): \(text)"
    }

    public var retry: BlueZRetry { advice.retry }

    /// A stable word for programs: `band_unreachable`, `adapter_off`.
    public var code: String { condition.code }

    public var condition: Condition { advice.condition }

    /// What varies in the condition's text.
    public var parameters: Condition.Parameters { parameters(ofBand: "ADDRESS") }

    /// With what a person has to write for the band in a command.
    public func parameters(ofBand band: String) -> Condition.Parameters {
        [
            "operation": operation.rawValue, "error": advice.error, "band": band,
            "detail": text.isEmpty ? "" : " (BlueZ says: \(text.prefix { $0 != "\n" }))",
        ]
    }

    /// One sentence: what happened.
    public var sentence: String { condition.text(parameters) }

    /// One sentence: what to do about it.
    public var remedy: String { condition.fix(parameters) }

    private var advice: BlueZAdvice { BlueZAdvice.of(kind) }
}
