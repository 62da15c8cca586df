import BandProfile
import GatewayModel

/// Tells whether two batches have the same content without keeping the first. Ingest API 1: "A retry keeps its `sync_id`
/// only with identical content."
///
/// Two keyed hashes of 64 bits, keyed anew in each process: it never leaves the process.
struct BatchFingerprint: Equatable {
    private let first: Int
    private let second: Int

    init(ring: RingID, completeThrough: UInt32?, samples: ArraySlice<Sample>) {
        first = Self.hash(0, ring, completeThrough, samples)
        second = Self.hash(1, ring, completeThrough, samples)
    }

    private static func hash(
        _ salt: Int, _ ring: RingID, _ completeThrough: UInt32?, _ samples: ArraySlice<Sample>
    ) -> Int {
        var hasher = Hasher()
        hasher.combine(salt)
        hasher.combine(ring)
        hasher.combine(completeThrough)
        for sample in samples {
            hasher.combine(sample.type)
            hasher.combine(sample.seq)
            hasher.combine(sample.value)
            hasher.combine(sample.recordedAt)
            hasher.combine(sample.offsetMinutes)
            hasher.combine(sample.version)
            hasher.combine(sample.provenance)
            hasher.combine(sample.bandTimeMilliseconds)
            hasher.combine(sample.clockID)
            hasher.combine(sample.flags)
            hasher.combine(sample.timeUncertain)
            hasher.combine(sample.timeBoundMilliseconds)
            hasher.combine(sample.wearer)
        }
        return hasher.finalize()
    }
}
