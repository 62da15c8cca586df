import GatewayModel
import SQLite

/// Who owns which band, as the server last said: it outlives restarts, so that a gateway that was told to observe does
/// not acknowledge only because the server can't be reached.
struct LeaseTable {
    let database: Database

    /// A band whose lease is to be asked for, kept, or given back.
    func all() throws -> [LeasedBand] {
        try database.all(
            """
            SELECT device, mode = 'own' AND (adopted OR configured), lease_ours, lease_holder, lease_until,
                last_contact IS NOT NULL FROM bands ORDER BY id
            """
        ) { row in
            DeviceID(row.text(0)).map {
                LeasedBand(
                    device: $0, isOwn: row.bool(1), wasMet: row.bool(5), lease: Self.lease(row, from: 2))
            }
        }.compactMap { $0 }
    }

    func read(_ device: DeviceID) throws -> BandLease? {
        try database.first(
            "SELECT lease_ours, lease_holder, lease_until FROM bands WHERE device = ?", .text(device.text)
        ) { Self.lease($0, from: 0) } ?? nil
    }

    /// Nil = nobody has it, or nobody said so.
    func note(_ lease: BandLease?, of device: DeviceID) throws(SQLiteError) {
        try database.run(
            "UPDATE bands SET lease_ours = ?2, lease_holder = ?3, lease_until = ?4 WHERE device = ?1",
            .text(device.text), .optional(lease.map { $0.isOurs ? 1 : 0 }), .optional(lease?.holder),
            .optional(lease?.until.milliseconds))
    }

    static func lease(_ row: Statement, from column: Int32) -> BandLease? {
        row.optionalInt(column).map {
            BandLease(
                isOurs: $0 != 0, holder: row.optionalText(column + 1) ?? "",
                until: Timestamp(milliseconds: row.optionalInt64(column + 2) ?? 0))
        }
    }
}

/// A band as far as its lease is concerned.
public struct LeasedBand: Equatable, Sendable {
    public var device: DeviceID
    /// This gateway is to own it.
    public var isOwn: Bool
    /// It was in contact with this gateway.
    public var wasMet: Bool
    public var lease: BandLease?

    public init(device: DeviceID, isOwn: Bool, wasMet: Bool, lease: BandLease?) {
        self.device = device
        self.isOwn = isOwn
        self.wasMet = wasMet
        self.lease = lease
    }
}

extension Outbox {
    public func leasedBands() throws(StoreError) -> [LeasedBand] {
        try storing("list the leases", path) { try LeaseTable(database: database).all() }
    }

    /// The name of this gateway at the server.
    public func gatewayID() throws(StoreError) -> String {
        try storing("look for the gateway's name", path) {
            GatewayID.text(try MetaTable(database: database).read(.gatewayID) ?? 0)
        }
    }

    /// What the server said of who owns a band; nil = nobody does.
    public func noteLease(_ lease: BandLease?, of device: DeviceID) throws(StoreError) {
        try writeDurably("note a lease") { _ in try LeaseTable(database: database).note(lease, of: device) }
    }
}

extension Store {
    /// What the server last said of who owns a band; nil = it has not said so.
    public func lease(of device: DeviceID) throws(StoreError) -> BandLease? {
        try read("look who owns a band") { engine in
            try LeaseTable(database: engine.database).read(device)
        }
    }

    public func noteLease(_ lease: BandLease?, of device: DeviceID) throws(StoreError) {
        try write("note a lease") { engine, _ in
            try LeaseTable(database: engine.database).note(lease, of: device)
        }
    }

    /// The name of this gateway at the server: random, made once.
    public func gatewayID() throws(StoreError) -> String {
        try read("look for the gateway's name") { engine in
            let bits = try MetaTable(database: engine.database).read(.gatewayID) ?? 0
            return GatewayID.text(bits)
        }
    }
}

/// Names this gateway for leases. It stands in the database, and beside it so that it outlives a lost one: the lease of the
/// gateway as it was before would bar the gateway as it is now.
enum GatewayID {
    /// `gw_` and 16 hex digits.
    static func text(_ bits: Int64) -> String {
        let digits = String(UInt64(bitPattern: bits), radix: 16)
        return "gw_" + String(repeating: "0", count: 16 - digits.count) + digits
    }

    static func bits(_ text: String) -> Int64? {
        guard text.hasPrefix("gw_"), text.utf8.count == 19 else { return nil }
        return UInt64(text.dropFirst(3), radix: 16).map { Int64(bitPattern: $0) }
    }
}
