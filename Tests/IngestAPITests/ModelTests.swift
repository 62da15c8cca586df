import BandProfile
import Testing

@testable import IngestAPI

private func text(_ value: some Encodable) throws -> String {
    String(decoding: try APIJSON.encode(value), as: UTF8.self)
}

@Suite struct ModelTests {
    @Test(arguments: ["a", "band_F0F1F2F3F4F5", "A.b-c_9", String(repeating: "x", count: 64)])
    func deviceIDsAreTaken(_ id: String) { #expect(IngestAPI.isDeviceID(id)) }

    @Test(arguments: ["", "a b", "ä", "a/b", "a\n", String(repeating: "x", count: 65), "a:b"])
    func otherDeviceIDsAreRefused(_ id: String) { #expect(!IngestAPI.isDeviceID(id)) }

    @Test(arguments: ["b5e5d00d", "00000001", "ffffffff"])
    func ringsAreTaken(_ ring: String) { #expect(IngestAPI.isRing(ring)) }

    @Test(arguments: ["", "B5E5D00D", "b5e5d00", "b5e5d00d0", "b5e5d00g", "0xb5e5d0", "٠٠٠٠"])
    func otherRingsAreRefused(_ ring: String) { #expect(!IngestAPI.isRing(ring)) }

    /// What the gateway takes for a sample the server takes too: else a good sample would be rejected for good.
    @Test func theServerTakesEveryValueThatABandMayRecord() {
        for type in SampleType.allCases {
            let known = APISampleType(rawValue: type.name)
            #expect(known?.validValues == type.validValues)
        }
        #expect(APISampleType.allCases.count == SampleType.allCases.count)
    }

    /// The field is named, and its place in a list; its value is not.
    @Test func aNumberThatCantBeTakenIsNamed() {
        func failure<Value: Decodable>(_: Value.Type, _ text: String) -> String? {
            do throws(APIFailure) {
                _ = try APIJSON.decode(Value.self, from: Array(text.utf8))
                return nil
            } catch {
                return error.message
            }
        }
        let why = "is out of range, or not a whole number"
        let gap = #"{"ring":"b5e5d00d","first_seq":1,"cause":"overwritten"}"#
        for number in ["4294967296", "-1", "1.5", "1e30", "99999999999999999999"] {
            let first =
                #"{"gaps":[\#(gap),{"ring":"b5e5d00d","first_seq":\#(number),"cause":"overwritten"}]}"#
            #expect(failure(GapList.self, first) == "gaps.1.first_seq \(why)")
            let last = #"{"gaps":[{"last_seq":\#(number),\#(gap.dropFirst())]}"#
            #expect(failure(GapList.self, last) == "gaps.0.last_seq \(why)")
            #expect(failure(DeviceReport.self, #"{"newest_seq":\#(number)}"#) == "newest_seq \(why)")
            let batch = #""device_id":"d","ring":"b5e5d00d","sync_id":"s","samples":[]"#
            #expect(
                failure(ReceivedBatch.self, #"{\#(batch),"sample_count":0,"complete_through":\#(number)}"#)
                    == "complete_through \(why)")
        }
        for number in ["0.5", "1e30", "1e400", "99999999999999999999"] {
            #expect(failure(DeviceReport.self, #"{"unsent":\#(number)}"#) == "unsent \(why)")
            #expect(
                failure(DeviceReport.self, #"{"battery_percent":\#(number)}"#) == "battery_percent \(why)")
            #expect(failure(LeaseRequest.self, #"{"gateway_id":"g","ttl_s":\#(number)}"#) == "ttl_s \(why)")
            let batch = #""device_id":"d","ring":"b5e5d00d","sync_id":"s","samples":[]"#
            #expect(
                failure(ReceivedBatch.self, #"{\#(batch),"sample_count":\#(number)}"#)
                    == "sample_count \(why)")
        }
        #expect(failure(LeaseRequest.self, #"{"gateway_id":"g","ttl_s":"9"}"#) == "ttl_s has the wrong type")
        #expect(failure(LeaseRequest.self, #"{"gateway_id":"g"}"#) == "ttl_s is missing")
        #expect(failure(LeaseRequest.self, #"{"gateway_id":"g","ttl_s":null}"#)?.hasPrefix("ttl_s ") == true)
        #expect(failure(GapList.self, #"{"gaps":[\#(gap)"#) == "the body is not JSON")
        #expect(failure(DeviceReport.self, #"{"unsent":null,"newest_seq":4294967295}"#) == nil)
    }

    @Test func theAnswerOfTheContractIsRead() throws {
        let answer: BatchAnswer = try APIJSON.decode(
            from: Array(
                """
                { "sync_id": "0b", "accepted": 498, "duplicates": 2, "corrected": 0, "conflicts": [], "rejected": [],
                  "ack_seq": { "heart_rate": 120941, "steps": 120930, "new_type": 1 }, "later_field": 1 }
                """.utf8))
        #expect(answer.total == 500)
        #expect(answer.ackSeq == ["heart_rate": 120_941, "steps": 120_930, "new_type": 1])
    }

    @Test func countsThatCannotBeAreNoTotal() {
        #expect(BatchAnswer(syncID: "s", accepted: .max, duplicates: 1).total == nil)
        #expect(BatchAnswer(syncID: "s", accepted: -1, duplicates: 1).total == nil)
    }

    @Test func whatIsNotKnownIsWrittenAsNull() throws {
        #expect(
            try text(
                DeviceState(
                    deviceID: "d",
                    rings: [
                        RingState(
                            ring: "0000000a", completeThrough: nil, ackSeq: [:],
                            firstSeen: APITime(milliseconds: 0))
                    ]))
                == #"{"counts":{},"device_id":"d","first_recorded_at":null,"last_recorded_at":null,"max_version":0,"#
                + #""rings":[{"ack_seq":{},"complete_through":null,"first_seen":"1970-01-01T00:00:00.000Z","ring":"0000000a"}],"status":null}"#
        )
        #expect(
            try text(APIGap(ring: "0000000a", firstSeq: 1, lastSeq: nil, cause: .lostByBand))
                == #"{"after":null,"before":null,"cause":"lost_by_band","first_seq":1,"healed_at":null,"last_seq":null,"ring":"0000000a"}"#
        )
        #expect(
            try text(DeviceReport())
                == #"{"battery_percent":null,"firmware":null,"last_contact":null,"newest_recorded_at":null,"newest_seq":null,"unsent":null}"#
        )
        #expect(try text(SamplesPage(samples: [], nextCursor: nil)) == #"{"next_cursor":null,"samples":[]}"#)
    }

    @Test(arguments: [
        (APIGap(ring: "0000000a", firstSeq: 1, lastSeq: 1, cause: .unreadable), true),
        (APIGap(ring: "0000000a", firstSeq: 1, lastSeq: nil, cause: .unreadable), true),
        (APIGap(ring: "A", firstSeq: 1, lastSeq: nil, cause: .unreadable), false),
        (APIGap(ring: "0000000a", firstSeq: 0, lastSeq: nil, cause: .unreadable), false),
        (APIGap(ring: "0000000a", firstSeq: 5, lastSeq: 4, cause: .unreadable), false),
    ])
    func aGapIsSoundOrNot(_ gap: APIGap, _ sound: Bool) { #expect((gap.fault == nil) == sound) }

    @Test func gapCausesAreThoseOfTheContract() {
        #expect(
            APIGapCause.allCases.map(\.rawValue)
                == [
                    "overwritten", "freed_elsewhere", "reformatted", "storage_lost", "lost_by_band",
                    "unreadable",
                ])
    }

    @Test func errorCodesHaveTheirStatus() {
        let table: [APIErrorCode: Int] = [
            .malformed: 400, .authenticationFailed: 401, .forbidden: 403, .unknownDevice: 404,
            .leaseHeld: 409,
            .batchTooLarge: 413, .unsupportedEncoding: 415, .rateLimited: 429,
        ]
        for (code, status) in table { #expect(code.status == status) }
        #expect((500...599).contains(APIErrorCode.serverError.status))
    }
}
