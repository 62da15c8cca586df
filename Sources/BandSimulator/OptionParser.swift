/// Options of a command line: `--name value`, `--name=value` or `--flag`.
struct OptionParser {
    private var values: [(name: String, value: String)] = []
    private var flags: Set<String> = []
    private static let flagNames: Set<String> = [
        "system", "no-acquire-notify", "require-pairing", "systemd", "lifelike",
    ]

    init(_ arguments: ArraySlice<String>) throws(SimulatorError) {
        var rest = arguments
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("--") else { throw SimulatorError("\"\(argument)\" is no option") }
            let name = argument.dropFirst(2)
            if let mark = name.firstIndex(of: "=") {
                values.append((String(name[..<mark]), String(name[name.index(after: mark)...])))
            } else if Self.flagNames.contains(String(name)) {
                flags.insert(String(name))
            } else if let value = rest.popFirst() {
                values.append((String(name), value))
            } else {
                throw SimulatorError("\(argument) needs a value")
            }
        }
    }

    mutating func flag(_ name: String) -> Bool { flags.remove(name) != nil }

    /// Every value of an option that may be repeated.
    mutating func texts(_ name: String) -> [String] {
        defer { values.removeAll { $0.name == name } }
        return values.filter { $0.name == name }.map(\.value)
    }

    /// The last value wins.
    mutating func text(_ name: String) -> String? { texts(name).last }

    mutating func number(_ name: String, in range: ClosedRange<Int>) throws(SimulatorError) -> Int? {
        guard let text = text(name) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw SimulatorError(
                "--\(name) \(text): write a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    mutating func decimal(_ name: String, in range: ClosedRange<Double>) throws(SimulatorError) -> Double? {
        guard let text = text(name) else { return nil }
        guard let number = Double(text), range.contains(number) else {
            throw SimulatorError(
                "--\(name) \(text): write a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Whatever nobody asked for is unknown.
    func end() throws(SimulatorError) {
        guard let unknown = values.first?.name ?? flags.sorted().first else { return }
        throw SimulatorError("--\(unknown) is unknown here; see bandsim --help")
    }
}
