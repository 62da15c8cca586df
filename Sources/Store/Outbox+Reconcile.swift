import BandProfile
import GatewayModel
import SQLite

/// One ring and type of a UTC day, as it is stored here.
public struct StoredPart: Equatable, Sendable {
    public var ring: RingID
    public var type: SampleType
    /// Of what the server has confirmed, in rising order.
    public var seqs: [UInt32] = []
    /// Of `seqs`, ms.
    public var times: [Int64] = []
    /// Still to go up.
    public var waiting = 0
    /// Refused or kept back.
    public var kept = 0

    public init(ring: RingID, type: SampleType) {
        self.ring = ring
        self.type = type
    }
}

/// What a comparison with the server needs: days of what is stored, and marks for what the server lacks.
extension Outbox {
    /// UTC days since 1970 on which something of the device may be recorded, in rising order.
    public func days(of device: DeviceID) throws(StoreError) -> [Int64] {
        try storing("list the days", path) {
            try database.all(
                """
                SELECT DISTINCT day FROM days JOIN rings ON rings.id = days.ring JOIN bands ON bands.id = rings.band
                WHERE device = ? ORDER BY day
                """, .text(device.text)
            ) { $0.int64(0) }
        }
    }

    /// How many samples of the device fewer the server has than it has confirmed, by its own count `there`; 0 = none as far as is known.
    /// What another gateway brought hides as many. What was let be is not counted: see `letBe`.
    public func lacking(_ device: DeviceID, there: Int) throws(StoreError) -> Int {
        try storing("count what is confirmed", path) {
            guard let band = try BandTable(database: database).id(of: device) else { return 0 }
            let letBe = try MetaTable(database: database).read(letBe: device) ?? 0
            let query = StatusQuery(database: database)
            for isExact in [false, true] {
                let lacking = try query.confirmed(band: band, exactly: isExact) - there - Int(clamping: letBe)
                if lacking <= 0 || isExact { return max(0, lacking) }
            }
            return 0
        }
    }

    /// So many more samples are lacking at the server for good: all that is here was compared, and what it lacks of that goes up again.
    /// Below 0: so many of those that were let be are there after all.
    public func letBe(_ count: Int, of device: DeviceID) throws(StoreError) {
        try write("let be what the server lacks") { _ in
            let meta = MetaTable(database: database)
            let letBe = max(0, (try meta.read(letBe: device) ?? 0) + Int64(count))
            try meta.write(letBe: device, letBe == 0 ? nil : letBe)
        }
    }

    /// What is stored of a day, by ring and type.
    public func storedDay(_ day: Int64, of device: DeviceID) throws(StoreError) -> [StoredPart] {
        try storing("read a day", path) {
            let rings = try database.all(
                """
                SELECT rings.id, rings.ring, device FROM rings JOIN bands ON bands.id = rings.band
                WHERE device = ? ORDER BY rings.id
                """, .text(device.text), row: OutboxSelection.ring
            ).compactMap { $0 }
            return try rings.flatMap { try storedDay(day, in: $0) }
        }
    }

    private func storedDay(_ day: Int64, in ring: OutboxSelection.Ring) throws -> [StoredPart] {
        let start = day * DayTable.milliseconds
        let table = DayTable(database: database)
        guard let seqs = try table.seqs(ring: ring.id, from: start, to: start) else { return [] }
        var waiting = RisingRanges(try unconfirmed.overlapping(ring: ring.id, seqs))
        var held = RisingRanges(try comparisons.held.overlapping(ring: ring.id, seqs))
        var parts: [SampleType: StoredPart] = [:]
        try database.query(
            """
            SELECT s.key, s.recorded_at, q.key IS NOT NULL FROM samples s
            LEFT JOIN quarantine q ON q.key = s.key
            WHERE s.key BETWEEN ? AND ? AND s.recorded_at >= ? AND s.recorded_at < ? ORDER BY s.key
            """, .integer(SampleKey.lowest(ring: ring.id, seq: seqs.lowerBound)),
            .integer(SampleKey.highest(ring: ring.id, seq: seqs.upperBound)), .integer(start),
            .integer(start + DayTable.milliseconds)
        ) { row in
            let key = SampleKey(packed: row.int64(0))
            guard let type = SampleType(rawValue: key.type) else { return }
            var part = parts[type] ?? StoredPart(ring: ring.ring, type: type)
            if held.contains(key.seq) || row.bool(2) {
                part.kept += 1
            } else if waiting.contains(key.seq) {
                part.waiting += 1
            } else {
                part.seqs.append(key.seq)
                part.times.append(row.int64(1))
            }
            parts[type] = part
        }
        return parts.values.sorted { $0.type.rawValue < $1.type.rawValue }
    }

    /// Those of the seqs of which a sample of the type is stored, whenever it was recorded.
    public func stored(
        _ seqs: [UInt32], _ type: SampleType, in ring: RingID, of device: DeviceID
    ) throws(StoreError) -> Set<UInt32> {
        try storing("look for samples", path) {
            guard let row = try selection.ring(device, ring) else { return [] }
            let find = try database.prepare("SELECT 1 FROM samples WHERE key = ?")
            var found: Set<UInt32> = []
            for seq in seqs {
                defer { find.reset() }
                try find.bind(1, SampleKey(ring: row.id, seq: seq, type: type.rawValue).packed)
                if try find.step() { found.insert(seq) }
            }
            return found
        }
    }

    /// Anything of the type is stored within the seqs.
    public func hasStored(
        _ seqs: ClosedRange<UInt32>, _ type: SampleType, in ring: RingID, of device: DeviceID
    ) throws(StoreError) -> Bool {
        try storing("look for samples", path) {
            guard let row = try selection.ring(device, ring) else { return false }
            return try database.first(
                "SELECT 1 FROM samples WHERE key BETWEEN ? AND ? AND key & 255 = ? LIMIT 1",
                .integer(SampleKey.lowest(ring: row.id, seq: seqs.lowerBound)),
                .integer(SampleKey.highest(ring: row.id, seq: seqs.upperBound)), .int(type.rawValue)
            ) { _ in true } ?? false
        }
    }

    /// What is named as missing and has not turned up: the rings, and the seqs in rising order.
    public func openGaps(of device: DeviceID) throws(StoreError) -> [RingID: [ClosedRange<UInt32>]] {
        let gaps = try storing("list the gaps", path) { try GapQuery(database: database).all(device: device) }
        return Dictionary(grouping: gaps.map(\.gap).filter { $0.healedAt == nil }, by: \.ring).mapValues {
            $0.map { $0.firstSeq...max($0.firstSeq, $0.lastSeq ?? .max) }
        }
    }

    /// The server has these, though they were named as missing: another gateway brought them. In rising order.
    public func heal(_ seqs: [UInt32], in ring: RingID, of device: DeviceID) throws(StoreError) {
        var runs = SeqRuns()
        for seq in seqs { runs.append(seq) }
        try write("heal gaps") { now in
            guard let row = try selection.ring(device, ring) else { return }
            for run in runs.runs { try self.gaps.heal(ring: row.id, run, now: now) }
        }
    }

    /// The server lacks these, which were confirmed: they go up again. In rising order.
    public func markUnconfirmed(
        _ seqs: [UInt32], in ring: RingID, of device: DeviceID
    ) throws(StoreError) {
        var runs = SeqRuns()
        for seq in seqs { runs.append(seq) }
        try writeDurably("mark what the server lacks") { _ in
            guard let row = try selection.ring(device, ring) else { return }
            for run in runs.runs { try unconfirmed.add(ring: row.id, run) }
            // The server does not have them: where the band still does, it keeps them until it has.
            if let first = runs.runs.first?.lowerBound { try confirmed.lower(ring: row.id, below: first) }
        }
    }
}

/// Disjoint ranges that are asked about seqs in rising order.
private struct RisingRanges {
    private let ranges: [ClosedRange<UInt32>]
    private var index = 0

    init(_ ranges: [ClosedRange<UInt32>]) {
        self.ranges = ranges.sorted { $0.lowerBound < $1.lowerBound }
    }

    mutating func contains(_ seq: UInt32) -> Bool {
        while index < ranges.count, ranges[index].upperBound < seq { index += 1 }
        return index < ranges.count && ranges[index].lowerBound <= seq
    }
}
