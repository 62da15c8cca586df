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

    /// A client that asks again and again costs nothing while it takes none of what it asked for.
    @Test func whatIsBeingSentCountsUntilItIsSentAndNothingIsReadMeanwhile() async throws {
        let answers = LongAnswers(
            limits: .init(lists: .init(waitingOfAccount: 1, bytesOfAccount: 100), listBytes: 100))
        let text = String(repeating: "a", count: 50)
        let reads = Guarded(0)
        func list(_ account: String, _ elements: [String]) async throws -> ServerResponse {
            try await answers.list("x", account: account) {
                reads.withLock { $0 += 1 }
                return elements
            }
        }
        // The second is begun below the bytes, and is sent although it goes beyond.
        var sent = [try await list("a", [text]), try await list("a", [text])]
        #expect(sent.map(\.body.count) == [60, 60])
        for _ in 0..<3 {
            await #expect(throws: LongAnswers.Overload.self) { _ = try await list("a", [text]) }
        }
        #expect(reads.withLock { $0 } == 2)
        #expect(try await list("b", [text]).status == 200)
        sent.removeLast()
        #expect(try await list("a", [text]).status == 200)
        await #expect(throws: APIFailure.batchTooLarge("there is more than fits into an answer")) {
            _ = try await list("c", [text, text])
        }
    }

    /// As many as there are connections could be read slowly, and leave no room for anybody else's.
    @Test func soDoPages() async throws {
        let room = 250 * LongAnswers.rowBytes
        let answers = LongAnswers(limits: .init(pages: .init(waitingOfAccount: 1, bytesOfAccount: room)))
        let reads = Guarded(0)
        func page(_ rows: Int, atMost: Int? = nil, _ account: String) async throws -> ServerResponse {
            try await answers.page(atMost: atMost ?? rows, account: account, rows: \.count) {
                reads.withLock { $0 += 1 }
                return Array(repeating: String(repeating: "r", count: LongAnswers.rowBytes / 2), count: rows)
            }
        }
        // Once it is written, one counts as what it is, not as what it might have been.
        var slow: [ServerResponse] = []
        for _ in 0..<3 { slow.append(try await page(100, "a")) }
        #expect(
            slow.allSatisfy {
                (50 * LongAnswers.rowBytes..<60 * LongAnswers.rowBytes).contains($0.body.count)
            })
        for _ in 0..<3 { await #expect(throws: LongAnswers.Overload.self) { _ = try await page(100, "a") } }
        #expect(reads.withLock { $0 } == 3)
        // What is short, lists and other accounts have their own.
        #expect(try await page(10, "a").status == 200)
        #expect(try await answers.list("x", account: "a") { [1] }.status == 200)
        #expect(try await page(100, "b").status == 200)
        slow.removeLast()
        #expect(try await page(100, "a").status == 200)
        slow = []
        // One that is longer than that goes alone.
        let long = try await page(1000, "a")
        await #expect(throws: LongAnswers.Overload.self) { _ = try await page(100, "a") }
        withExtendedLifetime(long) {}
    }

    /// Many may wait with what was read for them.
    @Test(.timeLimit(.minutes(5))) func aPageCountsFromBeforeItIsRead() async throws {
        let answers = LongAnswers(
            limits: .init(pages: .init(waitingOfAccount: 9, bytesOfAccount: 250 * LongAnswers.rowBytes)))
        let gate = Gate()
        @Sendable func page(_ rows: Int) async throws -> ServerResponse {
            try await answers.page(atMost: 100, account: "a", rows: \.count) {
                await gate.wait()
                return Array(repeating: 7, count: rows)
            }
        }
        async let first = page(100)
        await gate.somebodyWaits()
        // Many could have come, and few did: it needs no turn.
        async let second = page(3)
        while gate.waiting < 2 { await Task.yield() }
        await #expect(throws: LongAnswers.Overload.self) {
            _ = try await answers.page(atMost: 100, account: "a", rows: \.count) { [7] }
        }
        gate.open()
        #expect(try await first.body.count == 201)
        #expect(try await second.body == Array("[7,7,7]".utf8))
        #expect(try await page(100).status == 200)
    }

    // MARK: answers to writes

    /// Whatever else the account has in hand, and whoever's turn it is.
    @Test(.timeLimit(.minutes(5))) func whatIsStoredIsAnswered() async throws {
        let answers = LongAnswers(
            limits: .init(
                pages: .init(waitingOfAccount: 1, bytesOfAccount: 1),
                patience: .milliseconds(10)))
        let gate = Gate()
        async let waiting = answers.list("x", account: "a") {
            await gate.wait()
            return [1]
        }
        await gate.somebodyWaits()
        let page = try await answers.page(atMost: 100, account: "a", rows: \.count) {
            Array(repeating: 7, count: 100)
        }
        for rows in [1, 100] {
            let answer = try await answers.stored(rows: rows, account: "a") {
                Array(repeating: 7, count: rows)
            }
            #expect(answer.body.count == 2 * rows + 1)
        }
        withExtendedLifetime(page) {}
        gate.open()
        #expect(try await waiting.status == 200)
    }

    @Test func whatThereIsNoRoomToAnswerIsNotStored() async throws {
        let answers = LongAnswers(
            limits: .init(
                writtenBytes: 250 * LongAnswers.rowBytes, allWrittenBytes: 350 * LongAnswers.rowBytes))
        let stores = Guarded(0)
        func store(_ rows: Int, _ account: String) async throws -> ServerResponse {
            try await answers.stored(rows: rows, account: account) {
                stores.withLock { $0 += 1 }
                return Array(repeating: 7, count: rows)
            }
        }
        var slow = [try await store(100, "a"), try await store(100, "a")]
        await #expect(throws: LongAnswers.Overload.self) { _ = try await store(100, "a") }
        #expect(stores.withLock { $0 } == 2)
        #expect(try await store(10, "a").status == 200)
        slow.append(try await store(100, "b"))
        // All accounts together.
        await #expect(throws: LongAnswers.Overload.self) { _ = try await store(100, "c") }
        slow = []
        #expect(try await store(1000, "a").status == 200)
        #expect(stores.withLock { $0 } == 5)
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
            let page = try await answers.page(atMost: rows, account: "a", rows: \.count) {
                Array(repeating: 7, count: rows)
            }
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
