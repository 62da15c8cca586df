import BandProfile
import GatewayModel
import SQLite

/// Reads the gateway's database without ever writing to it, with the daemon running or stopped.
public final class StoreReader {
    public let path: String
    let database: Database

    public convenience init(directory: String) throws(StoreError) {
        try self.init(directory: directory, vfs: nil)
    }

    init(directory: String, vfs: String?) throws(StoreError) {
        database = try DatabaseOpening(directory: StateDirectory(path: directory), vfs: vfs).openReader()
        path = database.path
    }

    public func status() throws(StoreError) -> [BandStatus] {
        try storing("read the status", path) { try StatusQuery(database: database).bands() }
    }

    public func gatewayProblem() throws(StoreError) -> Problem? {
        try storing("read the problem", path) { try BandTable(database: database).problem(band: 0) }
    }

    /// Looks at the whole database, however long that takes.
    public func isSound() throws(StoreError) -> Bool {
        try storing("check the database", path) {
            try database.check(full: true, within: .seconds(86_400)) == .sound
        }
    }

    public func adoptedBands() throws(StoreError) -> [AdoptedBand] {
        try storing("list the bands", path) { try BandTable(database: database).adopted() }
    }

    /// Nil = of every device.
    public func gaps(_ device: DeviceID? = nil) throws(StoreError) -> [(device: DeviceID, gap: Gap)] {
        try storing("list the gaps", path) { try GapQuery(database: database).all(device: device) }
    }

    /// Hands over every stored sample, in the order of device, ring and seq, one at a time and as of one moment.
    /// Throws what `body` throws, or a `StoreError`.
    public func exportSamples(_ device: DeviceID? = nil, _ body: (Sample) throws -> Void) throws {
        do {
            try database.transaction(.deferred) {
                for ring in try rings(of: device) { try export(ring, body) }
            }
        } catch let error as SQLiteError {
            throw StoreError(error, doing: "export samples")
        }
    }

    // MARK: Helpers

    func rings(of device: DeviceID?) throws -> [OutboxSelection.Ring] {
        try database.all(
            """
            SELECT rings.id, rings.ring, device FROM rings JOIN bands ON bands.id = rings.band
            ORDER BY bands.id, rings.id
            """, row: OutboxSelection.ring
        ).compactMap { $0 }.filter { device == nil || $0.device == device }
    }

    private func export(_ ring: OutboxSelection.Ring, _ body: (Sample) throws -> Void) throws {
        let decoder = SampleRow(device: ring.device, ring: ring.ring)
        try database.query(
            """
            SELECT \(SampleRow.columns) FROM samples s \(SampleRow.join)
            WHERE s.key BETWEEN ? AND ? ORDER BY s.key
            """, .integer(SampleKey.lowest(ring: ring.id, seq: 0)),
            .integer(SampleKey.highest(ring: ring.id, seq: .max))
        ) { row in
            if let sample = decoder.sample(row) { try body(sample) }
        }
    }
}
