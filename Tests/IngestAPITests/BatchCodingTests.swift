import Testing

@testable import IngestAPI

private func code(_ text: String) -> APIErrorCode? {
    do {
        _ = try ReceivedBatch(decoding: Array(text.utf8))
        return nil
    } catch {
        return error.code
    }
}

private let head = #""device_id": "d", "ring": "0000000a", "sync_id": "s""#

private let notBatches: [String] = [
    "", "{", "null", "[]", "1", "\"\"", "{}", "not json", "{\(head)}", "{\(head), \"sample_count\": 0}",
    "{\(head), \"sample_count\": 1, \"samples\": []}", "{\(head), \"sample_count\": -1, \"samples\": []}",
    "{\(head), \"sample_count\": 0, \"samples\": [{}]}",
    "{\(head), \"sample_count\": \"0\", \"samples\": []}",
    "{\(head), \"sample_count\": 0, \"samples\": {}}",
    "{\(head), \"sample_count\": 0, \"samples\": null}",
    "{\(head), \"sample_count\": 0, \"samples\": [], \"complete_through\": -1}",
    "{\(head), \"sample_count\": 0, \"samples\": [], \"complete_through\": 4294967296}",
    "{\(head), \"sample_count\": 0, \"samples\": []} x",
    "{\(head), \"sample_count\": 0, \"samples\": [],,}",
    #"{"device_id": "a b", "ring": "0000000a", "sync_id": "s", "sample_count": 0, "samples": []}"#,
    #"{"device_id": "", "ring": "0000000a", "sync_id": "s", "sample_count": 0, "samples": []}"#,
    #"{"device_id": "d", "ring": "0000000A", "sync_id": "s", "sample_count": 0, "samples": []}"#,
    #"{"device_id": "d", "ring": "a", "sync_id": "s", "sample_count": 0, "samples": []}"#,
    #"{"device_id": "d", "ring": "0000000a", "sync_id": "", "sample_count": 0, "samples": []}"#,
    #"{"device_id": "d", "ring": "0000000a", "sample_count": 0, "samples": []}"#,
]

@Suite struct BatchCodingTests {
    @Test(arguments: notBatches)
    func aBatchThatIsNotOneIsMalformed(_ text: String) {
        #expect(code(text) == .malformed)
    }

    @Test func anEmptyBatchAndUnknownFieldsAreTaken() {
        #expect(code("{\(head), \"sample_count\": 0, \"samples\": [], \"extra\": {\"a\": [1, null]}}") == nil)
        #expect(code("{\(head), \"sample_count\": 0, \"samples\": [], \"complete_through\": null}") == nil)
    }

    @Test func moreThan500SamplesAreTooLarge() {
        func batch(_ count: Int) -> String {
            "{\(head), \"sample_count\": \(count), \"samples\": [\((0..<count).map { _ in "{}" }.joined(separator: ","))]}"
        }
        #expect(code(batch(500)) == nil)
        #expect(code(batch(501)) == .batchTooLarge)
    }

    @Test func moreThanOneMebibyteIsTooLarge() {
        let body = "{\(head), \"sample_count\": 0, \"samples\": []}"
        let padding = String(repeating: " ", count: IngestAPI.maxBatchBytes - body.utf8.count)
        #expect(code(body + padding) == nil)
        #expect(code(body + padding + " ") == .batchTooLarge)
    }

    @Test(arguments: ["[", "{\"a\":", "[{\"samples\":", "\"", "\\", "1", "-", "{\"a\":1,", "\u{0}"])
    func aMebibyteOfNonsenseIsMalformed(_ piece: String) {
        let count = IngestAPI.maxBatchBytes / piece.utf8.count
        #expect(code(String(repeating: piece, count: count)) == .malformed)
    }

    @Test func deepNestingInsideAFieldNeverCrashes() {
        let depth = 200_000
        let nest = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        #expect(code("{\(head), \"sample_count\": 0, \"samples\": [], \"x\": \(nest)}") != .serverError)
        #expect(code("{\(head), \"sample_count\": 1, \"samples\": [\(nest)]}") != .serverError)
    }

    @Test func repeatedKeysNeverCrash() {
        _ = code(
            "{\(head), \(head), \"sample_count\": 0, \"sample_count\": 1, \"samples\": [], \"samples\": [{}]}"
        )
        let many = (0..<20_000).map { _ in "\"a\":1" }.joined(separator: ",")
        #expect(code("{\(many)}") == .malformed)
    }

    @Test(
        arguments: [[0xff, 0xfe], [0x7b, 0xff, 0x7d], [0xef, 0xbb, 0xbf], [0x22, 0xed, 0xa0, 0x80, 0x22]]
            as [[UInt8]])
    func bytesThatAreNotUTF8AreMalformed(_ bytes: [UInt8]) {
        #expect(throws: APIFailure.self) { try ReceivedBatch(decoding: bytes) }
    }

    @Test func mutatedBatchesAreReadOrRefused() {
        let sample =
            #"{"type":"steps","seq":5,"value":14,"recorded_at":"2026-10-27T05:31:00.000Z","tz_offset_min":null,"band_time_ms":1,"clock_id":3,"flags":1,"person":"\u00e9"}"#
        let whole = Array("{\(head),\"sample_count\":1,\"samples\":[\(sample)]}".utf8)
        for length in 0..<whole.count {
            #expect(throws: APIFailure.self) { try ReceivedBatch(decoding: Array(whole[..<length])) }
        }
        for seed in 0..<3000 {
            var random = SeededRandom(seed: UInt64(seed))
            var bytes = whole
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let at = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[at] = .random(in: 0...255, using: &random)
                case 1: bytes.remove(at: at)
                default:
                    bytes.insert(
                        contentsOf: Array("-9e999".utf8).prefix(Int.random(in: 1...6, using: &random)), at: at
                    )
                }
            }
            // Either outcome is fine; a trap is not.
            _ = try? ReceivedBatch(decoding: bytes)
        }
    }
}
