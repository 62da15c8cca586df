import BandProfile
import GatewayModel
import SQLite

/// Brings `bands` and `rings` over, which say whose samples all the others are. Each is one page in most gateways, so what
/// of them is in their indexes, too, is taken from there where the table itself is damaged.
struct SalvageOwners {
    let source: Database
    let target: Database
    let tables: SalvageTable

    /// Returns which of them are damaged.
    func copy() throws -> [String] {
        var damaged: [String] = []
        if try tables.copy("bands", accepts: { DeviceID($0.text("device") ?? "") != nil }) {
            damaged.append("bands")
            try bandsFromIndexes()
        }
        let bands = Set(try target.all("SELECT id FROM bands") { $0.int64(0) })
        if try tables.copy("rings", accepts: { isRing($0, of: bands) }) {
            damaged.append("rings")
            try ringsFromIndex(of: bands)
        }
        return damaged
    }

    private func isRing(_ row: SalvageTable.Row, of bands: Set<Int64>) -> Bool {
        guard let band = row.integer("band"), bands.contains(band), let ring = row.integer("ring"),
            let id = row.integer("id")
        else { return false }
        return (0...Int64(UInt32.max)).contains(ring) && (1..<(1 << 23)).contains(id)
    }

    /// Observed only: what is not known to be owned is not acked. Whether a band was forgotten no index tells, but `meta`
    /// does: see SalvageMender. Of several ids of one address one at most was in use. Where that can't be told none is: its
    /// samples would go to the wrong one.
    private func bandsFromIndexes() throws {
        let known = Set(try target.all("SELECT id FROM bands") { $0.int64(0) })
        var claims: [Int64: Int] = [:]
        try target.query("SELECT address FROM bands WHERE adopted OR configured") {
            claims[$0.int64(0), default: 0] += 1
        }
        var addresses: [Int64: Int64] = [:]
        try readWhatIsThere("SELECT id, address FROM bands INDEXED BY bands_by_address ORDER BY address") {
            addresses[$0.int64(0)] = $0.int64(1)
            if !known.contains($0.int64(0)) { claims[$0.int64(1), default: 0] += 1 }
        }
        try readWhatIsThere(
            "SELECT id, device FROM bands INDEXED BY sqlite_autoindex_bands_1 ORDER BY device"
        ) { row in
            guard DeviceID(row.text(1)) != nil, let address = addresses[row.int64(0)] else { return }
            try target.run(
                """
                INSERT OR IGNORE INTO bands (id, device, address, mode, configured, adopted)
                VALUES (?, ?, ?, 'observe', 0, ?)
                """, .integer(row.int64(0)), .text(row.text(1)), .integer(address),
                .int(claims[address] == 1 ? 1 : 0))
        }
    }

    /// From the start: where it was is not known, and what is read again is known by its key.
    private func ringsFromIndex(of bands: Set<Int64>) throws {
        try readWhatIsThere(
            "SELECT id, band, ring FROM rings INDEXED BY sqlite_autoindex_rings_1 ORDER BY band, ring"
        ) { row in
            guard bands.contains(row.int64(1)), (0...Int64(UInt32.max)).contains(row.int64(2)) else { return }
            try target.run(
                """
                INSERT OR IGNORE INTO rings (id, band, ring, next_seq, first_seen, last_seen)
                VALUES (?, ?, ?, 1, 0, 0)
                """, .integer(row.int64(0)), .integer(row.int64(1)), .integer(row.int64(2)))
        }
        // Of a damaged table no number is believed: too high a resume point would pass over records.
        try target.execute("UPDATE rings SET next_seq = 1")
    }

    private func readWhatIsThere(_ sql: String, _ body: (Statement) throws -> Void) throws {
        do throws(SQLiteError) {
            let statement = try source.prepare(sql)
            while try statement.step() {
                do { try body(statement) } catch let error as SQLiteError {
                    throw error
                } catch {}
            }
        } catch {
            switch error.code.primary {
            // As far as it can be read.
            case .corrupt, .notADatabase, .error: return
            case .ioError where tables.skipsReadErrors: return
            default: throw error
            }
        }
    }
}
