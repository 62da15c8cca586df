import BandProfile
import GatewayModel
import Testing

@testable import Store

@Suite struct QuestionTests {
    let fixture: StoreFixture
    let store: Store
    let device = StoreFixture.device

    init() async throws {
        fixture = try StoreFixture()
        store = try await fixture.openWithBand()
        _ = try await store.commit(chunk(1...3), of: device, clock: reading())
    }

    @Test func noAckPassesAnOpenQuestionUntilItIsAnswered() async throws {
        let outcome = try await store.commit(
            chunk([record(11)], questions: [suspect(4, 7), suspect(8, 10, .freedElsewhere)], through: 11),
            of: device, clock: reading())
        #expect(outcome.ackThrough == 3)
        #expect(outcome.stored == 1)
        let progress = try await store.progress(of: device, info: info(11, 11))
        #expect(progress.ackThrough == 3)
        #expect(progress.nextSeq == 12)
        #expect(progress.openQuestions == [4...7, 8...10])
        let questions = try await store.openQuestions()
        #expect(questions.map(\.suspect) == [suspect(4, 7), suspect(8, 10, .freedElsewhere)])

        try await store.answer(questions[0], with: [.heldByServer(4...5), .gap(gap(6, 7, .overwritten))])
        #expect(try await store.progress(of: device, info: info(11, 11)).ackThrough == 7)
        try await store.answer(questions[1], with: [.gap(gap(8, 10, .freedElsewhere))])
        #expect(try await store.progress(of: device, info: info(11, 11)).ackThrough == 11)
        #expect(try await store.openQuestions().isEmpty)
        #expect(try fixture.gaps().map(\.firstSeq) == [6, 8])
    }

    @Test func whatAnAnswerLeavesOutStaysOpen() async throws {
        _ = try await store.commit(
            chunk([record(11)], questions: [suspect(4, 10)], through: 11), of: device, clock: reading())
        let question = try await store.openQuestions()[0]
        try await store.answer(question, with: [.heldByServer(6...7)])
        #expect(try await store.openQuestions().map(\.suspect) == [suspect(4, 5), suspect(8, 10)])
    }

    @Test func aRecordThatTurnsUpAnswersItsPart() async throws {
        _ = try await store.commit(
            chunk([record(11)], questions: [suspect(4, 10)], through: 11), of: device, clock: reading())
        let outcome = try await store.commit(chunk(4...6), of: device, clock: reading())
        #expect(outcome.ackThrough == 6)
        #expect(try await store.openQuestions().map(\.suspect) == [suspect(7, 10)])
    }

    @Test func aQuestionIsAskedOnceAndNotAboutWhatIsKnown() async throws {
        for _ in 0..<2 {
            _ = try await store.commit(
                chunk([record(11)], gaps: [gap(9, 10)], questions: [suspect(1, 8)], through: 11), of: device,
                clock: reading())
        }
        #expect(try await store.openQuestions().map(\.suspect) == [suspect(4, 8)])
    }

    @Test func anEarlierRingsEndIsAskedAboutAndHoldsNoAckOfThisRing() async throws {
        let next = RingID(rawValue: 7)
        let info = info(1, 2, ring: next, formatCount: 2)
        _ = try await store.progress(of: device, info: info)
        let outcome = try await store.commit(
            chunk(
                (1...2).map { record($0) }, questions: [suspect(4, nil, .reformatted)], through: 2, ring: next
            ),
            of: device, clock: reading())
        #expect(outcome.ackThrough == 2)
        #expect(try await store.progress(of: device, info: info).predecessors.isEmpty)
        let question = try #require(try await store.openQuestions().first)
        #expect(question.suspect == suspect(4, nil, .reformatted))
        // Another gateway brought 4 to 6; what came after is not known.
        try await store.answer(question, with: [.heldByServer(4...6), .gap(gap(7, nil, .reformatted))])
        #expect(try await store.openQuestions().isEmpty)
        #expect(try fixture.gaps().map(\.firstSeq) == [7])
        #expect(try await store.progress(of: device, info: info).predecessors.isEmpty)
    }

    @Test func theServersStateAnswersWhatItCovers() async throws {
        _ = try await store.commit(
            chunk([record(11)], questions: [suspect(4, 10)], through: 11), of: device, clock: reading())
        try await store.applyServerState(device, ring: StoreFixture.ring, completeThrough: 11, maxVersion: 1)
        #expect(try await store.openQuestions().isEmpty)
    }
}
