/// Columns for people: as wide as their content, two blanks between.
struct TextTable {
    struct Column {
        var title: String
        var alignsRight: Bool

        init(_ title: String, right: Bool = false) {
            self.title = title
            alignsRight = right
        }
    }

    let columns: [Column]
    private(set) var rows: [[String]] = []

    init(_ columns: [Column]) { self.columns = columns }

    mutating func add(_ cells: [String]) {
        let missing = max(0, columns.count - cells.count)
        rows.append(cells.prefix(columns.count).map(printable) + Array(repeating: "", count: missing))
    }

    /// A table when it fits, else one block of `title: value` lines a row.
    func rendered(for terminal: Terminal) -> String {
        let widths = columns.indices.map { column in
            rows.reduce(columns[column].title.count) { max($0, $1[column].count) }
        }
        let total = widths.reduce(0, +) + 2 * (columns.count - 1)
        return total <= terminal.width ? table(widths, terminal) : blocks(terminal)
    }

    private func table(_ widths: [Int], _ terminal: Terminal) -> String {
        let header = terminal.bold(line(columns.map(\.title), widths))
        return ([header] + rows.map { line($0, widths) }).joined(separator: "\n")
    }

    private func line(_ cells: [String], _ widths: [Int]) -> String {
        var result = ""
        for (index, cell) in cells.enumerated() {
            let padding = String(repeating: " ", count: widths[index] - cell.count)
            result += columns[index].alignsRight ? padding + cell : cell + padding
            result += index == cells.count - 1 ? "" : "  "
        }
        while result.last == " " { result.removeLast() }
        return result
    }

    private func blocks(_ terminal: Terminal) -> String {
        let label = columns.map(\.title.count).max() ?? 0
        return rows.map { row in
            let lines = row.enumerated().dropFirst().filter { !$0.element.isEmpty }.map { index, cell in
                let title = columns[index].title
                return "  \(title)\(String(repeating: " ", count: label - title.count))  \(cell)"
            }
            return ([terminal.bold(row.first ?? "")] + lines).joined(separator: "\n")
        }.joined(separator: "\n")
    }
}
