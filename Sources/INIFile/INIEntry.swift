/// One `key = value` line, or, with an empty key, a `[section]` line.
public struct INIEntry: Equatable, Sendable {
    /// Empty before the first section.
    public var section: String
    public var key: String
    public var value: String
    /// Counted from 1.
    public var line: Int

    public init(section: String, key: String, value: String, line: Int) {
        self.section = section
        self.key = key
        self.value = value
        self.line = line
    }
}
