import BandProfile
import Conditions
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

    /// Second readings of samples may be lost, and nothing tells how many.
    public var mayLackSecondReadings: Bool { damagedTables.contains("conflicts") }

    /// For people.
    public var problem: Problem {
        Problem(
            mayLackSecondReadings
                ? .storeSalvagedReadings : lostSamples == 0 ? .storeSalvaged : .storeSalvagedInPart,
            [
                "samples": String(samples), "lost": String(lostSamples),
                "kept": keptAs.isEmpty ? "kept" : keptAs,
            ])
    }
}
