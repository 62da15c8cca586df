import IngestAPI
import SampleChunks

/// Chunks in their table.
enum ChunkRows {
    static func samples(_ content: [UInt8]) throws(StorageFailure) -> [APISample] {
        do {
            return try ChunkCoder.decode(content)
        } catch {
            throw StorageFailure(.damaged, "a chunk of samples can't be read")
        }
    }

    /// The chunks that a batch with these seqs goes into, and the last one before them.
    static func around(_ seqs: ClosedRange<UInt32>, ring: Int64, _ device: DeviceKey) -> SQLCall {
        SQLCall(
            DeviceStatement.chunksAround, device.value, .int(ring), .int(seqs.lowerBound),
            .int(seqs.upperBound),
            .int(ChunkLayout.nearSeqs), .int(ChunkLayout.enoughSamples))
    }

    static func put(_ samples: [APISample], ring: Int64, _ device: DeviceKey, now: APITime) -> SQLCall {
        // Samples of a chunk are never none.
        let times = samples.map(\.recordedAt.milliseconds)
        let seqs = samples.map(\.seq)
        return SQLCall(
            DeviceStatement.putChunk, device.value, .int(ring), .int(seqs.min() ?? 0), .int(seqs.max() ?? 0),
            .int(samples.count), .int(times.min() ?? 0), .int(times.max() ?? 0), .int(now.milliseconds),
            .bytes(ChunkCoder.encode(samples)))
    }

    static func drop(_ firstSeq: UInt32, ring: Int64, _ device: DeviceKey) -> SQLCall {
        SQLCall(DeviceStatement.dropChunk, device.value, .int(ring), .int(firstSeq))
    }
}

/// The chunks of one ring that a batch goes into, read and to be written.
struct ChunkSet {
    /// Seqs that belong together: nothing stored lies among them that was not read.
    private var spans: [ClosedRange<UInt32>] = []
    private var firstSeqs: Set<UInt32> = []
    private(set) var stored: [APISample] = []

    /// `results` are those of `ChunkRows.around` for each of `lookups`.
    init(_ lookups: [ClosedRange<UInt32>], _ results: some Sequence<SQLResult>) throws(StorageFailure) {
        spans = lookups
        for (lookup, result) in zip(lookups, results) {
            for row in result.rows {
                guard let content = try row.optionalBytes(2) else { continue }
                let (first, last) = (try row.seq(0), try row.seq(1))
                guard first <= last else { throw StorageFailure(.damaged, "a chunk ends before it begins") }
                // Two lookups may meet in one chunk.
                if firstSeqs.insert(first).inserted { stored += try ChunkRows.samples(content) }
                spans.append(min(first, lookup.lowerBound)...max(last, lookup.upperBound))
            }
        }
    }

    func writes(_ samples: [APISample], ring: Int64, _ device: DeviceKey, now: APITime) -> [SQLCall] {
        var chunks: [[APISample]] = []
        var rest = samples.sorted { $0.seq < $1.seq }[...]
        for span in joinedSpans {
            let part = rest.prefix { $0.seq <= span.upperBound }
            rest = rest.dropFirst(part.count)
            chunks += ChunkLayout.cut(Array(part))
        }
        let kept = Set(chunks.compactMap { $0.map(\.seq).min() })
        return firstSeqs.subtracting(kept).sorted().map { ChunkRows.drop($0, ring: ring, device) }
            + chunks.map { ChunkRows.put($0, ring: ring, device, now: now) }
    }

    private var joinedSpans: [ClosedRange<UInt32>] {
        var joined: [ClosedRange<UInt32>] = []
        for span in spans.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = joined.last, last.overlaps(span) {
                joined[joined.count - 1] = last.lowerBound...max(last.upperBound, span.upperBound)
            } else {
                joined.append(span)
            }
        }
        return joined
    }
}
