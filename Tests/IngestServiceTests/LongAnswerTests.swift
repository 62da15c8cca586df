import HTTPServer
import IngestAPI
import Locking
import Testing

@testable import IngestService

/// So that an expectation may change them.
private final class Turns {
    private var turns: AnswerTurns

    init(limits: AnswerTurns.Limits = .init()) { turns = AnswerTurns(limits: limits) }

    func ask(_ id: UInt64, account: String) -> AnswerTurns.Answer { turns.ask(id, account: account) }
    func leave(account: String) -> UInt64? { turns.leave(account: account) }
    func giveUp(_ id: UInt64) -> Bool { turns.giveUp(id) }
}

/// Long answers of one account: one after the other, and never in the way of others.
@Suite struct LongAnswerTests {
    // MARK: turns

    @Test func ofAnAccountOneIsAtWork() {
        let turns = Turns()
        #expect(turns.ask(1, account: "a") == .go)
        #expect(turns.ask(2, account: "a") == .wait)
        #expect(turns.ask(3, account: "a") == .wait)
        #expect(turns.ask(4, account: "b") == .go)
        #expect(turns.leave(account: "b") == nil)
        #expect(turns.leave(account: "a") == 2)
        #expect(turns.leave(account: "a") == 3)
        #expect(turns.leave(account: "a") == nil)
        #expect(turns.ask(5, account: "a") == .go)
    }

    @Test func ofAllAFewAreAtWorkInTheOrderInWhichTheyCame() {
        let turns = Turns(limits: .init(working: 2, waitingOfAccount: 4, waiting: 8))
        #expect(turns.ask(1, account: "a") == .go)
        #expect(turns.ask(2, account: "b") == .go)
        #expect(turns.ask(3, account: "a") == .wait)
        #expect(turns.ask(4, account: "c") == .wait)
        #expect(turns.ask(5, account: "d") == .wait)
        // Not a's second, while its first is at work.
        #expect(turns.leave(account: "b") == 4)
        #expect(turns.leave(account: "a") == 3)
        #expect(turns.leave(account: "c") == 5)
    }

    @Test func soManyWaitAndNoMore() {
        let turns = Turns(limits: .init(working: 1, waitingOfAccount: 2, waiting: 3))
        #expect(turns.ask(1, account: "a") == .go)
        #expect(turns.ask(2, account: "a") == .wait)
        #expect(turns.ask(3, account: "a") == .wait)
        #expect(turns.ask(4, account: "a") == .refused)
        #expect(turns.ask(5, account: "b") == .wait)
        #expect(turns.ask(6, account: "b") == .refused)
        #expect(turns.giveUp(2))
        #expect(!turns.giveUp(2))
        #expect(!turns.giveUp(1))
        #expect(turns.ask(7, account: "b") == .wait)
        #expect(turns.leave(account: "a") == 3)
    }

    /// Many may wait for moments: none of them leaves a task behind that sleeps on for as long as it would have waited.
    @Test(.timeLimit(.minutes(5))) func whoHasItsTurnSleepsNoMore() async throws {
        let (slept, woke) = AsyncStream.makeStream(of: Void.self)
        let line = AnswerLine(.init(), patience: .seconds(3600)) { duration in
            defer { woke.yield() }
            try await Task.sleep(for: duration)
        }
        let gate = Gate()
        async let first: Void = line.inTurn("a") { await gate.wait() }
        await gate.somebodyWaits()
        async let second: Void = line.inTurn("a") {}
        while line.waiting == 0 { await Task.yield() }
        gate.open()
        try await first
        try await second
        for await _ in slept { break }
        #expect(line.waiting == 0)
    }

    // MARK: answers

    @Test(.timeLimit(.minutes(5))) func oneThatWaitsTooLongIsTold() async throws {
        let answers = LongAnswers(limits: .init(patience: .milliseconds(10)))
        let gate = Gate()
        async let first = answers.list("x", account: "a") {
            await gate.wait()
            return [1]
        }
        await gate.somebodyWaits()
        await #expect(throws: LongAnswers.Overload.self) {
            _ = try await answers.list("x", account: "a") { [2] }
        }
        // Others go on beside it.
        #expect(try await answers.list("x", account: "b") { [3] }.body == Array(#"{"x":[3]}"#.utf8))
        gate.open()
        #expect(try await first.body == Array(#"{"x":[1]}"#.utf8))
        #expect(try await answers.list("x", account: "a") { [4] }.body == Array(#"{"x":[4]}"#.utf8))
    }

    @Test func whatIsBeingSentCountsUntilItIsSent() async throws {
        let answers = LongAnswers(
            limits: .init(lists: .init(waitingOfAccount: 1, bytesOfAccount: 100), listBytes: 100))
        let text = String(repeating: "a", count: 50)
        var first: ServerResponse? = try await answers.list("x", account: "a") { [text] }
        await #expect(throws: LongAnswers.Overload.self) {
            _ = try await answers.list("x", account: "a") { [text] }
        }
        #expect(try await answers.list("x", account: "b") { [text] }.status == 200)
        #expect(first?.status == 200)
        first = nil
        #expect(try await answers.list("x", account: "a") { [text] }.status == 200)
        await #expect(throws: APIFailure.batchTooLarge("there is more than fits into an answer")) {
            _ = try await answers.list("x", account: "c") { [text, text] }
        }
    }

    /// As many as there are connections could be read slowly, and leave no room for anybody else's.
    @Test func soDoPages() async throws {
        let answers = LongAnswers(limits: .init(pages: .init(waitingOfAccount: 1, bytesOfAccount: 1000)))
        func page(_ rows: Int, _ account: String) async throws -> ServerResponse {
            try await answers.page(Array(repeating: 7, count: rows), rows: rows, account: account)
        }
        var slow: [ServerResponse] = []
        for _ in 0..<4 { slow.append(try await page(100, "a")) }
        #expect(slow.map(\.body.count) == [201, 201, 201, 201])
        await #expect(throws: LongAnswers.Overload.self) { _ = try await page(100, "a") }
        // What is short, lists and other accounts have their own.
        #expect(try await page(10, "a").status == 200)
        #expect(try await answers.list("x", account: "a") { [1] }.status == 200)
        #expect(try await page(100, "b").status == 200)
        slow.removeLast()
        #expect(try await page(100, "a").status == 200)
        slow = []
        // One that is longer than that goes alone.
        let long = try await page(1000, "a")
        #expect(long.body.count == 2001)
        await #expect(throws: LongAnswers.Overload.self) { _ = try await page(100, "a") }
        withExtendedLifetime(long) {}
    }

    @Test(.timeLimit(.minutes(5))) func neitherPagesNorLedgersWaitForLists() async throws {
        let answers = LongAnswers(limits: .init(patience: .milliseconds(10)))
        let gate = Gate()
        async let first = answers.list("x", account: "a") {
            await gate.wait()
            return [1]
        }
        await gate.somebodyWaits()
        #expect(try await answers.ledger("x", account: "a") { [2] }.body == Array(#"{"x":[2]}"#.utf8))
        for rows in [1, 1000] {
            let page = try await answers.page(Array(repeating: 7, count: rows), rows: rows, account: "a")
            #expect(page.body.count == 2 * rows + 1)
        }
        gate.open()
        #expect(try await first.status == 200)
    }

    @Test func oneThatFailsLetsTheNextOn() async throws {
        let answers = LongAnswers()
        for _ in 0..<3 {
            await #expect(throws: APIFailure.malformed("m")) {
                _ = try await answers.list("x", account: "a") { () throws -> [Int] in
                    throw APIFailure.malformed("m")
                }
            }
        }
        #expect(try await answers.list("x", account: "a") { [Int]() }.body == Array(#"{"x":[]}"#.utf8))
    }

    @Test func aListIsWrittenAsAWhole() throws {
        let gaps = (1...3).map { APIGap(ring: "b5e5d00d", firstSeq: $0, lastSeq: nil, cause: .overwritten) }
        let written = try APIJSON.encodeList("gaps", gaps, limit: .max)
        #expect(try written == APIJSON.encode(GapList(gaps: gaps)))
    }
}
