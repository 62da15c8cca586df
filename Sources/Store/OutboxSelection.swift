import BandProfile
import GatewayModel
import SQLite

/// Chooses what the upload sends next.
struct OutboxSelection {
    struct Ring: Equatable {
        var id: Int64
        var ring: RingID
        var device: DeviceID
    }

    let database: Database
    let unconfirmed: SeqIntervals

    /// The rings that have something to send, in turn after the last one.
    func rings(after last: Int64, skipping: Set<DeviceID>) throws -> [Ring] {
        let waiting = try database.all(
            """
            SELECT rings.id, rings.ring, device FROM rings JOIN bands ON bands.id = rings.band
            WHERE rings.id IN (SELECT ring FROM unconfirmed)
                OR rings.id IN (SELECT key >> 40 FROM conflicts WHERE state = 0)
            ORDER BY rings.id
            """, row: Self.ring
        ).compactMap { $0 }.filter { !skipping.contains($0.device) }
        return waiting.filter { $0.id > last } + waiting.filter { $0.id <= last }
    }

    func ring(_ device: DeviceID, _ ring: RingID) throws -> Ring? {
        try database.first(
            """
            SELECT rings.id, rings.ring, device FROM rings JOIN bands ON bands.id = rings.band
            WHERE device = ? AND rings.ring = ?
            """, .text(device.text), .int(ring.rawValue), row: Self.ring) ?? nil
    }

    func ring(_ id: Int64) throws -> Ring? {
        try database.first(
            """
            SELECT rings.id, rings.ring, device FROM rings JOIN bands ON bands.id = rings.band WHERE rings.id = ?
            """, .integer(id), row: Self.ring) ?? nil
    }

    /// The lowest unconfirmed samples, and when all of them fit, the conflicts: the first reading of a key has to
    /// reach the server before the second.
    func items(of ring: Ring, limit: Int) throws -> [OutboxItem] {
        let decoder = SampleRow(device: ring.device, ring: ring.ring)
        var items: [OutboxItem] = []
        var isComplete = true
        try unconfirmed.forEach(ring: ring.id) { range in
            let before = items.count
            // One more than wanted shows whether the last seq is whole.
            try database.query(
                """
                SELECT \(SampleRow.columns) FROM samples s \(SampleRow.join)
                WHERE s.key BETWEEN ? AND ? ORDER BY s.key LIMIT ?
                """, .integer(SampleKey.lowest(ring: ring.id, seq: range.lowerBound)),
                .integer(SampleKey.highest(ring: ring.id, seq: range.upperBound)), .int(limit + 1 - before)
            ) { row in
                guard let sample = decoder.sample(row) else { return }
                items.append(
                    OutboxItem(sample: sample, key: SampleKey(packed: row.int64(0)), origin: .sample))
            }
            isComplete = items.count <= limit
            return isComplete
        }
        guard isComplete else { return trimmed(items, to: limit) }
        try database.query(
            """
            SELECT \(SampleRow.columns), s.id FROM conflicts s \(SampleRow.join)
            WHERE s.state = 0 AND s.key BETWEEN ? AND ? ORDER BY s.key, s.id LIMIT ?
            """, .integer(SampleKey.lowest(ring: ring.id, seq: 0)),
            .integer(SampleKey.highest(ring: ring.id, seq: .max)), .int(limit - items.count)
        ) { row in
            guard let sample = decoder.sample(row) else { return }
            items.append(
                OutboxItem(
                    sample: sample, key: SampleKey(packed: row.int64(0)),
                    origin: .conflict(id: row.int64(SampleRow.columnCount))))
        }
        return items
    }

    /// Cuts before a seq, not inside it, as long as that leaves something.
    private func trimmed(_ items: [OutboxItem], to limit: Int) -> [OutboxItem] {
        var kept = items.prefix(limit)
        let next = items[limit].key.seq
        while kept.count > 1, let last = kept.last, last.key.seq == next { kept.removeLast() }
        return kept.isEmpty ? Array(items.prefix(limit)) : Array(kept)
    }

    static func ring(_ row: Statement) -> Ring? {
        DeviceID(row.text(2)).map {
            Ring(
                id: row.int64(0), ring: RingID(rawValue: UInt32(truncatingIfNeeded: row.int64(1))), device: $0
            )
        }
    }
}
