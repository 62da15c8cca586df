import IngestAPI
import Testing

@testable import UploadDecisions

/// Lists of gaps for servers that do not take all of them.
@Suite struct GapListsTests {
    /// As the outbox gives them: by falling seq; none begins where another ends.
    private func gaps(_ count: UInt32) -> [APIGap] {
        (0..<count).reversed().map {
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
            let behind = lists.behind
            let read = unsent.filter { gap in behind.map { gap.firstSeq < $0.firstSeq } ?? true }
            let list = lists.next(of: read.map { UnsentGap($0, isFollowed: false) }).map { read[$0] }
            if list.isEmpty {
                guard lists.wrap() else { break }
                continue
            }
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
        #expect(sent.taken.count == 100 && sent.alone.count == GapLists.passedOverLimit && !lists.isWhole)
        #expect(sent.requests < 50, "\(sent.requests)")
    }

    @Test func oneThatIsRefusedIsPassedOverForAWhile() {
        var lists = GapLists()
        let bad: UInt32 = 10 * 77 + 1
        let all = gaps(300)
        let sent = send(all, with: &lists) { list in !list.contains { $0.firstSeq == bad } }
        #expect(sent.taken.count == 299 && sent.alone == [bad] && !lists.isWhole)
        #expect(sent.requests < 40, "\(sent.requests)")
        // What is new goes all the same.
        let new = APIGap(ring: "b5e5d00d", firstSeq: 9001, lastSeq: 9001, cause: .overwritten)
        let rest = all.filter { $0.firstSeq == bad }
        let early = send([new] + rest, with: &lists, at: .seconds(3599)) { _ in true }
        let later = send(rest, with: &lists, at: .seconds(3600)) { _ in true }
        #expect(early.taken == [9001] && later.taken == [bad] && lists.isWhole)
    }

    @Test func whereNoneIsTakenTheyRestAndGoOnBehind() {
        var lists = GapLists()
        let all = gaps(40)
        var tried: Set<UInt32> = []
        for hour in 0..<4 {
            let sent = send(all, with: &lists, at: .seconds(3600 * hour)) { _ in false }
            #expect(sent.taken.isEmpty && sent.alone.count == 16 && sent.requests <= 22, "\(sent.requests)")
            let goesEarlier = lists.mayGo(now: .seconds(3600 * hour + 3599))
            #expect(!goesEarlier)
            if hour < 2 { #expect(tried.isDisjoint(with: sent.alone)) }
            tried.formUnion(sent.alone)
        }
        #expect(tried.count == 40, "all had their turn")
    }

    /// Whichever are refused, and wherever they are.
    @Test(arguments: [0..<3, 10..<13, 480..<500, 0..<250, 100..<499]) func theOthersGo(_ bad: Range<UInt32>) {
        for every in [1, 2, 3] as [UInt32] {
            var lists = GapLists()
            func isBad(_ gap: APIGap) -> Bool {
                let number = gap.firstSeq / 10
                return bad.contains(number) && number % every == 0
            }
            var unsent = gaps(500)
            let badCount = unsent.count(where: isBad)
            for hour in 0...badCount / GapLists.passedOverLimit + 1 {
                let sent = send(unsent, with: &lists, at: .seconds(3600 * hour)) {
                    !$0.contains(where: isBad)
                }
                unsent.removeAll { sent.taken.contains($0.firstSeq) }
                #expect(sent.requests <= 10 * GapLists.passedOverLimit + 10 * sent.taken.count)
            }
            #expect(unsent.count == badCount, "\(bad) \(every)")
        }
    }

    @Test func whatAServerDidNotShowIsPassedOver() {
        var lists = GapLists()
        let all = gaps(500)
        lists.taken(499)
        lists.passOver([all[7]], until: .seconds(3600))
        #expect(!lists.isWhole)
        let new = lists.next(of: all.map { UnsentGap($0, isFollowed: false) })
        #expect(new.count == 499 && !new.contains(7))
        lists.passOver(Array(all.dropFirst(100)), until: .seconds(3600))
        let goes = lists.mayGo(now: .seconds(3599))
        #expect(!goes, "that is too many")
    }

    @Test func oneThatBecameShorterGoesWithWhatNamesTheRestOrAfterIt() {
        func gap(_ first: UInt32, _ last: UInt32?, _ isFollowed: Bool) -> UnsentGap {
            UnsentGap(
                APIGap(ring: "b5e5d00d", firstSeq: first, lastSeq: last, cause: .overwritten),
                isFollowed: isFollowed)
        }
        let parts = [gap(151, 250, false), gap(150, 150, true), gap(100, 149, true), gap(90, 98, false)]
        var lists = GapLists()
        #expect(lists.next(of: parts) == [0, 1, 2, 3])
        #expect(lists.next(of: parts) { $0.firstSeq == 150 } == [0, 3])
        _ = lists.refused([parts[0].gap], until: .seconds(1))
        lists.taken(500)
        #expect(lists.next(of: parts) == [3])
        // What follows is further up than what was read.
        #expect(GapLists().next(of: Array(parts.dropFirst())) == [2])
        #expect(GapLists().next(of: [gap(7, nil, false), gap(5, .max, true)]) == [0, 1])
    }

    // MARK: a life

    /// A gateway's rows, which only ever split, and a server where the last PUT of a key counts.
    private struct World {
        struct Row: Equatable {
            var last: UInt32
            var isHealed = false
            var isSent = false
        }

        var rows: [UInt32: Row] = [:]
        var server: [UInt32: UInt32] = [:]
        var random: SeededRandom
        var isRefused: (_ new: Int, _ keys: [UInt32]) -> Bool

        var unsent: [UnsentGap] {
            rows.filter { !$0.value.isSent }.sorted { $0.key > $1.key }.map { first, row in
                UnsentGap(
                    APIGap(
                        ring: "b5e5d00d", firstSeq: first, lastSeq: row.last, cause: .overwritten,
                        healedAt: row.isHealed ? APITime(milliseconds: 1) : nil),
                    isFollowed: rows[row.last + 1].map { !$0.isSent } ?? false)
            }
        }

        mutating func changes() {
            let top = rows.map(\.value.last).max() ?? 0
            let first = top + UInt32.random(in: 1...3, using: &random)
            rows[first] = Row(last: first + UInt32.random(in: 0...40, using: &random))
            // Some records turn up.
            let missing = rows.keys.sorted().filter { rows[$0]?.isHealed == false }
            guard let key = missing.randomElement(using: &random), let row = rows[key] else { return }
            let from = UInt32.random(in: key...row.last, using: &random)
            let to = UInt32.random(in: from...min(row.last, from + 5), using: &random)
            rows[key] = nil
            if key < from { rows[key] = Row(last: from - 1) }
            rows[from] = Row(last: to, isHealed: true)
            if to < row.last { rows[to + 1] = Row(last: row.last) }
        }

        /// Nil = it took them, and lost a name by it.
        mutating func put(_ gaps: [APIGap]) -> Bool? {
            let keys = gaps.map(\.firstSeq)
            if isRefused(keys.count { server[$0] == nil }, keys) { return false }
            var lost: [UInt32] = []
            for gap in gaps {
                let last = gap.lastSeq ?? .max
                if let before = server[gap.firstSeq], before > last { lost += last + 1...before }
                server[gap.firstSeq] = last
                rows[gap.firstSeq]?.isSent = true
            }
            let isNamed = lost.allSatisfy { seq in server.contains { $0.key <= seq && seq <= $0.value } }
            return isNamed ? true : nil
        }

        /// Sends until nothing goes any more, reading `page` rows at a time. False = a name was lost, or it had no end.
        mutating func look(_ lists: inout GapLists, now: Duration, page: Int, churns: Bool) -> Bool {
            var place = lists.behind
            for step in 0..<20_000 {
                guard lists.mayGo(now: now) else { return true }
                let read = unsent.filter { gap in place.map { gap.gap.firstSeq < $0.firstSeq } ?? true }
                    .prefix(page)
                let list = lists.next(of: Array(read)).map { read[$0].gap }
                if list.isEmpty {
                    if read.count == page, let last = read.last {
                        place = GapKey(last.gap)
                    } else if lists.wrap() {
                        place = nil
                    } else {
                        return true
                    }
                    continue
                }
                guard let isTaken = put(list) else { return false }
                if isTaken {
                    lists.taken(list.count)
                } else {
                    _ = lists.refused(list, until: now + .seconds(3600))
                }
                if churns, step < 4, Bool.random(using: &random) { changes() }
                place = lists.behind
            }
            return false
        }
    }

    /// At no moment the server has a record neither as stored nor as missing that it had as missing before, and in the end
    /// only what it refuses is unsent, and what can't go before that.
    @Test func noNameIsLostAndAllThatIsTakenGoes() {
        for life in 0..<9 {
            let seed = UInt64.random(in: 0...UInt64.max)
            var world = World(random: SeededRandom(seed: seed)) { _, _ in false }
            var lists = GapLists()
            let page = [5, 20, 500][life % 3]
            // It takes all, refuses keys, has no room for new ones, or takes few at once.
            var hour = 0
            for phase in 0..<4 {
                let share = UInt64.random(in: 1...10, using: &world.random)
                let isBad: (UInt32) -> Bool = { UInt64($0) &* 2_654_435_761 % 10 < share }
                let room = Int.random(in: 0...5, using: &world.random)
                let kind = Int.random(in: 0...3, using: &world.random)
                world.isRefused = { new, keys in
                    switch phase == 0 ? 0 : kind {
                    case 0: false
                    case 1: keys.contains(where: isBad)
                    case 2: new > room
                    default: keys.count > room + 1
                    }
                }
                for _ in 0..<10 {
                    for _ in 0..<4 { world.changes() }
                    hour += 1
                    let isWell = world.look(&lists, now: .seconds(3600 * hour), page: page, churns: true)
                    #expect(isWell, "seed \(seed)")
                    guard isWell else { return }
                }
            }
            let share = UInt64.random(in: 1...9, using: &world.random)
            let isBad: (UInt32) -> Bool = { UInt64($0) &* 2_654_435_761 % 10 < share }
            world.isRefused = { _, keys in keys.contains(where: isBad) }
            for _ in 0...world.rows.count / GapLists.passedOverLimit + 2 {
                hour += 1
                let isWell = world.look(&lists, now: .seconds(3600 * hour), page: page, churns: false)
                #expect(isWell, "seed \(seed)")
            }
            let left = world.unsent.filter { !isBad($0.gap.firstSeq) && !$0.isFollowed }
            #expect(left.isEmpty, "seed \(seed): \(left.count)")
        }
    }
}
