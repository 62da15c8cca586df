import Testing

@testable import IngestAPI

private let head = #""device_id":"band_F0F1F2F3F4F5","ring":"b5e5d00d","sync_id":"0b0f3a1e-0001""#
private let sample =
    #"{"type":"heart_rate","seq":7,"value":72,"recorded_at":"2026-10-27T05:31:00.000Z","band_time_ms":1,"clock_id":3,"flags":1}"#

private func batch(_ samples: String..., count: Int? = nil, more: String = "") -> String {
    "{\(head),\"sample_count\":\(count ?? samples.count)\(more),\"samples\":[\(samples.joined(separator: ","))]}"
}

/// With one field written otherwise.
private func sample(_ field: String, _ value: String) -> String {
    let parts = sample.split(separator: ",").map { part in
        part.contains("\"\(field)\":") ? "\"\(field)\":\(value)" : String(part)
    }
    let text = parts.joined(separator: ",")
    return (text.hasPrefix("{") ? "" : "{") + text + (text.hasSuffix("}") ? "" : "}")
}

/// Two readers of one body: what the fast one takes, the other takes as the same.
private func agree(_ body: [UInt8]) -> Bool {
    guard let direct = ReceivedBatch.readDirectly(body) else { return true }
    return (try? ReceivedBatch(judging: body)) == direct
}

@Suite struct BatchReaderTests {
    static let ordinary: [String] = [
        batch(), batch(sample), batch(sample, sample),
        batch(sample, more: ",\"complete_through\":4294967295"),
        " { \(head) ,\n\t\"sample_count\" : 1 , \"samples\" : [ \(sample.replacing(",", with: " , ")) ] } \r\n",
        "{\"samples\":[\(sample)],\"sample_count\":1,\(head)}",
        batch(sample.replacing("}", with: ",\"tz_offset_min\":-1439,\"version\":9007199254740991}")),
        batch(
            sample.replacing("}", with: ",\"tz_offset_min\":null,\"person\":null,\"provenance\":\"user\"}")),
        batch(
            sample.replacing("}", with: ",\"time_bound_ms\":0,\"time_uncertain\":true,\"person\":\"a b\"}")),
        batch(sample("band_time_ms", "-999999999999999999")), batch(sample("seq", "4294967295")),
        batch(sample("recorded_at", "\"2026-10-27t11:01:00+05:30\"")), batch(sample("value", "0")),
    ]

    /// Bodies that must be read by the fast reader: a gateway's own, and the same with other spacing and order.
    @Test(arguments: ordinary)
    func whatGatewaysSendIsReadDirectly(_ body: String) throws {
        let bytes = Array(body.utf8)
        let direct = try #require(ReceivedBatch.readDirectly(bytes))
        #expect(try direct == ReceivedBatch(judging: bytes))
    }

    static let bodies2: [String] = [
        "", "{", "{}", "[]", batch(sample, count: 2), batch(sample) + "x", batch(sample) + ",",
        batch(sample, more: ",\"x\":1"),
        batch(sample, more: ",\"complete_through\":null"), batch(sample, more: ",\(head)"),
        batch("null"), batch("{}"), batch(sample + ","), batch(sample.replacing("}", with: "")),
        batch(sample.replacing("}", with: ",}")), batch(sample.replacing("}", with: ",\"seq\":7}")),
        batch(sample.replacing("}", with: ",\"new\":1}")),
        batch(sample.replacing("}", with: ",\"ring\":\"b5e5d00d\"}")),
        batch(sample("seq", "0")), batch(sample("seq", "4294967296")), batch(sample("seq", "7.0")),
        batch(sample("seq", "7e0")), batch(sample("seq", "07")), batch(sample("seq", "-7")),
        batch(sample("seq", "+7")),
        batch(sample("seq", "")), batch(sample("seq", "\"7\"")), batch(sample("value", "-0")),
        batch(sample("value", "301")), batch(sample("value", "1000000000000000000000")),
        batch(sample("flags", "256")), batch(sample("clock_id", "65536")),
        batch(sample("type", "\"steps2\"")),
        batch(sample("type", "\"st\\u0065ps\"")),
        batch(sample("recorded_at", "\"2026-02-29T05:31:00.000Z\"")),
        batch(sample("recorded_at", "\"now\"")),
        batch(sample.replacing("}", with: ",\"tz_offset_min\":1440}")),
        batch(sample.replacing("}", with: ",\"version\":0}")),
        batch(sample.replacing("}", with: ",\"version\":null}")),
        batch(sample.replacing("}", with: ",\"person\":\"\"}")),
        batch(sample.replacing("}", with: ",\"person\":\"é\"}")),
        batch(sample.replacing("}", with: ",\"person\":\"a\u{7f}\"}")),
        batch(sample.replacing("}", with: ",\"time_uncertain\":null}")),
        batch(sample).replacing("b5e5d00d", with: "B5E5D00D"),
        batch(sample).replacing("band_F0F1F2F3F4F5", with: "a/b"),
        batch(sample).replacing("0b0f3a1e-0001", with: ""),
    ]

    /// Bodies that are left to the other reader, whether it takes them or not.
    @Test(arguments: bodies2)
    func theUnusualIsLeftToTheDecoder(_ body: String) {
        #expect(ReceivedBatch.readDirectly(Array(body.utf8)) == nil)
    }

    @Test func moreThan500SamplesAreLeftToTheDecoder() {
        func of(_ count: Int) -> [UInt8] {
            Array(
                "{\(head),\"sample_count\":\(count),\"samples\":[\(Array(repeating: sample, count: count).joined(separator: ","))]}"
                    .utf8)
        }
        #expect(ReceivedBatch.readDirectly(of(500))?.samples.count == 500)
        #expect(ReceivedBatch.readDirectly(of(501)) == nil)
    }

    @Test func everyStrictPrefixIsLeftToTheDecoder() {
        let body = Array(batch(sample, sample, more: ",\"complete_through\":7").utf8)
        for length in 0..<body.count { #expect(ReceivedBatch.readDirectly(Array(body[..<length])) == nil) }
    }

    @Test(arguments: 0..<60)
    func bothReadersTakeRandomBatchesAsTheSame(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let count = Int.random(in: 0...40, using: &random)
        let batch = SampleBatch(
            deviceID: "band_F0F1F2F3F4F5", ring: "b5e5d00d", syncID: "id \(seed)",
            completeThrough: Bool.random(using: &random) ? .random(in: 0...(.max), using: &random) : nil,
            samples: (0..<count).map { _ in .random(using: &random) })
        let body = try APIJSON.encode(batch)
        let direct = try #require(ReceivedBatch.readDirectly(body), "seed \(seed)")
        #expect(direct.samples == batch.samples.map { .success($0) }, "seed \(seed)")
        #expect(try direct == ReceivedBatch(judging: body), "seed \(seed)")
        // Most mutations are unusual; none may be read as something else.
        for _ in 0..<60 {
            let mutated = mutate(body, using: &random)
            #expect(agree(mutated), "seed \(seed): \(String(decoding: mutated, as: UTF8.self))")
        }
    }

    private func mutate(_ body: [UInt8], using random: inout SeededRandom) -> [UInt8] {
        var bytes = body
        for _ in 0..<Int.random(in: 1...3, using: &random) where !bytes.isEmpty {
            let at = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes[at] = .random(in: 0...255, using: &random)
            case 1: bytes.remove(at: at)
            case 2: bytes.insert(bytes[at], at: at)
            // What is likely to be read: another digit, another separator, another member.
            case 3: bytes[at] = Array("0123456789,:{}[]\"-+. \n".utf8).randomElement(using: &random) ?? 0
            default:
                let end = min(bytes.count, at + Int.random(in: 1...40, using: &random))
                bytes.insert(contentsOf: bytes[at..<end], at: Int.random(in: 0...bytes.count, using: &random))
            }
        }
        return bytes
    }
}

extension APISample {
    fileprivate static func random(using random: inout SeededRandom) -> APISample {
        let type = APISampleType.allCases.randomElement(using: &random) ?? .steps
        func one<Value>(_ values: Value...) -> Value { values.randomElement(using: &random) ?? values[0] }
        return APISample(
            type: type, seq: .random(in: 1...(.max), using: &random),
            value: .random(in: type.validValues, using: &random),
            recordedAt: APITime(
                milliseconds: one(
                    .random(in: APITime.earliest.milliseconds...APITime.latest.milliseconds, using: &random),
                    .random(in: 1_700_000_000_000...1_800_000_000_000, using: &random))),
            tzOffsetMinutes: one(nil, .random(in: validOffsets, using: &random)),
            version: one(1, .random(in: validVersions, using: &random)),
            provenance: one(.device, .user, .unknown),
            bandTimeMilliseconds: .random(
                in: -999_999_999_999_999_999...999_999_999_999_999_999, using: &random),
            clockID: .random(in: 0...(.max), using: &random), flags: .random(in: 0...(.max), using: &random),
            timeBoundMilliseconds: one(nil, .random(in: validTimeBounds, using: &random)),
            timeUncertain: one(true, false),
            person: one(
                .unchanged, .cleared, .assigned("person"),
                .assigned(OpaqueID("p \(UInt8.random(in: 0...9, using: &random))"))))
    }
}
