import Foundation
import ProcessTestSupport
import Testing

@testable import Compression

@Suite struct GzipTests {
    @Test(arguments: [0, 1, 5, 1000, 65_536, 65_537, 300_000])
    func whatIsCompressedComesBack(_ count: Int) throws {
        var state: UInt32 = 1
        let bytes = (0..<count).map { _ -> UInt8 in
            state = state &* 1_664_525 &+ 1_013_904_223
            return UInt8(truncatingIfNeeded: state >> 28)
        }
        for level in [1, 6, 9] {
            let packed = try Gzip.compress(bytes, level: level)
            #expect(packed.starts(with: [0x1f, 0x8b]))
            #expect(try Gzip.decompress(packed, limit: count) == bytes)
        }
    }

    @Test func theFormatIsThatOfTheGzipProgram() throws {
        let text = Array(String(repeating: "heart_rate,72\n", count: 500).utf8)
        #expect(try run("/bin/gzip", ["-dc"], Gzip.compress(text)) == text)
        #expect(try Gzip.decompress(run("/bin/gzip", ["-c"], text), limit: text.count) == text)
    }

    @Test func everyStrictPrefixIsTruncated() throws {
        let packed = try Gzip.compress(Array("every sample or an honest gap".utf8))
        for length in 0..<packed.count {
            #expect(throws: CompressionFailure.truncated) {
                try Gzip.decompress(Array(packed[..<length]), limit: 100)
            }
        }
    }

    @Test func trailingBytesAreRefused() throws {
        let packed = try Gzip.compress([1, 2, 3])
        for tail in [[0], [0x1f], [0x1f, 0x8c, 0], Array("garbage".utf8)] as [[UInt8]] {
            #expect(throws: CompressionFailure.trailingBytes) {
                try Gzip.decompress(packed + tail, limit: 100)
            }
        }
    }

    @Test func membersInARowAreOneValue() throws {
        let packed = try Gzip.compress([1, 2]) + Gzip.compress([]) + Gzip.compress([3])
        #expect(try Gzip.decompress(packed, limit: 3) == [1, 2, 3])
        #expect(throws: CompressionFailure.tooLarge(limit: 2)) { try Gzip.decompress(packed, limit: 2) }
    }

    @Test func aDamagedStreamIsCorrupt() throws {
        let packed = try Gzip.compress(Array("every sample or an honest gap".utf8))
        // The magic number, the method, a bit of the data, the checksum, the length.
        for at in [0, 1, 2, packed.count - 8, packed.count - 1] {
            var damaged = packed
            damaged[at] ^= 0x55
            #expect(throws: CompressionFailure.self) { try Gzip.decompress(damaged, limit: 1000) }
        }
        #expect(throws: CompressionFailure.corrupt) {
            try Gzip.decompress(Array("{\"not\": \"gzip\"}".utf8), limit: 1000)
        }
    }

    @Test func theLimitIsExact() throws {
        let packed = try Gzip.compress([UInt8](repeating: 7, count: 200_000))
        #expect(try Gzip.decompress(packed, limit: 200_000).count == 200_000)
        #expect(throws: CompressionFailure.tooLarge(limit: 199_999)) {
            try Gzip.decompress(packed, limit: 199_999)
        }
    }

    @Test func aBombIsStoppedAtTheLimit() throws {
        // 64 MiB of zeros, a thousand times smaller when packed.
        let bomb = try Gzip.compress([UInt8](repeating: 0, count: 64 << 20), level: 9)
        #expect(bomb.count < 100_000)
        for _ in 0..<20 {
            #expect(throws: CompressionFailure.tooLarge(limit: 1 << 20)) {
                try Gzip.decompress(bomb, limit: 1 << 20)
            }
        }
    }

    @Test func noBytesCrashIt() {
        var state: UInt64 = 42
        for round in 0..<2000 {
            var bytes: [UInt8] = round % 2 == 0 ? [0x1f, 0x8b, 8] : []
            for _ in 0..<(round % 60) {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                bytes.append(UInt8(truncatingIfNeeded: state >> 33))
            }
            _ = try? Gzip.decompress(bytes, limit: 10_000)
        }
    }
}

private func run(_ program: String, _ arguments: [String], _ input: [UInt8]) throws -> [UInt8] {
    try ChildProcess.run(program, arguments, input: input).output
}
