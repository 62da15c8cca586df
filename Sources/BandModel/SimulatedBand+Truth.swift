import BandProfile

extension SimulatedBand {
    /// Every record that was ever measured, in every ring; what was rolled back comes before what replaced it.
    public func forEachRecorded(_ body: (RecordedSample) throws -> Void) rethrows {
        for ring in state.pastRings + [state.ring] {
            let seed = state.seed(of: ring)
            for segment in (ring.forgotten + ring.segments).sorted(by: Self.isEarlier) {
                for seq in segment.firstSeq..<segment.end {
                    try body(
                        RecordedSample(
                            ring: RingID(rawValue: ring.id), generation: segment.generation,
                            record: state.record(seq, of: segment, seed: seed), clockID: segment.clock.id,
                            trueMilliseconds: segment.trueTime(seq, seed: seed)))
                }
            }
        }
    }

    public var everRecorded: [RecordedSample] {
        var all: [RecordedSample] = []
        forEachRecorded { all.append($0) }
        return all
    }

    public var everRecordedCount: Int {
        (state.pastRings + [state.ring]).reduce(0) { total, ring in
            (ring.forgotten + ring.segments).reduce(total) { $0 + Int($1.count) }
        }
    }

    /// Records that are gone although no ack freed them.
    public var losses: [BandLoss] { state.losses }

    /// The last seq ever sent from this ring; acks above it are ignored.
    public var everSent: UInt32 { state.ring.everSent }

    /// Seqs that the script never sends, or never readably: each must end as a gap.
    public func isUndeliverable(_ seq: UInt32) -> Bool {
        options.faults.names(.absent, in: seq...seq) || options.faults.names(.unreadable, in: seq...seq)
    }

    private static func isEarlier(_ left: RecordSegment, _ right: RecordSegment) -> Bool {
        (left.generation, left.firstSeq) < (right.generation, right.firstSeq)
    }
}
