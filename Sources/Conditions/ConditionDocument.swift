/// `docs/conditions.md`.
public enum ConditionDocument {
    public static var text: String {
        var parts = [
            """
            # Conditions

            Everything that Bandferry tells a person about: its code, how grave it is, what it says and what to do. `bandferry
            status`, `bandferry doctor`, the journal, `org.bandferry` and the metrics all use these codes. Made from `Sources/Conditions`:
            `BANDFERRY_WRITE_DOCS=1 swift test --filter ConditionTests` writes it anew.

            `{name}` stands for what varies. An *error* keeps data from coming in or going up until it is mended; a *warning* heals by itself
            or makes something worse than it could be; a *notice* asks for nothing.
            """
        ]
        for area in ConditionTable.areas {
            let rows = area.conditions.map { condition in
                "| `\(condition.code)` | \(condition.severity.rawValue) | \(cell(condition.text)) | \(cell(condition.fix)) |"
            }
            parts.append(
                "## \(area.title)\n\n| code | | what it says | what to do |\n|---|---|---|---|\n"
                    + rows.joined(separator: "\n"))
        }
        return parts.joined(separator: "\n\n") + "\n"
    }

    /// A bar would end the cell.
    private static func cell(_ text: String) -> String {
        text.split(separator: "|", omittingEmptySubsequences: false).joined(separator: "\\|")
    }
}
