import BandProfile
import GatewayModel
import SQLite

/// Persons and who wore what, and samples by time.
extension StoreReader {
    public func persons() throws(StoreError) -> [Person] {
        try storing("list the persons", path) { try PersonTable(database: database).all() }
    }

    /// Nil = of every band.
    public func assignments(_ device: DeviceID? = nil) throws(StoreError) -> [Assignment] {
        try storing("list the assignments", path) {
            try PersonTable(database: database).assignments().filter { device == nil || $0.device == device }
        }
    }

    /// Samples that stay unassigned because their time bound touches a border.
    public func undecided(_ device: DeviceID? = nil) throws(StoreError) -> [UndecidedRange] {
        try storing("list the undecided samples", path) {
            try rings(of: device).flatMap { ring in try undecided(in: ring) }
        }
    }

    private func undecided(in ring: OutboxSelection.Ring) throws -> [UndecidedRange] {
        var ranges: [UndecidedRange] = []
        try database.query(
            """
            SELECT key, recorded_at FROM samples INDEXED BY samples_undecided
            WHERE key BETWEEN ? AND ? AND person = -1 ORDER BY key
            """, .integer(SampleKey.lowest(ring: ring.id, seq: 0)),
            .integer(SampleKey.highest(ring: ring.id, seq: .max))
        ) { row in
            let seq = SampleKey(packed: row.int64(0)).seq
            let time = Timestamp(milliseconds: row.int64(1))
            if let last = ranges.indices.last, seq <= ranges[last].seqs.upperBound.nextSeq {
                ranges[last].seqs = ranges[last].seqs.lowerBound...seq
                ranges[last].count += 1
                ranges[last].from = min(ranges[last].from, time)
                ranges[last].to = max(ranges[last].to, time)
            } else {
                ranges.append(
                    UndecidedRange(
                        device: ring.device, ring: ring.ring, seqs: seq...seq, count: 1, from: time, to: time)
                )
            }
        }
        return ranges
    }

    /// Samples of one type recorded from `from` until just before `to`, by time, ring and seq. Uncertain ones are
    /// left out: nobody knows when they were.
    public func samples(
        of device: DeviceID, type: SampleType, from: Timestamp, to: Timestamp
    ) throws(StoreError) -> [Sample] {
        try storing("read samples", path) {
            var found: [Sample] = []
            for ring in try rings(of: device) {
                let days = DayTable(database: database)
                guard let seqs = try days.seqs(ring: ring.id, from: from.milliseconds, to: to.milliseconds)
                else {
                    continue
                }
                let decoder = SampleRow(device: ring.device, ring: ring.ring)
                try database.query(
                    """
                    SELECT \(SampleRow.columns) FROM samples s \(SampleRow.join)
                    WHERE s.key BETWEEN ? AND ? AND s.key & 255 = ? AND s.recorded_at >= ? AND s.recorded_at < ?
                        AND NOT s.time_uncertain
                    """, .integer(SampleKey.lowest(ring: ring.id, seq: seqs.lowerBound)),
                    .integer(SampleKey.highest(ring: ring.id, seq: seqs.upperBound)), .int(type.rawValue),
                    .integer(from.milliseconds), .integer(to.milliseconds)
                ) { row in
                    if let sample = decoder.sample(row) { found.append(sample) }
                }
            }
            return found.sorted {
                ($0.recordedAt.milliseconds, $0.ring.rawValue, $0.seq)
                    < ($1.recordedAt.milliseconds, $1.ring.rawValue, $1.seq)
            }
        }
    }
}
