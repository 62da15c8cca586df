import IngestAPI
import SampleChunks
import Testing

struct ExpiredKeysTests {
    @Test func keysAreThoseOfASet() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = Seeded(seed)
        for _ in 0..<100 {
            var model: Set<UInt64> = []
            var keys = ExpiredKeys()
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                let samples = (0..<Int.random(in: 0...60, using: &random)).map { _ in
                    APISample.random(seq: UInt32.random(in: 1...200, using: &random), using: &random)
                }
                model.formUnion(samples.map(\.chunkKey))
                keys.formUnion(ExpiredKeys(of: samples))
            }
            let read = try ExpiredKeys(bytes: keys.bytes)
            #expect(read == keys, "seed \(seed)")
            #expect(read.count == model.count, "seed \(seed)")
            #expect(read.isEmpty == model.isEmpty)
            for type in APISampleType.allCases {
                for seq in UInt32(0)...201 {
                    let key = UInt64(type.code) << 32 | UInt64(seq)
                    #expect(read.contains(type, seq) == model.contains(key), "seed \(seed)")
                }
            }
            #expect(read.span?.lowerBound == model.map { UInt32($0 & 0xffff_ffff) }.min())
            #expect(read.span?.upperBound == model.map { UInt32($0 & 0xffff_ffff) }.max())
        }
    }

    @Test func theLastSeqHasItsPlace() throws {
        var keys = ExpiredKeys(of: [sample(.max), sample(.max - 1)])
        keys.formUnion(ExpiredKeys(of: [sample(1)]))
        let read = try ExpiredKeys(bytes: keys.bytes)
        #expect(read.span == 1...(.max))
        #expect(read.contains(.steps, .max))
        #expect(!read.contains(.steps, 2))
    }

    private func sample(_ seq: UInt32) -> APISample {
        APISample(
            type: .steps, seq: seq, value: 1, recordedAt: APITime(milliseconds: 0), tzOffsetMinutes: nil,
            bandTimeMilliseconds: 0, clockID: 0, flags: 0)
    }
}
