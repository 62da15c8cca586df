/// Writes the OpenMetrics 1.0 text format.
struct OpenMetricsText {
    enum Kind: String {
        case counter
        case gauge
        case histogram
    }

    private var text = ""
    private var name = ""

    /// Begins a family; the samples that follow belong to it.
    mutating func family(_ name: String, _ kind: Kind, _ help: String, unit: String? = nil) {
        self.name = name
        text += "# TYPE \(name) \(kind.rawValue)\n"
        if let unit { text += "# UNIT \(name) \(unit)\n" }
        text += "# HELP \(name) \(help)\n"
    }

    /// Label values here are constants of this program and need no escapes.
    mutating func sample(_ suffix: String, _ labels: [(String, String)], _ value: String) {
        let list = labels.map { "\($0)=\"\($1)\"" }.joined(separator: ",")
        text += "\(name)\(suffix)\(list.isEmpty ? "" : "{\(list)}") \(value)\n"
    }

    func end() -> String { text + "# EOF\n" }
}
