/// Every condition there is.
public enum ConditionTable {
    /// The areas, in the order of the document.
    public static let areas: [(title: String, conditions: [Condition])] = [
        ("Bluetooth and its adapter", Condition.adapterRows),
        ("A band", Condition.bandRows),
        ("bandferryd and the message bus", Condition.daemonRows),
        ("The database and its disk", Condition.storageRows),
        ("This host's clock", Condition.clockRows),
        ("The upload", Condition.uploadRows + Condition.uploadFileRows),
        ("Commands", Condition.commandRows),
    ]

    public static let all: [Condition] = areas.flatMap(\.conditions)

    /// How grave a code is that came over the bus or out of the database; nil for one of another version.
    public static func severity(of code: String) -> Condition.Severity? { severities[code] }

    private static let severities = Dictionary(
        all.map { ($0.code, $0.severity) }, uniquingKeysWith: { first, _ in first })
}
