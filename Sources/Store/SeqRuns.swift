/// Collects seqs that come in rising order into runs.
struct SeqRuns {
    private(set) var runs: [ClosedRange<UInt32>] = []

    var isEmpty: Bool { runs.isEmpty }

    mutating func append(_ seq: UInt32) {
        if let last = runs.indices.last {
            let run = runs[last]
            if run.upperBound == seq { return }
            if run.upperBound < seq, run.upperBound + 1 == seq {
                runs[last] = run.lowerBound...seq
                return
            }
        }
        runs.append(seq...seq)
    }
}
