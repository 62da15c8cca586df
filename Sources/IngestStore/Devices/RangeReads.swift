import IngestAPI
import SampleChunks

/// Counts what a device has by ring, type and UTC day, a part at a time: each part is a question of its own, so that none is late
/// however much there is, and others' go between.
struct RangeReads {
    let session: any SQLSession
    var limits = Limits()

    /// Of one part. Where the database is far away each part costs two round trips, and two for its transaction.
    struct Limits: Sendable {
        var chunks = 2048
        /// Of packed samples, unless one chunk alone has more.
        var bytes = 4 << 20
    }

    /// All seqs of the ring up to this one are counted, and all of the rings before it.
    ///
    /// Not a chunk: between two parts others may cut them anew, and each sample is counted once all the same.
    struct Place: Equatable, Sendable {
        var ring: Int64
        var seq: UInt32

        static let beginning = Self(ring: -1, seq: 0)
    }

    struct Part: Sendable {
        var counts = DayCounts()
        /// Where the next one begins; nil = this is the last.
        var next: Place?
    }

    private struct Chunk {
        let ring: Int64
        let firstSeq: Int64
        let lastSeq: UInt32
        let bytes: Int

        init(_ row: SQLRow) throws(StorageFailure) {
            ring = try row.int64(0)
            firstSeq = try row.int64(1)
            lastSeq = try row.seq(2)
            bytes = try row.int(3)
        }
    }

    /// Nil for a device that is not known. What has expired is in no range.
    func part(of device: DeviceKey, after place: Place) throws(StorageFailure) -> Part? {
        let results = try session.run([
            SQLCall(DeviceStatement.read, device.value),
            SQLCall(
                DeviceStatement.chunkSizes, device.value, .int(place.ring), .int(place.seq),
                .int(limits.chunks)),
        ])
        guard let row = results.first?.rows.first else { return nil }
        try DeviceRow(row).check(device)
        let found = try (results.last?.rows ?? []).map { row throws(StorageFailure) in try Chunk(row) }
        guard let places = DeviceReads.groups(found.map(\.bytes), limit: limits.bytes).first,
            let first = found[places].first, let last = found[places].last
        else { return Part() }
        var part = Part()
        // They are of one snapshot, and in the same order.
        let rows = try session.rows(
            SQLCall(
                DeviceStatement.chunksAfter, device.value, .int(first.ring), .int(first.firstSeq - 1),
                .int(places.count)))
        for row in rows {
            let ring = try row.int64(0)
            part.counts.add(
                try ChunkRows.samples(try row.bytes(2)), ring: ring,
                after: ring == place.ring ? place.seq : 0)
        }
        let isLast = places.count == found.count && found.count < limits.chunks
        part.next = isLast ? nil : Place(ring: last.ring, seq: last.lastSeq)
        return part
    }
}

/// How many samples there are of each ring, type and UTC day, and from which seq to which.
struct DayCounts: Sendable {
    private struct Key: Hashable, Comparable, Sendable {
        let ring: Int64
        let type: Int
        let day: Int64

        static func < (left: Self, right: Self) -> Bool {
            (left.ring, left.type, left.day) < (right.ring, right.type, right.day)
        }
    }

    /// More than fit into an answer, whatever is in them.
    static let most = IngestAPI.maxListBytes / 80

    private var ranges: [Key: DayRange] = [:]

    var count: Int { ranges.count }

    /// By ring, type and day.
    var all: [DayRange] { ranges.sorted { $0.key < $1.key }.map(\.value) }

    /// Those of the samples whose seq is above.
    mutating func add(_ samples: [APISample], ring: Int64, after seq: UInt32) {
        // Neighbours are mostly of one type and day.
        var run: (key: Key, range: DayRange)?
        for sample in samples where sample.seq > seq {
            let key = Key(ring: ring, type: sample.type.code, day: sample.recordedAt.dayNumber)
            if run?.key == key {
                run?.range.add(1, sample.seq...sample.seq)
                continue
            }
            if let run { add(run.key, run.range) }
            let range = DayRange(
                ring: RingCode.text(ring), type: sample.type, day: sample.recordedAt.day, count: 1,
                minSeq: sample.seq, maxSeq: sample.seq)
            run = (key, range)
        }
        if let run { add(run.key, run.range) }
    }

    mutating func add(_ other: Self) { for (key, range) in other.ranges { add(key, range) } }

    private mutating func add(_ key: Key, _ range: DayRange) {
        guard ranges[key] != nil else {
            ranges[key] = range
            return
        }
        ranges[key]?.add(range.count, range.minSeq...range.maxSeq)
    }
}

extension DayRange {
    fileprivate mutating func add(_ count: Int, _ seqs: ClosedRange<UInt32>) {
        self.count += count
        minSeq = min(minSeq, seqs.lowerBound)
        maxSeq = max(maxSeq, seqs.upperBound)
    }
}
