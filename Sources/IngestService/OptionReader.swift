/// Takes a command line apart: words, `--name value` or `--name=value`, and flags.
struct OptionReader {
    private(set) var words: [String] = []
    private var values: [String: String] = [:]
    private var flags: Set<String> = []

    init(
        _ arguments: some Sequence<String>, options: Set<String>, flags known: Set<String> = []
    ) throws(UsageFailure) {
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            guard !argument.isEmpty else { throw UsageFailure("an argument is empty") }
            guard argument.hasPrefix("-") else {
                words.append(argument)
                continue
            }
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0])
            if known.contains(name) {
                guard parts.count == 1 else { throw UsageFailure("\(name) takes no value") }
                flags.insert(name)
            } else if options.contains(name) {
                guard let value = parts.count == 2 ? String(parts[1]) : rest.popFirst(), !value.isEmpty else {
                    throw UsageFailure("\(name) needs a value")
                }
                guard values.updateValue(value, forKey: name) == nil else {
                    throw UsageFailure("\(name) is given twice")
                }
            } else {
                throw UsageFailure("\(argument) is not an option")
            }
        }
    }

    func isSet(_ flag: String) -> Bool { flags.contains(flag) }

    func optional(_ name: String) -> String? { values[name] }

    func required(_ name: String) throws(UsageFailure) -> String {
        guard let value = values[name] else { throw UsageFailure("\(name) is missing") }
        return value
    }

    /// A whole number from `least`.
    func number(_ name: String, from least: Int) throws(UsageFailure) -> Int? {
        guard let text = values[name] else { return nil }
        guard let number = Int(text), number >= least, number <= 1_000_000_000 else {
            throw UsageFailure("\(name) \(text): not a number from \(least)")
        }
        return number
    }
}

/// A command line that can't be followed.
public struct UsageFailure: Error, Equatable, Sendable, CustomStringConvertible {
    public var description: String

    public init(_ description: String) { self.description = description }
}
