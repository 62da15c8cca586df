import IngestAPI
import SampleChunks

/// Reads what is known of devices.
struct DeviceReads {
    let session: any SQLSession

    func states(account: String) throws(StorageFailure) -> [DeviceState] {
        var states: [DeviceState] = []
        var room = IngestAPI.maxListEntries
        for row in try session.list(.devices, account) {
            guard let state = try state(DeviceKey(account: account, name: try row.text(0))) else { continue }
            states.append(state)
            room -= 1 + state.rings.count
            guard room >= 0 else { throw .longList }
        }
        return states
    }

    func state(_ key: DeviceKey) throws(StorageFailure) -> DeviceState? {
        guard let device = try DeviceRow.read(key, in: session) else { return nil }
        let rings = try session.rows(SQLCall(DeviceStatement.rings, key.value))
            .map { row throws(StorageFailure) in try RingLedger(row) }
        var counts: [String: Int] = [:]
        for (type, keys) in rings.flatMap(\.keys) { counts[type.rawValue, default: 0] += keys.count }
        return DeviceState(
            deviceID: key.name, rings: rings.map(\.state), maxVersion: device.maxVersion,
            firstRecordedAt: (device.times?.lowerBound).map(APITime.init(milliseconds:)),
            lastRecordedAt: (device.times?.upperBound).map(APITime.init(milliseconds:)), counts: counts,
            status: try device.report.map { text throws(StorageFailure) in try JSONColumn.value(text) })
    }

    /// Nil for a device that is not known. What has expired is in no range.
    func ranges(_ key: DeviceKey) throws(StorageFailure) -> [DayRange]? {
        guard try DeviceRow.read(key, in: session) != nil else { return nil }
        var ranges: [RangeKey: DayRange] = [:]
        try forEachChunk(key) { ring, samples in
            for sample in samples {
                let day = sample.recordedAt.dayNumber
                let key = RangeKey(ring: ring, type: sample.type.code, day: day)
                guard let known = ranges[key] else {
                    ranges[key] = DayRange(
                        ring: RingCode.text(ring), type: sample.type, day: sample.recordedAt.day, count: 1,
                        minSeq: sample.seq, maxSeq: sample.seq)
                    continue
                }
                ranges[key]?.count += 1
                ranges[key]?.minSeq = min(known.minSeq, sample.seq)
                ranges[key]?.maxSeq = max(known.maxSeq, sample.seq)
            }
        }
        return ranges.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Chunks read at once.
    private static let page: Int64 = 64

    private func forEachChunk(
        _ key: DeviceKey, _ body: (Int64, [APISample]) -> Void
    ) throws(StorageFailure) {
        var (ring, first) = (Int64(-1), Int64(0))
        while true {
            let rows = try session.rows(
                SQLCall(
                    DeviceStatement.chunksAfter, key.value, .int(ring), .int(first), .int(Self.page)))
            for row in rows {
                (ring, first) = (try row.int64(0), try row.int64(1))
                body(ring, try ChunkRows.samples(try row.bytes(2)))
            }
            if rows.count < Int(Self.page) { return }
        }
    }

    private struct RangeKey: Hashable, Comparable {
        let ring: Int64
        let type: Int
        let day: Int64

        static func < (left: Self, right: Self) -> Bool {
            (left.ring, left.type, left.day) < (right.ring, right.type, right.day)
        }
    }
}

extension SQLSession {
    /// All rows of an account, where they are not more than an answer has room for.
    func list(_ statement: AccountStatement, _ account: String) throws(StorageFailure) -> [SQLRow] {
        let rows = try rows(SQLCall(statement, .text(account), .int(IngestAPI.maxListEntries + 1)))
        guard rows.count <= IngestAPI.maxListEntries else { throw .longList }
        return rows
    }
}
