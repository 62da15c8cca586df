import CivilTime
import IngestAPI
import SampleChunks

/// How long samples are kept.
public struct Retention: Equatable, Sendable {
    /// Samples recorded and received longer ago than so many days may go. Nil = nothing ever expires.
    public var days: Int?

    public init(days: Int?) { self.days = days }

    public static let standard = Retention(days: 90)
    /// Every sample has been with a gateway for this long at least, whatever its time says.
    public static let fewestDays = 7
    /// A sleep that ends on a day that is still computed began in samples that are still there.
    private static let margin = 4

    /// Trends up to this day are frozen.
    func frozenThrough(now: APITime) -> CivilDate? {
        guard let days else { return nil }
        return CivilDate(milliseconds: now.milliseconds, offsetMinutes: 0).advanced(
            by: -max(days, Self.fewestDays))
    }

    /// Chunks whose samples are all from before this moment, and have been here since before it, may go.
    func expiresBefore(_ frozen: CivilDate) -> Int64 {
        frozen.advanced(by: -Self.margin).midnight(offsetMinutes: 0)
    }
}

/// Lets old samples of one device go: their days are frozen first, and their keys stay.
///
/// Nothing goes that was not confirmed to a gateway: what is stored was answered, and a gateway that did not get the
/// answer sends again long before a sample is old enough; it would find the key here.
struct ExpiryTurn: Sendable {
    private let device: DeviceKey
    private let frozen: CivilDate
    private let chunks: [OldChunk]
    /// More chunks may be old.
    let isLast: Bool

    private struct OldChunk: Sendable {
        let ring: Int64
        let firstSeq: UInt32
        let lastSeq: UInt32
        let firstTime: Int64
        let lastTime: Int64
        let content: [UInt8]
        let keys: ExpiredKeys
    }

    /// Chunks of one turn.
    private static let limit = 64

    /// Nil when there is nothing to do. The trends up to the day must be up to date.
    init?(_ device: DeviceKey, _ retention: Retention, now: APITime, in session: any SQLSession)
        throws(StorageFailure)
    {
        guard let frozen = retention.frozenThrough(now: now),
            let row = try DeviceRow.read(device, in: session)
        else { return nil }
        let rows = try session.rows(
            SQLCall(
                DeviceStatement.oldChunks, device.value, .int(retention.expiresBefore(frozen)),
                .int(Self.limit)))
        guard !rows.isEmpty else { return nil }
        guard row.touched == row.touched.after(frozen) else { return nil }
        self.device = device
        self.frozen = [frozen, row.frozenThrough].compactMap { $0 }.max() ?? frozen
        isLast = rows.count < Self.limit
        chunks = try rows.map { row throws(StorageFailure) in
            let content = try row.bytes(5)
            return OldChunk(
                ring: try row.int64(0), firstSeq: try row.seq(1), lastSeq: try row.seq(2),
                firstTime: try row.int64(3), lastTime: try row.int64(4), content: content,
                keys: ExpiredKeys(of: try ChunkRows.samples(content)))
        }
    }

    /// One ring after the other. False = something came in between; the turn is void.
    var job: WriteJob<Bool> {
        let spans = Dictionary(grouping: chunks, by: \.ring).mapValues { chunks in
            (chunks.map(\.firstSeq).min() ?? 0)...(chunks.map(\.lastSeq).max() ?? 0)
        }
        let rings = spans.sorted { $0.key < $1.key }
        let reads =
            rings.map { ExpiredRows.around($0.value, ring: $0.key, device) }
            + chunks.map { SQLCall(DeviceStatement.chunk, device.value, .int($0.ring), .int($0.firstSeq)) }
        return WriteJob(device: device, reads: reads) { row, results throws(StorageFailure) in
            guard let row, row.touched == row.touched.after(frozen) else { return Decision(value: false) }
            // A correction or a late sample may have come into a chunk: it is not old any more. A correction changes
            // no key, and of a frozen day nothing is touched by it.
            for (chunk, result) in zip(chunks, results.dropFirst(rings.count)) {
                guard try result.rows.first?.bytes(0) == chunk.content else { return Decision(value: false) }
            }
            var writes: [SQLCall] = []
            for (ring, found) in zip(rings, results) {
                var keys = ExpiredKeys()
                for chunk in chunks where chunk.ring == ring.key { keys.formUnion(chunk.keys) }
                writes += try ExpiredRows.add(keys, to: found, ring: ring.key, device)
            }
            writes += chunks.map { ChunkRows.drop($0.firstSeq, ring: $0.ring, device) }
            let first = (chunks.map(\.firstTime) + [row.expiredFirst].compactMap { $0 }).min()
            let last = (chunks.map(\.lastTime) + [row.expiredLast].compactMap { $0 }).max()
            writes.append(
                SQLCall(
                    DeviceStatement.freeze, device.value, .int(frozen.days), .optional(first),
                    .optional(last)))
            return Decision(value: true, writes: writes)
        }
    }
}
