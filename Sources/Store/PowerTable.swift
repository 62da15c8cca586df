import BandProfile
import GatewayModel
import SQLite

/// Adapters that this gateway has switched off and not seen on since, in `meta` under `power_owed/ADDRESS`, with when that
/// was. A gateway that is killed before it has switched one on again finds it here.
struct PowerTable {
    private static let prefix = "power_owed/"
    /// What follows the last key with the prefix.
    private static let end = "power_owed0"

    let database: Database

    func read() throws -> Set<BluetoothAddress> {
        let keys = try database.all(
            "SELECT key FROM meta WHERE key >= ?1 AND key < ?2", .text(Self.prefix), .text(Self.end)
        ) { $0.text(0) }
        return Set(keys.compactMap { BluetoothAddress($0.dropFirst(Self.prefix.count)) })
    }

    /// Nil = nothing is owed any more.
    func write(_ adapter: BluetoothAddress, _ since: Timestamp?) throws(SQLiteError) {
        let key = SQLiteValue.text(Self.prefix + adapter.description)
        guard let since else { return try database.run("DELETE FROM meta WHERE key = ?", key) }
        try database.run(
            "INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value", key,
            .integer(since.milliseconds))
    }
}

extension Store {
    /// Adapters that are to be switched on again.
    public func owedPower() throws(StoreError) -> Set<BluetoothAddress> {
        try read("look which adapters were switched off") { engine in
            try PowerTable(database: engine.database).read()
        }
    }

    /// To be called with true before an adapter is switched off.
    public func setOwesPower(_ isOwed: Bool, to adapter: BluetoothAddress) throws(StoreError) {
        try write("note that an adapter is switched off") { engine, now in
            try PowerTable(database: engine.database).write(adapter, isOwed ? now : nil)
        }
    }
}
