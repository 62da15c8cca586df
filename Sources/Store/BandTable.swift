import BandProfile
import GatewayModel
import SQLite

/// A band that this gateway has taken in, by its configuration file or by a command.
public struct AdoptedBand: Equatable, Sendable {
    public var address: BluetoothAddress
    public var device: DeviceID
    public var mode: BandMode
    public var ack: AckPolicy
    public var name: String?
    /// Named in the configuration file.
    public var configured: Bool

    public init(
        address: BluetoothAddress, device: DeviceID, mode: BandMode, ack: AckPolicy = .stored,
        name: String? = nil,
        configured: Bool = false
    ) {
        self.address = address
        self.device = device
        self.mode = mode
        self.ack = ack
        self.name = name
        self.configured = configured
    }
}

/// What a contact with a band told. Nil fields are left as they are.
public struct ContactNote: Equatable, Sendable {
    public var time: Timestamp
    /// ATT MTU, bytes.
    public var mtu: Int?
    /// Percent.
    public var battery: Int?
    public var firmware: String?
    public var name: String?
    public var info: RingInfo?

    public init(
        time: Timestamp, mtu: Int? = nil, battery: Int? = nil, firmware: String? = nil, name: String? = nil,
        info: RingInfo? = nil
    ) {
        self.time = time
        self.mtu = mtu
        self.battery = battery
        self.firmware = firmware
        self.name = name
        self.info = info
    }
}

/// The bands that are or were taken in. A row is only deleted of one that nothing was ever known of.
struct BandTable {
    let database: Database

    func id(of device: DeviceID) throws(SQLiteError) -> Int64? {
        let statement = try database.statement("SELECT id FROM bands WHERE device = ?")
        defer { statement.reset() }
        try statement.bind(1, device.text)
        return try statement.step() ? statement.int64(0) : nil
    }

    /// Throws when the device was never adopted.
    func require(_ device: DeviceID) throws -> Int64 {
        guard let id = try id(of: device) else {
            throw StoreError(
                kind: .refused, operation: "look up a band", path: database.path,
                message: "no band with the device id \(device) was adopted")
        }
        return id
    }

    func adopt(_ band: AdoptedBand) throws(SQLiteError) {
        try MetaTable(database: database).write(forgotten: band.address, nil)
        // One device id at a time goes with an address; the rows of an earlier one stay and go on uploading.
        try database.run(
            "UPDATE bands SET adopted = 0, configured = 0 WHERE address = ? AND device != ?",
            .int(band.address.bits), .text(band.device.text))
        // What the file says wins over what a command said.
        try database.run(
            """
            INSERT INTO bands (device, address, name, mode, configured, adopted, ack)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            ON CONFLICT (device) DO UPDATE SET address = excluded.address, name = coalesce(excluded.name, name),
                mode = iif(configured AND NOT excluded.configured, mode, excluded.mode),
                ack = iif(configured AND NOT excluded.configured, ack, excluded.ack),
                configured = max(configured, excluded.configured), adopted = max(adopted, excluded.adopted)
            """, .text(band.device.text), .int(band.address.bits), .optional(band.name),
            .text(band.mode.rawValue), .int(band.configured ? 1 : 0), .int(band.configured ? 0 : 1),
            .text(band.ack.rawValue))
    }

    /// A band that was heard and that nobody named: where it is taken in already, under this address or this id, nothing
    /// changes. What a person forgot is not taken in until a person adopts it.
    func takeIn(_ band: AdoptedBand) throws(SQLiteError) {
        guard try !isForgotten(band.address) else { return }
        try database.run(
            """
            INSERT INTO bands (device, address, name, mode, configured, adopted, ack)
            SELECT ?1, ?2, ?3, ?4, 0, 1, ?5
            WHERE NOT EXISTS (SELECT 1 FROM bands WHERE (address = ?2 OR device = ?1) AND (adopted OR configured))
            ON CONFLICT (device) DO UPDATE SET address = excluded.address, name = coalesce(name, excluded.name),
                mode = excluded.mode, ack = excluded.ack, adopted = 1
            """, .text(band.device.text), .int(band.address.bits), .optional(band.name),
            .text(band.mode.rawValue), .text(band.ack.rawValue))
    }

    /// The mark outlives the row, which is deleted where nothing was ever known of the band.
    func forget(_ address: BluetoothAddress, now: Timestamp) throws(SQLiteError) {
        try MetaTable(database: database).write(forgotten: address, now.milliseconds)
        try database.run(
            """
            UPDATE bands SET adopted = 0, bond_trouble = NULL, bond_tries = 0, bond_rest_until = NULL WHERE address = ?
            """, .int(address.bits))
    }

    func isForgotten(_ address: BluetoothAddress) throws(SQLiteError) -> Bool {
        try MetaTable(database: database).read(forgotten: address) != nil
    }

    /// Deletes forgotten bands of which nothing is here: no ring, so no sample and no gap, no word of who wore it, no lease to
    /// give back, and no version that the server has. Returns how many.
    func dropEmpty() throws(SQLiteError) -> Int {
        let empty = """
            (SELECT id FROM bands WHERE NOT adopted AND NOT configured
                AND lease_ours IS NOT 1 AND version_floor = 0
                AND NOT EXISTS (SELECT 1 FROM rings WHERE band = bands.id)
                AND NOT EXISTS (SELECT 1 FROM assignments WHERE band = bands.id)
                AND NOT EXISTS (SELECT 1 FROM withdrawn WHERE band = bands.id))
            """
        try database.run("DELETE FROM problems WHERE band IN \(empty)")
        try database.run("DELETE FROM band_pauses WHERE band IN \(empty)")
        try database.run("DELETE FROM bands WHERE id IN \(empty)")
        return database.changes
    }

    func clearConfigured() throws(SQLiteError) {
        try database.run("UPDATE bands SET configured = 0")
    }

    func adopted() throws -> [AdoptedBand] {
        try database.all(
            """
            SELECT address, device, mode, name, configured, ack FROM bands WHERE adopted OR configured
            ORDER BY address
            """
        ) { row in
            guard let device = DeviceID(row.text(1)), let mode = BandMode(rawValue: row.text(2)) else {
                return nil
            }
            return AdoptedBand(
                address: BluetoothAddress(bits: UInt64(bitPattern: row.int64(0))), device: device, mode: mode,
                ack: AckPolicy(rawValue: row.text(5)) ?? .upload, name: row.optionalText(3),
                configured: row.bool(4))
        }.compactMap { $0 }
    }

    func note(_ contact: ContactNote, band: Int64) throws(SQLiteError) {
        try database.run(
            """
            UPDATE bands SET last_contact = ?2, mtu = coalesce(?3, mtu), battery = coalesce(?4, battery),
                firmware = coalesce(?5, firmware), name = coalesce(name, ?6)
            WHERE id = ?1
            """, .integer(band), .integer(contact.time.milliseconds), .optional(contact.mtu),
            .optional(contact.battery), .optional(contact.firmware), .optional(contact.name))
    }

    /// Raises the version above which corrections start. True when the server has seen higher than we ever gave.
    func raiseVersionFloor(band: Int64, to version: Int) throws -> Bool {
        let used =
            try database.first(
                "SELECT max(version_used, version_floor) FROM bands WHERE id = ?", .integer(band)
            ) {
                $0.int(0)
            } ?? 1
        try database.run(
            "UPDATE bands SET version_floor = max(version_floor, ?2) WHERE id = ?1", .integer(band),
            .int(version))
        return version > max(1, used)
    }

    // MARK: Problems

    /// `band` 0 = the gateway itself. Nil clears. An unchanged problem keeps its `since`.
    func setProblem(_ problem: Problem?, band: Int64, now: Timestamp) throws(SQLiteError) {
        guard let problem else {
            return try database.run("DELETE FROM problems WHERE band = ?", .integer(band))
        }
        try database.run(
            """
            INSERT INTO problems (band, code, text, remedy, since) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET since = iif(code = excluded.code, since, excluded.since),
                code = excluded.code, text = excluded.text, remedy = excluded.remedy
            """, .integer(band), .text(problem.code), .text(problem.text), .text(problem.remedy),
            .integer((problem.since ?? now).milliseconds))
    }

    func problem(band: Int64) throws -> Problem? {
        try database.first("SELECT code, text, remedy, since FROM problems WHERE band = ?", .integer(band)) {
            Problem(
                code: $0.text(0), text: $0.text(1), remedy: $0.text(2),
                since: Timestamp(milliseconds: $0.int64(3)))
        }
    }
}
