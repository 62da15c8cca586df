/// One line of the file as a reader of INI gives it; an empty key stands for the `[section]` line itself.
public struct ConfigurationLine: Equatable, Sendable {
    public var section: String
    public var key: String
    public var value: String
    public var number: Int

    public init(section: String, key: String, value: String, number: Int) {
        self.section = section
        self.key = key
        self.value = value
        self.number = number
    }
}

/// What is wrong or odd in the file: where, what, and what to write instead.
public struct ConfigurationNote: Equatable, Sendable {
    public var file: String
    public var line: Int?
    /// Nil when the section as a whole is meant.
    public var key: String?
    public var message: String

    public init(file: String, line: Int?, key: String?, message: String) {
        self.file = file
        self.line = line
        self.key = key
        self.message = message
    }
}

extension ConfigurationNote: CustomStringConvertible {
    public var description: String {
        let place = line.map { "\(file):\($0)" } ?? file
        return key.map { "\(place): \($0): \(message)" } ?? "\(place): \(message)"
    }
}

/// Everything that is wrong in one file, so that it can be mended in one go.
public struct ConfigurationErrors: Error, Equatable, Sendable {
    public var notes: [ConfigurationNote]

    public init(notes: [ConfigurationNote]) { self.notes = notes }
}

extension ConfigurationErrors: CustomStringConvertible {
    public var description: String { notes.map(\.description).joined(separator: "\n") }
}
