import Testing

@testable import IngestAPI

/// The sample of the contract's example, as JSON fields that a test may replace or remove.
private func sampleJSON(_ changes: [String: String?] = [:]) -> String {
    var fields = [
        "type": "\"heart_rate\"", "seq": "120443", "value": "72",
        "recorded_at": "\"2026-10-27T05:31:00.000Z\"",
        "tz_offset_min": "330", "version": "1", "provenance": "\"device\"", "band_time_ms": "1793079060000",
        "clock_id": "3", "flags": "1",
    ]
    for (name, value) in changes { fields[name] = value }
    return "{" + fields.map { "\"\($0)\": \($1)" }.joined(separator: ", ") + "}"
}

private func batchJSON(_ samples: [String], count: String? = nil, more: String = "") -> [UInt8] {
    Array(
        """
        {"device_id": "band_F0F1F2F3F4F5", "ring": "b5e5d00d", "sync_id": "s-1",
         "sample_count": \(count ?? String(samples.count)), \(more)
         "samples": [\(samples.joined(separator: ","))]}
        """.utf8)
}

@Suite struct SampleCodingTests {
    @Test func theExampleIsRead() throws {
        let batch = try ReceivedBatch(
            decoding: batchJSON([sampleJSON()], more: "\"complete_through\": 120444,"))
        #expect(batch.deviceID == "band_F0F1F2F3F4F5")
        #expect(batch.ring == "b5e5d00d")
        #expect(batch.completeThrough == 120_444)
        let expected = APISample(
            type: .heartRate, seq: 120_443, value: 72, recordedAt: APITime(milliseconds: 1_793_079_060_000),
            tzOffsetMinutes: 330, version: 1, provenance: .device, bandTimeMilliseconds: 1_793_079_060_000,
            clockID: 3, flags: 1)
        #expect(batch.samples == [.success(expected)])
    }

    @Test func absentFieldsHaveTheirDefaults() throws {
        let json = sampleJSON([
            "version": nil as String?, "provenance": nil as String?, "tz_offset_min": "null",
        ])
        let sample = try ReceivedBatch(decoding: batchJSON([json])).samples[0].get()
        #expect(sample.version == 1)
        #expect(sample.provenance == .unknown)
        #expect(sample.tzOffsetMinutes == nil)
        #expect(sample.timeBoundMilliseconds == nil)
        #expect(!sample.timeUncertain)
        #expect(sample.person == .unchanged)
    }

    @Test func personHasThreeStates() throws {
        let absent = sampleJSON()
        let cleared = sampleJSON(["person": "null"])
        let assigned = sampleJSON(["person": "\"p 1\""])
        let samples = try ReceivedBatch(decoding: batchJSON([absent, cleared, assigned])).samples.map {
            try $0.get()
        }
        #expect(samples.map(\.person) == [.unchanged, .cleared, .assigned("p 1")])
    }

    @Test(arguments: [
        (["type": "\"skin_temperature\""], RejectionCode.unknownType),
        (["value": "301"], .valueOutOfRange),
        (["value": "-1"], .valueOutOfRange),
        (["type": "\"spo2\"", "value": "1001"], .valueOutOfRange),
        (["type": "\"sleep_stage\"", "value": "5"], .valueOutOfRange),
        (["type": "\"steps\"", "value": "32768"], .valueOutOfRange),
        (["recorded_at": "\"yesterday\""], .badTime),
        (["recorded_at": "\"2026-02-30T00:00:00Z\""], .badTime),
        (["recorded_at": "5"], .badField),
        (["recorded_at": "null"], .badField),
        (["type": "1"], .badField),
        (["seq": "0"], .badField),
        (["seq": "4294967296"], .badField),
        (["seq": "-1"], .badField),
        (["seq": "\"7\""], .badField),
        (["seq": "1.5"], .badField),
        (["value": "72.5"], .badField),
        (["value": "1e400"], .badField),
        (["value": "99999999999999999999999999"], .badField),
        (["value": "\"72\""], .badField),
        (["value": "true"], .badField),
        (["value": "[[]]"], .badField),
        (["value": "null"], .badField),
        (["tz_offset_min": "1440"], .badField),
        (["tz_offset_min": "\"+05:30\""], .badField),
        (["version": "0"], .badField),
        (["version": "9007199254740992"], .badField),
        (["version": "9223372036854775808"], .badField),
        (["provenance": "\"guess\""], .badField),
        (["band_time_ms": "9223372036854775808"], .badField),
        (["clock_id": "65536"], .badField),
        (["flags": "256"], .badField),
        (["flags": "-1"], .badField),
        (["time_bound_ms": "-1"], .badField), (["time_bound_ms": "9007199254740992"], .badField),
        (["time_uncertain": "1"], .badField),
        (["person": "\"\""], .badField),
        (["person": "7"], .badField),
    ])
    func aBadFieldRejectsItsSampleOnly(_ changes: [String: String], _ code: RejectionCode) throws {
        let good = sampleJSON(["seq": "9"])
        let batch = try ReceivedBatch(
            decoding: batchJSON([good, sampleJSON(changes.mapValues { $0 }), good]))
        #expect(throws: Never.self) { try batch.samples[0].get() }
        #expect(throws: Never.self) { try batch.samples[2].get() }
        guard case .failure(let rejection) = batch.samples[1] else {
            Issue.record("taken: \(changes)")
            return
        }
        #expect(rejection.code == code)
        #expect(rejection.seq == (changes["seq"] == nil ? 120_443 : nil))
    }

    @Test(arguments: ["type", "seq", "value", "recorded_at", "band_time_ms", "clock_id", "flags"])
    func aMissingFieldRejectsItsSampleOnly(_ name: String) throws {
        let batch = try ReceivedBatch(
            decoding: batchJSON([sampleJSON([name: nil as String?]), sampleJSON()]))
        guard case .failure(let rejection) = batch.samples[0] else {
            Issue.record("taken without \(name)")
            return
        }
        #expect(rejection.code == .badField)
        #expect(rejection.message.contains(name))
    }

    @Test(arguments: ["null", "1", "\"x\"", "[]", "{}", "true"])
    func anElementThatIsNoSampleIsRejected(_ element: String) throws {
        let batch = try ReceivedBatch(decoding: batchJSON([element, sampleJSON()]))
        #expect(throws: SampleRejection.self) { try batch.samples[0].get() }
        #expect(throws: Never.self) { try batch.samples[1].get() }
    }

    @Test func noMessageRepeatsAValue() throws {
        let secret = "4711"
        for name in [
            "value", "seq", "type", "recorded_at", "person", "flags", "tz_offset_min", "time_bound_ms",
        ] {
            for spelling in ["\"\(secret)\"", "-\(secret)", "[\(secret)]"] {
                let batch = try ReceivedBatch(decoding: batchJSON([sampleJSON([name: spelling])]))
                if case .failure(let rejection) = batch.samples[0] {
                    #expect(!rejection.message.contains(secret))
                }
            }
        }
    }

    @Test(arguments: [0, 1, 7, 500]) func whatIsWrittenIsReadBack(_ count: Int) throws {
        var random = SeededRandom(seed: UInt64(count))
        let samples = (0..<count).map { _ in randomSample(&random) }
        let batch = SampleBatch(
            deviceID: "d", ring: "00000001", syncID: "ü/\"\\\n".replacing("\n", with: ""), completeThrough: 3,
            samples: samples)
        let bytes = try APIJSON.encode(batch)
        let read = try ReceivedBatch(decoding: bytes)
        #expect(read.samples == samples.map { .success($0) })
        #expect(read.syncID == batch.syncID)
        #expect(read.completeThrough == 3)
    }

    @Test func anUnknownOffsetIsWrittenAsNull() throws {
        var random = SeededRandom(seed: 1)
        var sample = randomSample(&random)
        sample.tzOffsetMinutes = nil
        #expect(
            String(decoding: try APIJSON.encode(sample), as: UTF8.self).contains("\"tz_offset_min\":null"))
    }
}

private func randomSample(_ random: inout SeededRandom) -> APISample {
    let type = APISampleType.allCases.randomElement(using: &random) ?? .steps
    return APISample(
        type: type, seq: .random(in: 1...UInt32.max, using: &random),
        value: .random(in: type.validValues, using: &random),
        recordedAt: APITime(milliseconds: .random(in: 0...4_000_000_000_000, using: &random)),
        tzOffsetMinutes: Bool.random(using: &random) ? .random(in: -840...840, using: &random) : nil,
        version: .random(in: 1...5, using: &random),
        provenance: APIProvenance.allCases.randomElement(using: &random) ?? .user,
        bandTimeMilliseconds: .random(in: Int64.min...Int64.max, using: &random),
        clockID: .random(in: 0...UInt16.max, using: &random), flags: .random(in: 0...255, using: &random),
        timeBoundMilliseconds: Bool.random(using: &random) ? .random(in: 0...90_000, using: &random) : nil,
        timeUncertain: Bool.random(using: &random),
        person: [.unchanged, .cleared, .assigned("p")].randomElement(using: &random) ?? .cleared)
}
