import IngestAPI
import SampleChunks
import Testing

struct ChunkLayoutTests {
    /// Seqs with runs, holes and several samples of one seq.
    private func samples(_ random: inout Seeded) -> [APISample] {
        var seq = UInt32.random(in: 1...1000, using: &random)
        return (0..<Int.random(in: 1...1500, using: &random)).map { _ in
            seq += [0, 1, 1, 1, 1, 2, 600].randomElement(using: &random) ?? 1
            return APISample.random(seq: seq, using: &random)
        }
    }

    @Test func chunksHoldAllSamplesAndNeverOverlap() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = Seeded(seed)
        for _ in 0..<100 {
            let samples = samples(&random)
            let chunks = ChunkLayout.cut(samples.shuffled(using: &random))
            #expect(chunks.joined().count == samples.count, "seed \(seed)")
            #expect(Set(chunks.joined()) == Set(samples), "seed \(seed)")
            for (chunk, next) in zip(chunks, chunks.dropFirst()) {
                let (last, first) = (chunk.map(\.seq).max() ?? .max, next.map(\.seq).min() ?? 0)
                #expect(last < first, "seed \(seed)")
            }
            // A seq that repeats may make one a little longer.
            #expect(
                chunks.allSatisfy { (1...ChunkLayout.mostSamples + 20).contains($0.count) }, "seed \(seed)")
        }
    }

    @Test func hostileTimesDoNotMakeAChunkOfEachSample() {
        let samples = (1...500).map { seq in
            APISample(
                type: .steps, seq: UInt32(seq), value: 1,
                recordedAt: APITime(milliseconds: Int64(seq % 2) * 400 * 86_400_000), tzOffsetMinutes: nil,
                bandTimeMilliseconds: 0, clockID: 0, flags: 0)
        }
        #expect(ChunkLayout.cut(samples).count <= 500 / 16 + 1)
    }

    @Test func lookupsCoverAllSeqsAndJoinNearOnes() {
        #expect(ChunkLayout.lookups([]) == [])
        #expect(ChunkLayout.lookups([7, 5, 6]) == [5...7])
        #expect(ChunkLayout.lookups([1, 513, 1026]) == [1...513, 1026...1026])
        #expect(ChunkLayout.lookups([.max, 1]) == [1...1, .max ... .max])
    }
}
