import BandProfile
import GatewayModel
import SQLite

/// Single numbers that belong to the database as a whole.
struct MetaTable {
    enum Key: String {
        /// 1 while a daemon has the database open: found at the next open, it tells of an unclean stop.
        case open
        /// When the last health check wrote, ms.
        case health
        /// When an earlier database was given up (`recover --start-empty`), ms; absent = never.
        case storageLostAt = "storage_lost_at"
        /// How long samples have been held back for the host's clock, ms.
        case holdUsed = "hold_used"
        /// This gateway's name at the server: 64 random bits. See GatewayID.
        case gatewayID = "gateway_id"
        /// When a person paused the upload, ms; absent = it goes on.
        case uploadPausedAt = "upload_paused_at"
        /// Until when, ms; absent = until a person resumes it.
        case uploadPausedUntil = "upload_paused_until"
        /// When the server last confirmed samples, ms.
        case lastUpload = "last_upload"
        /// Confirmed samples recorded before this were let go, ms; absent = none.
        case prunedBefore = "pruned_before"
    }

    let database: Database

    func read(_ key: Key) throws(SQLiteError) -> Int64? { try read(key: key.rawValue) }

    /// Nil = absent.
    func write(_ key: Key, _ value: Int64?) throws(SQLiteError) { try write(key: key.rawValue, value) }

    // MARK: bands that a person forgot, of which there may be no row

    /// When a person forgot the band with this address, ms; nil = it was not, or was adopted since.
    func read(forgotten address: BluetoothAddress) throws(SQLiteError) -> Int64? {
        try read(key: Self.forgotten + address.description)
    }

    func write(forgotten address: BluetoothAddress, _ time: Int64?) throws(SQLiteError) {
        try write(key: Self.forgotten + address.description, time)
    }

    func forgottenBands() throws -> [BluetoothAddress] {
        try database.all(
            "SELECT key FROM meta WHERE key BETWEEN ?1 AND ?1 || 'G' ORDER BY key", .text(Self.forgotten)
        ) { BluetoothAddress(String($0.text(0).dropFirst(Self.forgotten.count))) }.compactMap { $0 }
    }

    /// One key for each, ending in its address.
    private static let forgotten = "forgotten_"

    // MARK: what a server lacks for good

    /// So many samples of a device that the server confirmed are lacking there, and can't be sent again.
    func read(letBe device: DeviceID) throws(SQLiteError) -> Int64? {
        try read(key: Self.letBe + device.text)
    }

    func write(letBe device: DeviceID, _ count: Int64?) throws(SQLiteError) {
        try write(key: Self.letBe + device.text, count)
    }

    private static let letBe = "let_be_"

    // MARK: Helpers

    private func read(key: String) throws(SQLiteError) -> Int64? {
        let statement = try database.statement("SELECT value FROM meta WHERE key = ?")
        defer { statement.reset() }
        try statement.bind(1, key)
        return try statement.step() ? statement.int64(0) : nil
    }

    private func write(key: String, _ value: Int64?) throws(SQLiteError) {
        guard let value else { return try database.run("DELETE FROM meta WHERE key = ?", .text(key)) }
        try database.run(
            "INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value", .text(key),
            .integer(value))
    }
}
