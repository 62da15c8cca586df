import BandProfile
import GatewayModel
import SQLite

/// Reads what `status` shows. Used by the running daemon and, read-only, by the command line.
struct StatusQuery {
    let database: Database

    func bands() throws -> [BandStatus] {
        let rows = try database.all(
            """
            SELECT id, address, device, name, mode, configured, adopted, mtu, last_contact, battery, firmware,
                lease_ours, lease_holder, lease_until, ack
            FROM bands ORDER BY address, id
            """
        ) { row -> (id: Int64, status: BandStatus)? in
            guard let device = DeviceID(row.text(2)), let mode = BandMode(rawValue: row.text(4)) else {
                return nil
            }
            let address = BluetoothAddress(bits: UInt64(bitPattern: row.int64(1)))
            var status = BandStatus(address: address, device: device, mode: mode)
            status.name = row.optionalText(3)
            status.configured = row.bool(5)
            status.adopted = row.bool(5) || row.bool(6)
            status.mtu = row.optionalInt(7)
            status.lastContact = row.optionalInt64(8).map { Timestamp(milliseconds: $0) }
            status.battery = row.optionalInt(9)
            status.firmware = row.optionalText(10)
            status.lease = LeaseTable.lease(row, from: 11)
            status.ack = AckPolicy(rawValue: row.text(14)) ?? .upload
            return (row.int64(0), status)
        }
        return try rows.compactMap { $0 }.map { id, status in
            var status = status
            try addRing(to: &status, band: id)
            try addCounts(to: &status, band: id)
            status.problem = try BandTable(database: database).problem(band: id) ?? status.room?.problem
            return status
        }
    }

    /// Stored samples that the server has not confirmed, held ones (for consent, for the host's clock) and second readings included.
    func pending(band: Int64) throws -> Int {
        try count(
            """
            SELECT
                (SELECT coalesce(sum(last_seq - first_seq + 1), 0) FROM unconfirmed
                    WHERE ring IN (SELECT id FROM rings WHERE band = ?1))
                + (SELECT coalesce(sum(last_seq - first_seq + 1), 0) FROM held
                    WHERE ring IN (SELECT id FROM rings WHERE band = ?1))
                + (SELECT count(*) FROM conflicts WHERE state IN (0, 3)
                    AND key >> 40 IN (SELECT id FROM rings WHERE band = ?1))
                + (SELECT count(*) FROM quarantine WHERE held
                    AND key >> 40 IN (SELECT id FROM rings WHERE band = ?1))
            """, band)
    }

    /// Samples that the server has confirmed, those included that were let go here since. Two of one record that was let go count as
    /// one; of those that wait, two of one record count as one unless it is counted `exactly`.
    func confirmed(band: Int64, exactly: Bool) throws -> Int {
        let rings = "(SELECT id FROM rings WHERE band = ?1)"
        let seqs = { (table: String) in
            "(SELECT coalesce(sum(last_seq - first_seq + 1), 0) FROM \(table) WHERE ring IN \(rings))"
        }
        let rows = { (table: String) in
            """
            (SELECT count(*) FROM \(table) AS range JOIN samples ON key BETWEEN (range.ring << 40) + (range.first_seq << 8)
                AND (range.ring << 40) + (range.last_seq << 8) + 255 WHERE range.ring IN \(rings))
            """
        }
        let waiting = exactly ? rows : seqs
        return try count(
            """
            SELECT (SELECT coalesce(sum(stored), 0) FROM rings WHERE band = ?1)
                + (SELECT coalesce(sum(last_seq - first_seq + 1), 0) FROM pruned
                    WHERE ring IN (SELECT id FROM rings WHERE band = ?1 AND rolled_back_at IS NULL))
                - \(waiting("unconfirmed")) - \(waiting("held"))
                - (SELECT count(*) FROM quarantine WHERE key >> 40 IN \(rings))
            """, band)
    }

    /// When the first sample of each ring that waits to go up was recorded; the earliest. Held ones wait for something else.
    private func oldestPending(band: Int64) throws -> Timestamp? {
        try database.all(
            """
            SELECT (SELECT recorded_at FROM samples WHERE key >= (u.ring << 40) + (u.low << 8)
                AND key < (u.ring + 1) << 40 ORDER BY key LIMIT 1)
            FROM (SELECT ring, min(first_seq) AS low FROM unconfirmed
                WHERE ring IN (SELECT id FROM rings WHERE band = ?) GROUP BY ring) u
            """, .integer(band)
        ) { $0.optionalInt64(0) }.compactMap { $0 }.min().map { Timestamp(milliseconds: $0) }
    }

    // MARK: Helpers

    /// The band's latest ring, with the newest record there is of any. By what the band counts: the host's clock may have
    /// stepped back since a ring was seen.
    private func addRing(to status: inout BandStatus, band: Int64) throws {
        let rings = try database.all(
            """
            SELECT id, ring, newest_seq, next_seq, oldest_seq, capacity, confirmed_through FROM rings WHERE band = ?
            ORDER BY format_count DESC, id DESC
            """, .integer(band)
        ) {
            (
                id: $0.int64(0), ring: RingID(rawValue: UInt32(truncatingIfNeeded: $0.int64(1))),
                newest: $0.optionalInt64(2), next: $0.int64(3), oldest: $0.optionalInt64(4),
                capacity: $0.optionalInt64(5), confirmed: UInt32(clamping: $0.int64(6))
            )
        }
        guard let current = rings.first else { return }
        status.ring = current.ring
        status.newestSeq = current.newest.map { UInt32(truncatingIfNeeded: $0) }
        status.nextSeq = UInt32(clamping: current.next)
        status.capacity = current.capacity.map { UInt32(clamping: $0) }
        status.oldestSeq = current.oldest.map { UInt32(clamping: $0) }
        if status.mode == .own, status.ack == .upload {
            // What it freed since Info was read, or will with the next ack.
            status.oldestSeq = max(status.oldestSeq ?? 0, UInt32(clamping: Int64(current.confirmed) + 1))
        }
        for ring in rings {
            status.newestRecordedAt = try NeighbourTimes(database: database, ring: ring.id).newest()
            if status.newestRecordedAt != nil { return }
        }
    }

    private func addCounts(to status: inout BandStatus, band: Int64) throws {
        let rings = "(SELECT id FROM rings WHERE band = ?)"
        status.stored = try count("SELECT coalesce(sum(stored), 0) FROM rings WHERE band = ?", band)
        status.pending = try pending(band: band)
        status.oldestPendingAt = try oldestPending(band: band)
        status.quarantined = try count("SELECT count(*) FROM quarantine WHERE key >> 40 IN \(rings)", band)
        status.conflicts = try count("SELECT count(*) FROM conflicts WHERE key >> 40 IN \(rings)", band)
        status.undecodable = try count("SELECT count(*) FROM raw WHERE ring IN \(rings)", band)
        status.gaps = try count(
            "SELECT count(*) FROM gaps WHERE healed_at IS NULL AND ring IN \(rings)", band)
    }

    private func count(_ sql: String, _ band: Int64) throws -> Int {
        try database.first(sql, .integer(band)) { $0.int(0) } ?? 0
    }
}
