import GatewayModel

extension Chunk {
    /// From the last commit to this one's end every seq is a record, in a gap or in a question, and none is in two.
    func coversExactly(after durable: UInt32) -> Bool {
        var parts = gaps.map { ($0.firstSeq, $0.lastSeq) }
        parts += openQuestions.filter { $0.ring == ring }.map { ($0.firstSeq, $0.lastSeq) }
        parts += records.map { ($0.record.seq, $0.record.seq) }
        var next = durable &+ 1
        for (first, last) in parts.sorted(by: { $0.0 < $1.0 }) {
            guard let last, first == next, last >= first else { return false }
            next = last &+ 1
        }
        return through == next &- 1
    }
}
