import BandProfile
import GatewayModel

/// Tells what of a hole is gone from the band, by an Info that was read after the stream began.
enum HoleJudge {
    /// The part of `expected...` below `limit` that the band no longer has, split by what must have happened.
    ///
    /// The band does not say whether a record was overwritten or freed. Its capacity does: a ring holds its
    /// newest `capacity` records unless somebody's ack freed them, so what lies within that was freed.
    static func gone(from expected: UInt32, below limit: UInt32, info: RingInfo) -> [SuspectedGap] {
        let end = min(info.oldestSeq, limit)
        guard end > expected else { return [] }
        let overwrittenBelow = info.newestSeq >= info.capacity ? (info.newestSeq - info.capacity).nextSeq : 0
        var parts: [SuspectedGap] = []
        let border = min(max(overwrittenBelow, expected), end)
        if border > expected {
            parts.append(
                SuspectedGap(ring: info.ring, firstSeq: expected, lastSeq: border - 1, cause: .overwritten))
        }
        if end > border {
            parts.append(
                SuspectedGap(ring: info.ring, firstSeq: border, lastSeq: end - 1, cause: .freedElsewhere))
        }
        return parts
    }
}

extension UInt32 {
    /// The seq after this one; the last one has none, and stays.
    var nextSeq: UInt32 { self == .max ? .max : self + 1 }
}
