/// Why a file could not be read as INI, where, and what to do.
public struct INIError: Error, Equatable, Sendable {
    public var file: String
    /// Nil when the file as a whole is meant.
    public var line: Int?
    public var message: String

    public init(file: String, line: Int? = nil, message: String) {
        self.file = file
        self.line = line
        self.message = message
    }
}

extension INIError: CustomStringConvertible {
    public var description: String {
        line.map { "\(file):\($0): \(message)" } ?? "\(file): \(message)"
    }
}
