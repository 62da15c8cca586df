import IngestAPI
import UploadDecisions

/// What a client sends to the server, and what whoever answers sends to the gateway.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzIngest(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    switch input.below(5) {
    case 0:
        let body = input.rest()
        if let direct = ReceivedBatch.readDirectly(body) {
            require(
                (try? ReceivedBatch(judging: body)) == direct, "both readers of a batch take it as the same")
        }
        guard let batch = try? ReceivedBatch(decoding: body) else { return 0 }
        require(batch.samples.count <= 500, "a batch has at most 500 samples")
        for case .success(let sample) in batch.samples {
            require(
                (try? APIJSON.decode(APISample.self, from: APIJSON.encode(sample))) == sample,
                "a sample comes back as it was")
        }
    case 1:
        guard let list = try? APIJSON.decode(GapList.self, from: input.rest()) else { return 0 }
        for gap in list.gaps { _ = gap.fault }
        require(
            (try? APIJSON.decode(GapList.self, from: APIJSON.encode(list))) == list,
            "gaps come back as they were")
    case 2:
        guard let time = APITime(String(decoding: input.rest(), as: UTF8.self)) else { return 0 }
        require(APITime("\(time)") == time, "a time comes back as it was")
        _ = (time.day, time.dayNumber)
    case 3:
        let status = [200, 400, 401, 403, 404, 413, 415, 429, 500, 301][input.below(10)]
        let retryAfter = String(decoding: input.take(input.below(40)), as: UTF8.self)
        let answer = AttemptOutcome.Answer(status: status, body: input.rest(), retryAfter: retryAfter)
        judge(answer)
    default:
        _ = try? APIJSON.decode(DeviceState.self, from: input.rest())
    }
    return 0
}

/// Each sample of a batch ends in exactly one list, whatever the answer says.
private func judge(_ answer: AttemptOutcome.Answer) {
    let samples = [("heart_rate", UInt32(1)), ("steps", 2), ("heart_rate", 3)].map {
        SentBatch.Sample(type: $0.0, seq: $0.1)
    }
    let batch = SentBatch(syncID: "id", samples: samples)
    let decision = StatusTable.decide(.answered(answer), batch: batch, wallTime: .earliest)
    guard case .settle(let verdict) = decision else { return }
    let indices = verdict.confirmed + verdict.rejected.map(\.index) + verdict.held + verdict.unconfirmed
    require(indices.sorted() == [0, 1, 2], "each sample has one fate")
}
