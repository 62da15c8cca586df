import BandProfile
import GatewayModel
import Store
import Testing

@testable import Gateway

struct QuestionJudgeTests {
    private let ring = RingID(rawValue: 7)

    private func suspect(_ first: UInt32, _ last: UInt32?) -> SuspectedGap {
        SuspectedGap(ring: ring, firstSeq: first, lastSeq: last, cause: .overwritten)
    }

    private func gap(_ first: UInt32, _ last: UInt32?) -> QuestionAnswer {
        .gap(Gap(ring: ring, firstSeq: first, lastSeq: last, cause: .overwritten))
    }

    @Test func whatNoServerHasIsAGap() {
        #expect(QuestionJudge.judge(suspect(10, 20), completeThrough: nil) == [gap(10, 20)])
        #expect(QuestionJudge.judge(suspect(10, 20), completeThrough: 9) == [gap(10, 20)])
    }

    @Test func whatTheServerHasIsNoGap() {
        #expect(QuestionJudge.judge(suspect(10, 20), completeThrough: 20) == [.heldByServer(10...20)])
        #expect(QuestionJudge.judge(suspect(10, 20), completeThrough: 99) == [.heldByServer(10...20)])
    }

    @Test func whatTheServerHasInPartIsAGapForTheRest() {
        #expect(
            QuestionJudge.judge(suspect(10, 20), completeThrough: 10) == [
                .heldByServer(10...10), gap(11, 20),
            ])
    }

    @Test func anOpenEndStaysOpen() {
        #expect(QuestionJudge.judge(suspect(10, nil), completeThrough: nil) == [gap(10, nil)])
        #expect(
            QuestionJudge.judge(suspect(10, nil), completeThrough: 30) == [
                .heldByServer(10...30), gap(31, nil),
            ])
    }

    @Test func theLastSeqOfAllDoesNotOverflow() {
        #expect(
            QuestionJudge.judge(suspect(10, nil), completeThrough: .max) == [.heldByServer(10 ... .max)])
    }
}
