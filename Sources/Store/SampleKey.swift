import BandProfile

/// The packed primary key of `samples`: rings.id << 40 | seq << 8 | type.
struct SampleKey: Equatable, Comparable {
    var packed: Int64

    init(packed: Int64) { self.packed = packed }

    @inline(__always)
    init(ring: Int64, seq: UInt32, type: UInt8) { packed = ring << 40 | Int64(seq) << 8 | Int64(type) }

    /// Below every key of this seq.
    static func lowest(ring: Int64, seq: UInt32) -> Int64 { SampleKey(ring: ring, seq: seq, type: 0).packed }
    /// Above every key of this seq.
    static func highest(ring: Int64, seq: UInt32) -> Int64 {
        SampleKey(ring: ring, seq: seq, type: 255).packed
    }

    var ring: Int64 { packed >> 40 }
    var seq: UInt32 { UInt32(truncatingIfNeeded: packed >> 8) }
    var type: UInt8 { UInt8(truncatingIfNeeded: packed) }

    static func < (left: Self, right: Self) -> Bool { left.packed < right.packed }
}
