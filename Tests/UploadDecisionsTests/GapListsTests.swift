import IngestAPI
import Testing

@testable import UploadDecisions

/// Lists of gaps for servers that do not take all of them.
@Suite struct GapListsTests {
    private func gaps(_ count: UInt32) -> [APIGap] {
        (0..<count).map {
            APIGap(ring: "b5e5d00d", firstSeq: 10 * $0 + 1, lastSeq: 10 * $0 + 5, cause: .overwritten)
        }
    }

    private struct Outcome {
        var taken: [UInt32] = []
        var requests = 0
        var alone: [UInt32] = []
    }

    /// Sends until nothing goes any more.
    private func send(
        _ all: [APIGap], with lists: inout GapLists, at now: Duration = .zero, takes: ([APIGap]) -> Bool
    ) -> Outcome {
        var outcome = Outcome()
        var unsent = all
        while lists.mayGo(now: now), outcome.requests < 10_000 {
            let read = Array(unsent.prefix(lists.readLimit))
            let list = lists.next(of: read).map { read[$0] }
            guard !list.isEmpty else { break }
            outcome.requests += 1
            if takes(list) {
                lists.taken(list.count)
                unsent.removeAll { list.contains($0) }
                outcome.taken += list.map(\.firstSeq)
            } else if lists.refused(list, until: now + .seconds(3600)) {
                outcome.alone += list.map(\.firstSeq)
            }
        }
        return outcome
    }

    @Test func allGoAtOnceToAServerThatTakesThem() {
        var lists = GapLists()
        let sent = send(gaps(1200), with: &lists) { _ in true }
        #expect(sent.requests == 3 && sent.taken.count == 1200 && lists.isWhole)
    }

    @Test func aServerThatTakesFewerAtOnceGetsThemAll() {
        var lists = GapLists()
        let sent = send(gaps(500), with: &lists) { $0.count <= 70 }
        #expect(sent.taken.count == 500 && sent.alone.isEmpty && lists.isWhole)
        #expect(sent.requests < 30, "\(sent.requests)")
    }

    @Test func aServerThatHasRoomForSomeGetsSo() {
        var room = 100
        var lists = GapLists()
        let sent = send(gaps(500), with: &lists) { list in
            guard list.count <= room else { return false }
            room -= list.count
            return true
        }
        #expect(sent.taken.count == 100 && sent.alone.count == 3 && !lists.isWhole)
        #expect(sent.requests < 40, "\(sent.requests)")
    }

    @Test func oneThatIsRefusedIsPassedOverForAWhile() {
        var lists = GapLists()
        let bad: UInt32 = 10 * 77 + 1
        let all = gaps(300)
        let sent = send(all, with: &lists) { list in !list.contains { $0.firstSeq == bad } }
        #expect(sent.taken.count == 299 && sent.alone == [bad] && !lists.isWhole)
        #expect(sent.requests < 40, "\(sent.requests)")
        let rest = all.filter { $0.firstSeq == bad }
        let early = send(rest, with: &lists, at: .seconds(3599)) { _ in true }
        let later = send(rest, with: &lists, at: .seconds(3600)) { _ in true }
        #expect(early.requests == 0 && later.taken == [bad] && lists.isWhole)
    }

    @Test func whereNoneIsTakenTheyRest() {
        var lists = GapLists()
        let sent = send(gaps(500), with: &lists) { _ in false }
        #expect(sent.taken.isEmpty && sent.alone.count == 3 && sent.requests == 11)
        let goesEarlier = lists.mayGo(now: .seconds(3599))
        #expect(!goesEarlier)
        // Each time that it is tried again costs as little.
        let again = send(gaps(500), with: &lists, at: .seconds(3600)) { _ in false }
        #expect(again.requests == 3)
    }

    @Test func whatIsPassedOverIsBounded() {
        var lists = GapLists()
        // Every other one is refused.
        let sent = send(gaps(2000), with: &lists) { list in list.allSatisfy { $0.firstSeq % 20 == 1 } }
        #expect(sent.alone.count <= GapLists.passedOverLimit && lists.readLimit <= 600)
        let goes = lists.mayGo(now: .zero)
        #expect(!goes)
    }
}
