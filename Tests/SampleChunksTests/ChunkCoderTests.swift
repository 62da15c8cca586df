import IngestAPI
import SampleChunks
import Testing

struct ChunkCoderTests {
    @Test func whatIsEncodedIsDecoded() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = Seeded(seed)
        for _ in 0..<200 {
            let count = Int.random(in: 0...80, using: &random)
            let start = UInt32.random(in: 1...(.max - 100), using: &random)
            let samples = (0..<count).map { APISample.random(seq: start + UInt32($0), using: &random) }
            let decoded = try ChunkCoder.decode(ChunkCoder.encode(samples.shuffled(using: &random)))
            #expect(decoded == samples.sorted { $0.chunkKey < $1.chunkKey }, "seed \(seed)")
        }
    }

    /// "é" as one scalar and as two: a database would tell them apart.
    @Test func personsThatReadTheSameStayTwo() throws {
        var random = Seeded(1)
        var samples = (1...4).map { APISample.random(seq: $0, using: &random) }
        for index in samples.indices {
            samples[index].person = .assigned(index % 2 == 0 ? "\u{e9}" : "e\u{301}")
        }
        let decoded = try ChunkCoder.decode(ChunkCoder.encode(samples))
        let bytes = decoded.map { sample -> Int in
            if case .assigned(let person) = sample.person { person.text.utf8.count } else { 0 }
        }
        #expect(bytes.sorted() == [2, 2, 3, 3])
        #expect(Set(decoded) == Set(samples))
    }

    @Test func damageIsAnErrorAndNeverATrap() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = Seeded(seed)
        let samples = (1...40).map { APISample.random(seq: $0, using: &random) }
        let whole = ChunkCoder.encode(samples)
        for length in 0..<whole.count {
            #expect(throws: DamagedChunk.self, "seed \(seed)") {
                try ChunkCoder.decode(Array(whole.prefix(length)))
            }
        }
        #expect(throws: DamagedChunk.self) { try ChunkCoder.decode(whole + [0]) }
        for _ in 0..<5_000 {
            var bytes = whole
            for _ in 0...Int.random(in: 0..<4, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(
                    in: 0...255, using: &random)
            }
            _ = try? ChunkCoder.decode(bytes)
            _ = try? ExpiredKeys(bytes: bytes)
        }
    }

    /// A minute of heart rates for five hours, as most bands record it: what a sample may take at most.
    @Test func ordinarySamplesAreSmall() {
        var random = Seeded(1)
        var samples: [APISample] = []
        for minute in 0..<300 {
            let time = 1_790_000_000_000 + Int64(minute) * 60_000
            samples.append(
                APISample(
                    type: .heartRate, seq: UInt32(minute + 1),
                    value: 60 + Int.random(in: 0...20, using: &random),
                    recordedAt: APITime(milliseconds: time + 1234 + Int64(minute / 7)), tzOffsetMinutes: 330,
                    provenance: .device, bandTimeMilliseconds: time, clockID: 1, flags: 1,
                    timeBoundMilliseconds: 40 + minute / 3))
        }
        #expect(ChunkCoder.encode(samples).count < 300 * 5)
    }
}
