import BandProfile
import GatewayModel

/// What a salvage brought over into a new database, and what it could not.
public struct SalvageReport: Equatable, Sendable {
    /// Seqs of one ring that are no longer stored, and may be nowhere else.
    public struct Loss: Equatable, Sendable {
        public var device: DeviceID
        public var ring: RingID
        public var seqs: [ClosedRange<UInt32>]

        public var count: Int { seqs.reduce(0) { $0 + Int($1.upperBound - $1.lowerBound) + 1 } }
    }

    /// What the damaged database is called now.
    public var keptAs = ""
    public var samples = 0
    /// Samples of a ring that nothing is known of any more; the damaged database has them still.
    public var orphans = 0
    /// Tables in which something was damaged.
    public var damagedTables: [String] = []
    public var losses: [Loss] = []

    public var lostSamples: Int { losses.reduce(0) { $0 + $1.count } }

    /// For people.
    public var problem: Problem {
        let lost =
            lostSamples == 0
            ? "no sample that the server lacks was lost"
            : "\(lostSamples) record(s) could not be read and are asked for again"
        return Problem(
            code: "store_salvaged",
            text: "The database was damaged; \(samples) sample(s) were brought over into a new one, \(lost).",
            remedy:
                "Nothing has to be done for the data: what the bands and the server lack, too, is named in the gaps. "
                + "A database is seldom damaged by itself: check the medium and the power supply. "
                + "The damaged one is \(keptAs.isEmpty ? "kept" : keptAs); remove it when it is of no use.")
    }
}
