import CivilTime
import IngestAPI
import SampleChunks
import Trends

/// The gap ledger. Key in a device: (ring, first_seq).
enum GapRows {
    static func gap(_ row: SQLRow) throws(StorageFailure) -> APIGap {
        guard let cause = APIGapCause(rawValue: try row.text(5)) else {
            throw StorageFailure(.damaged, "the cause of a gap is not known")
        }
        func time(_ column: Int) throws(StorageFailure) -> APITime? {
            try row.optionalInt64(column).map(APITime.init(milliseconds:))
        }
        return APIGap(
            ring: RingCode.text(try row.int64(0)), firstSeq: try row.seq(1),
            lastSeq: row.isNull(2) ? nil : try row.seq(2), after: try time(3), before: try time(4),
            cause: cause,
            healedAt: try time(6))
    }

    static func all(_ device: DeviceKey, in session: any SQLSession) throws(StorageFailure) -> [APIGap] {
        try session.rows(SQLCall(DeviceStatement.gaps, device.value)).map { row throws(StorageFailure) in
            try gap(row)
        }
    }

    /// What ends stages of sleep.
    static func intervals(_ device: DeviceKey, in session: any SQLSession) throws(StorageFailure)
        -> [TrendGap]
    {
        try all(device, in: session).compactMap(TrendGap.init)
    }

    /// Puts gaps, and notes which days of sleep change with them. Returns the gaps named, as they are stored then. `.full`
    /// when there would be too many: what is there already may still be changed.
    static func put(_ gaps: [APIGap], _ device: DeviceKey, now: APITime) -> WriteJob<[APIGap]> {
        let reads =
            [
                SQLCall(DeviceStatement.gapCount, device.value),
                SQLCall(DeviceStatement.ringNumbers, device.value),
            ]
            + gaps.map {
                SQLCall(
                    DeviceStatement.gap, device.value, .int(RingCode.number($0.ring)), .int($0.firstSeq))
            }
        return WriteJob(device: device, makesDevice: true, reads: reads) {
            row, results throws(StorageFailure) in
            guard var row else { throw StorageFailure(.defect, "a device was not made") }
            var decision = Decision<[APIGap]>(value: [])
            var stored: [GapKey: APIGap] = [:]
            var touched = TouchedDays()
            let count = try results[0].rows.first?.int(0) ?? 0
            let known = Set(try results[1].rows.map { row throws(StorageFailure) in try row.int64(0) })
            var rings = known
            var new = 0
            for (gap, result) in zip(gaps, results.dropFirst(2)) {
                let key = GapKey(gap)
                let read = try result.rows.first.map { row throws(StorageFailure) in try Self.gap(row) }
                let before = stored[key] ?? read
                if before == nil { new += 1 }
                var after = gap
                // The last put counts, but a gap that is healed stays healed: another gateway may not know yet.
                after.healedAt = gap.healedAt ?? before?.healedAt
                stored[key] = after
                decision.value.append(after)
                guard before != after else { continue }
                let ring = RingCode.number(gap.ring)
                if rings.insert(ring).inserted {
                    decision.writes.append(
                        SQLCall(
                            DeviceStatement.makeRing, device.value, .int(ring), .int(now.milliseconds)))
                }
                decision.writes.append(put(after, device))
                let changed = [before, after].map { $0.flatMap(TrendGap.init) }
                guard changed[0] != changed[1] else { continue }
                // A gap cuts the stage in which it begins.
                for gap in changed {
                    guard let gap else { continue }
                    touched.insert(.sleepStage, CivilDate(milliseconds: gap.after, offsetMinutes: 0))
                }
            }
            guard new == 0 || count + new <= IngestAPI.maxGapsPerDevice else { throw .full("gaps") }
            guard rings.count == known.count || rings.count <= IngestAPI.maxRingsPerDevice else {
                throw .full("rings")
            }
            touched = touched.after(row.frozenThrough)
            if !touched.isEmpty {
                row.touched.formUnion(touched)
                decision.writes.append(
                    SQLCall(
                        DeviceStatement.noteTouched, device.value, .text(row.touched.text),
                        .int(row.touches &+ 1)))
            }
            return decision
        }
    }

    private struct GapKey: Hashable {
        let ring: String
        let firstSeq: UInt32

        init(_ gap: APIGap) {
            ring = gap.ring
            firstSeq = gap.firstSeq
        }
    }

    private static func put(_ gap: APIGap, _ device: DeviceKey) -> SQLCall {
        SQLCall(
            DeviceStatement.putGap, device.value, .int(RingCode.number(gap.ring)), .int(gap.firstSeq),
            .optional(gap.lastSeq), .optional(gap.after?.milliseconds), .optional(gap.before?.milliseconds),
            .text(gap.cause.rawValue), .optional(gap.healedAt?.milliseconds))
    }
}
