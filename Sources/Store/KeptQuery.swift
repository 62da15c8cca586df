import BandProfile
import GatewayModel
import SQLite

/// Samples that do not go up now, by band, reason and code: how many, which, from when. Never a value, and never the
/// server's words, which may name one.
struct KeptQuery {
    let database: Database

    func bands() throws -> [UploadBand] {
        let status = StatusQuery(database: database)
        return try database.all("SELECT id, device, address, name FROM bands ORDER BY address, id") { row in
            DeviceID(row.text(1)).map {
                (
                    id: row.int64(0), device: $0,
                    address: BluetoothAddress(bits: UInt64(bitPattern: row.int64(2))),
                    name: row.optionalText(3)
                )
            }
        }.compactMap { $0 }.map { band in
            UploadBand(
                device: band.device, address: band.address, name: band.name,
                pending: try status.pending(band: band.id), kept: try kept(band: band.id))
        }
    }

    private func kept(band: Int64) throws -> [KeptSamples] {
        let rings = try database.all("SELECT id, ring FROM rings WHERE band = ? ORDER BY id", .integer(band))
        {
            (id: $0.int64(0), ring: RingID(rawValue: UInt32(truncatingIfNeeded: $0.int64(1))))
        }
        return try rings.flatMap { id, ring in
            try refused(id, ring) + readings(.refusedReading, .refused, id, ring)
                + readings(.consent, .held, id, ring) + waiting(id, ring)
        }
    }

    // MARK: reasons

    private func refused(_ id: Int64, _ ring: RingID) throws -> [KeptSamples] {
        var groups: [KeptSamples] = []
        try database.query(
            """
            SELECT q.key, q.held, q.code, s.recorded_at, s.time_uncertain FROM quarantine q
            LEFT JOIN samples s ON s.key = q.key WHERE q.key BETWEEN ? AND ? ORDER BY q.held, q.code, q.key
            """, .integer(SampleKey.lowest(ring: id, seq: 0)),
            .integer(SampleKey.highest(ring: id, seq: .max))
        ) { row in
            let reason: KeptSamples.Reason = row.bool(1) ? .consent : .refused
            if groups.last?.reason != reason || groups.last?.code != row.text(2) {
                groups.append(KeptSamples(reason: reason, code: row.text(2), ring: ring))
            }
            let time = row.bool(4) ? nil : row.optionalInt64(3).map { Timestamp(milliseconds: $0) }
            groups[groups.count - 1].add(SampleKey(packed: row.int64(0)).seq, at: time)
        }
        return groups
    }

    /// Second readings of a key. Their code is not kept.
    private func readings(
        _ reason: KeptSamples.Reason, _ state: ConflictState, _ id: Int64, _ ring: RingID
    ) throws -> [KeptSamples] {
        var group = KeptSamples(reason: reason, ring: ring)
        try database.query(
            """
            SELECT key, recorded_at, time_uncertain FROM conflicts WHERE state = ? AND key BETWEEN ? AND ?
            ORDER BY key
            """, .int(state.rawValue), .integer(SampleKey.lowest(ring: id, seq: 0)),
            .integer(SampleKey.highest(ring: id, seq: .max))
        ) { row in
            let time = row.bool(2) ? nil : Timestamp(milliseconds: row.int64(1))
            group.add(SampleKey(packed: row.int64(0)).seq, at: time)
        }
        return group.count > 0 ? [group] : []
    }

    /// Their times are what they wait for.
    private func waiting(_ id: Int64, _ ring: RingID) throws -> [KeptSamples] {
        var group = KeptSamples(reason: .hostClock, ring: ring)
        try database.query(
            "SELECT first_seq, last_seq FROM held WHERE ring = ? ORDER BY first_seq", .integer(id)
        ) { row in
            let first = UInt32(truncatingIfNeeded: row.int64(0))
            group.add(first...max(first, UInt32(truncatingIfNeeded: row.int64(1))))
        }
        return group.count > 0 ? [group] : []
    }
}

extension KeptSamples {
    /// In rising order.
    fileprivate mutating func add(_ seq: UInt32, at time: Timestamp?) {
        add(seq...seq)
        guard let time else { return }
        from = min(from ?? time, time)
        to = max(to ?? time, time)
    }

    fileprivate mutating func add(_ seqs: ClosedRange<UInt32>) {
        count += seqs.count
        if let last = ranges.last, UInt64(last.upperBound) + 1 >= UInt64(seqs.lowerBound) {
            ranges[ranges.count - 1] = last.lowerBound...max(last.upperBound, seqs.upperBound)
        } else if ranges.count < Self.rangeLimit {
            ranges.append(seqs)
        }
    }
}
