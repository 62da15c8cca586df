import IngestAPI

/// How the samples of a ring are cut into chunks: small enough to be rewritten for a correction, large enough that
/// what a database adds to each row does not count.
///
/// Chunks of a ring never overlap in seqs.
public enum ChunkLayout {
    /// A batch goes into the chunk before it while that has fewer.
    public static let enoughSamples = 256
    public static let mostSamples = 512
    /// Seqs further apart than this are not looked up together, and not put together.
    public static let nearSeqs: UInt32 = 512
    /// A chunk is read when any instant of it is asked for, so it does not reach over longer silences.
    static let longestSilence: Int64 = 86_400_000
    /// Below this many samples a chunk reaches over anything: hostile times must not make a row of each sample.
    static let fewestSamples = 16

    /// The seqs of a batch as ranges to look up, in order.
    public static func lookups(_ seqs: [UInt32]) -> [ClosedRange<UInt32>] {
        var ranges: [ClosedRange<UInt32>] = []
        for seq in seqs.sorted() {
            if let last = ranges.last, seq - last.upperBound <= nearSeqs {
                ranges[ranges.count - 1] = last.lowerBound...seq
            } else {
                ranges.append(seq...seq)
            }
        }
        return ranges
    }

    /// Cuts samples into chunks, in the order of seqs. Samples of one seq stay together.
    public static func cut(_ samples: [APISample]) -> [[APISample]] {
        let samples = samples.sorted { ($0.seq, $0.type.code) < ($1.seq, $1.type.code) }
        var chunks: [[APISample]] = []
        for part in parts(samples) {
            let pieces = (part.count + mostSamples - 1) / mostSamples
            let size = (part.count + pieces - 1) / pieces
            var begin = part.startIndex
            while begin < part.endIndex {
                var end = min(begin + size, part.endIndex)
                while end < part.endIndex, samples[end].seq == samples[end - 1].seq { end += 1 }
                chunks.append(Array(samples[begin..<end]))
                begin = end
            }
        }
        return chunks
    }

    /// Where seqs or times jump.
    private static func parts(_ samples: [APISample]) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        var begin = 0
        for index in samples.indices.dropFirst() {
            let (last, next) = (samples[index - 1], samples[index])
            let silence = next.recordedAt.milliseconds - last.recordedAt.milliseconds
            let isFar = next.seq - last.seq > nearSeqs || abs(silence) > longestSilence
            guard isFar, last.seq != next.seq, index - begin >= fewestSamples else { continue }
            parts.append(begin..<index)
            begin = index
        }
        if begin < samples.count { parts.append(begin..<samples.count) }
        return parts
    }
}
