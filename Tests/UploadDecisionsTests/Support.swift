import IngestAPI

@testable import UploadDecisions

/// SplitMix64: small, seeded, good enough for tests.
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }
}

let wallTime = APITime(milliseconds: 1_793_079_060_000)

/// A batch of heart rates with consecutive seqs from 1.
func batch(_ count: Int, compressed: Bool = true) -> SentBatch {
    SentBatch(
        syncID: "id-1", samples: (1...UInt32(count)).map { .init(type: "heart_rate", seq: $0) },
        isCompressed: compressed)
}

func answered(_ status: Int, _ body: String = "", retryAfter: String? = nil) -> AttemptOutcome {
    .answered(.init(status: status, body: Array(body.utf8), retryAfter: retryAfter))
}

func errorBody(_ code: String) -> String { #"{"error":{"code":"\#(code)","message":"why"}}"# }

/// An answer that takes everything of `batch(count)`.
func success(_ count: Int) -> String {
    #"{"sync_id":"id-1","accepted":\#(count),"duplicates":0,"corrected":0,"conflicts":[],"rejected":[],"#
        + #""ack_seq":{"heart_rate":\#(count)}}"#
}
