import IngestAPI
import SampleChunks

/// Reads pages of samples in the order (recorded_at, device, ring, seq), type last where a seq repeats.
struct SamplePages {
    let session: any SQLSession

    /// Chunks read at once.
    private static let chunksAtOnce = 8

    /// A chunk that may have samples of the page.
    private struct Candidate {
        let device: DeviceKey
        let ring: Int64
        let firstSeq: Int64
        /// Its earliest sample; milliseconds since 1970.
        let firstTime: Int64
    }

    /// Nil when the query names a device that is not known.
    func page(_ query: SampleQuery, account: String) throws(StorageFailure) -> SamplesPage? {
        guard let devices = try devices(query.subject, account: account) else { return nil }
        // A cursor only moves the start forward.
        let start = max(query.from ?? .earliest, query.after?.recordedAt ?? .earliest).milliseconds
        let end = query.to?.milliseconds ?? .max
        var candidates: [Candidate] = []
        for device in devices {
            let rows = try session.rows(
                SQLCall(DeviceStatement.chunkKeysBetween, device.value, .int(start), .int(end)))
            candidates += try rows.map { row throws(StorageFailure) in
                Candidate(
                    device: device, ring: try row.int64(0), firstSeq: try row.int64(1),
                    firstTime: try row.int64(2))
            }
        }
        candidates.sort { $0.firstTime < $1.firstTime }
        // One more than asked for tells whether another page follows.
        var samples = try first(query.limit + 1, of: candidates[...], query)
        let more = samples.count > query.limit
        if more { samples.removeLast() }
        return SamplesPage(
            samples: samples, nextCursor: more ? samples.last.map { SamplePosition(of: $0).cursor } : nil)
    }

    /// Nil for a device that is not known; a person that is not known has none.
    private func devices(
        _ subject: SampleQuery.Subject, account: String
    ) throws(StorageFailure) -> [DeviceKey]? {
        switch subject {
        case .device(let name):
            let key = DeviceKey(account: account, name: name)
            return try DeviceRow.read(key, in: session).map { _ in [key] }
        case .person(let person):
            return try PersonReads(session: session).devices(of: person, account: account)
        }
    }

    /// In order. Chunks come in the order of their earliest sample: what is before the next one's is final.
    private func first(
        _ limit: Int, of candidates: ArraySlice<Candidate>, _ query: SampleQuery
    ) throws(StorageFailure) -> [StoredSample] {
        var rest = candidates
        var found: [StoredSample] = []
        while let next = rest.first {
            if found.count >= limit, found[limit - 1].sample.recordedAt.milliseconds < next.firstTime {
                break
            }
            let batch = rest.prefix(Self.chunksAtOnce)
            rest = rest.dropFirst(batch.count)
            let results = try session.run(
                batch.map {
                    SQLCall(DeviceStatement.chunk, $0.device.value, .int($0.ring), .int($0.firstSeq))
                })
            for (candidate, result) in zip(batch, results) {
                guard let row = result.rows.first else { continue }
                let ring = RingCode.text(candidate.ring)
                for sample in try ChunkRows.samples(try row.bytes(0)) where query.takes(sample) {
                    let stored = StoredSample(deviceID: candidate.device.name, ring: ring, sample: sample)
                    if query.isAfterCursor(stored) { found.append(stored) }
                }
            }
            found.sort { $0.isOrdered(before: $1) }
            if found.count > limit { found.removeLast(found.count - limit) }
        }
        return found
    }
}

extension SampleQuery {
    fileprivate func takes(_ sample: APISample) -> Bool {
        if let type, sample.type != type { return false }
        if let from, sample.recordedAt < from { return false }
        if let to, sample.recordedAt >= to { return false }
        if case .person(let person) = subject { return sample.person == .assigned(OpaqueID(person)) }
        return true
    }

    fileprivate func isAfterCursor(_ stored: StoredSample) -> Bool {
        guard let after else { return true }
        return after.sortKey < stored.sortKey
    }
}

/// The order of samples as something to compare.
private struct SampleOrder: Comparable {
    let time: Int64
    let device: String
    let ring: String
    let seq: UInt32
    let type: Int

    static func < (left: Self, right: Self) -> Bool {
        if left.time != right.time { return left.time < right.time }
        // As bytes, like the names in the tables.
        if left.device != right.device {
            return left.device.utf8.lexicographicallyPrecedes(right.device.utf8)
        }
        return (left.ring, left.seq, left.type) < (right.ring, right.seq, right.type)
    }
}

extension SamplePosition {
    fileprivate var sortKey: SampleOrder {
        SampleOrder(time: recordedAt.milliseconds, device: device, ring: ring, seq: seq, type: type.code)
    }
}

extension StoredSample {
    fileprivate var sortKey: SampleOrder { SamplePosition(of: self).sortKey }
    fileprivate func isOrdered(before other: Self) -> Bool { sortKey < other.sortKey }
}
