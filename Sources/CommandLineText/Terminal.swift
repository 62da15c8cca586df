/// What text is rendered for.
public struct Terminal: Equatable, Sendable {
    /// Columns.
    public var width: Int
    /// False in a pipe or a file: no progress bar there.
    public var isInteractive: Bool
    public var hasColour: Bool

    public init(width: Int = 80, isInteractive: Bool = false, hasColour: Bool = false) {
        self.width = max(20, width)
        self.isInteractive = isInteractive
        self.hasColour = hasColour
    }

    /// For sentences: over the whole of a wide screen they are hard to read.
    var forProse: Terminal {
        var copy = self
        copy.width = min(width, 100)
        return copy
    }

    func bold(_ text: String) -> String { hasColour ? "\u{1b}[1m\(text)\u{1b}[0m" : text }
    func alarming(_ text: String) -> String { hasColour ? "\u{1b}[31m\(text)\u{1b}[0m" : text }
    func quiet(_ text: String) -> String { hasColour ? "\u{1b}[2m\(text)\u{1b}[0m" : text }
}

/// Text from outside (a band's name, a server's words) that can't steer the terminal.
func printable(_ text: String) -> String {
    String(
        String.UnicodeScalarView(
            text.unicodeScalars.map { scalar in
                switch scalar.properties.generalCategory {
                case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse,
                    .unassigned:
                    "?"
                default: scalar
                }
            }))
}

/// The same of text that has lines.
public func printableLines(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { printable(String($0)) }
        .joined(separator: "\n")
}

/// Breaks at blanks so that no line is longer than `width`; longer words stand alone.
func wrapped(_ text: String, width: Int, indent: String) -> String {
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ") {
        if !line.isEmpty, indent.count + line.count + 1 + word.count > width {
            lines.append(indent + line)
            line = ""
        }
        line += (line.isEmpty ? "" : " ") + word
    }
    lines.append(indent + line)
    return lines.joined(separator: "\n")
}
