import Testing

@testable import HTTPServer

@Suite struct ConnectionTableTests {
    private let start = ContinuousClock.now

    private func table(connections: Int = 16, perAddress: Int = 0) -> ConnectionTable {
        ConnectionTable(
            limits: HTTPLimits(
                connections: connections, connectionsPerAddress: perAddress, idleSeconds: 30,
                headDeadline: .seconds(20), bodyDeadline: .seconds(100), answerDeadline: .seconds(50)))
    }

    private func overdue(_ table: inout ConnectionTable, after seconds: Int) -> [Int32] {
        table.giveUpOverdue(now: start + .seconds(seconds)).sorted()
    }

    @Test func eachPhaseHasItsTime() {
        var table = table()
        for id in 1...5 { _ = table.open(UInt(id), descriptor: Int32(id), address: nil, now: start) }
        table.enter(.body, 2, now: start)
        table.enter(.handler, 3, now: start)
        table.enter(.answer, 4, now: start)
        table.enter(.unwantedBody, 5, now: start)
        #expect(overdue(&table, after: 20).isEmpty)
        // The head that never came, and the body of the one who is refused anyway.
        #expect(overdue(&table, after: 21) == [1, 5])
        #expect(overdue(&table, after: 22).isEmpty)
        #expect(overdue(&table, after: 51) == [4])
        #expect(overdue(&table, after: 101) == [2])
        #expect(overdue(&table, after: 10_000).isEmpty)
        #expect(table.count == 5)
    }

    @Test func aPhaseIsNotBegunAnewByWhatBelongsToIt() {
        var table = table()
        _ = table.open(1, descriptor: 1, address: nil, now: start)
        table.enter(.body, 1, now: start)
        for second in stride(from: 0, to: 100, by: 10) {
            table.enter(.body, 1, now: start + .seconds(second))
        }
        #expect(overdue(&table, after: 101) == [1])
    }

    @Test func theNextRequestMayBeWaitedForAndThenHasItsTime() {
        var table = table()
        _ = table.open(1, descriptor: 1, address: nil, now: start)
        table.enter(.handler, 1, now: start)
        table.enter(.head, 1, now: start + .seconds(100))
        #expect(overdue(&table, after: 150).isEmpty)
        #expect(overdue(&table, after: 151) == [1])
    }

    @Test func nearTheLimitTheOneThatWaitedLongestMakesRoom() {
        var table = table(connections: 16)
        for id in 1...14 {
            #expect(table.open(UInt(id), descriptor: Int32(id), address: nil, now: start) == nil)
        }
        // 1 is served, 2 asked again later than the others, 3 is gone.
        table.enter(.handler, 1, now: start)
        table.enter(.handler, 2, now: start)
        table.enter(.head, 2, now: start)
        table.close(3)
        #expect(table.open(15, descriptor: 15, address: nil, now: start) == nil)
        #expect(table.open(16, descriptor: 16, address: nil, now: start) == 4)
        // It stays until the library says that it is closed, and is not named twice.
        #expect(table.count == 15)
        #expect(table.open(17, descriptor: 17, address: nil, now: start) == 5)
        #expect(!overdue(&table, after: 1000).contains(4))
        for id in 6...14 { table.enter(.answer, UInt(id), now: start) }
        #expect(table.open(18, descriptor: 18, address: nil, now: start) == 2)
    }

    @Test func turnsThatAreOverAreForgotten() {
        var table = table(connections: 8)
        _ = table.open(1, descriptor: 1, address: nil, now: start)
        for _ in 0..<100_000 {
            table.enter(.handler, 1, now: start)
            table.enter(.head, 1, now: start)
        }
        #expect(
            Mirror(reflecting: table).children.contains {
                ($0.value as? [(id: UInt, turn: UInt64)])?.count ?? .max < 5000
            })
    }

    @Test func anAddressHasItsShare() throws {
        var table = table(perAddress: 2)
        let address = try #require(ClientAddress("192.0.2.1"))
        #expect(table.admits(address))
        for id in 1...2 { _ = table.open(UInt(id), descriptor: Int32(id), address: address, now: start) }
        #expect(!table.admits(address))
        #expect(table.admits(ClientAddress("192.0.2.2")))
        #expect(table.admits(nil))
        table.close(1)
        #expect(table.admits(address))
    }

    @Test func oneSiteIsOneAddress() {
        let pairs: [(String, String, Bool)] = [
            ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false),
            ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", true), ("2001:db8:1:2::1", "2001:db8:1:3::1", false),
            ("::ffff:192.0.2.1", "192.0.2.1", true), ("::ffff:192.0.2.1", "::ffff:192.0.2.2", false),
            ("::1", "0.0.0.0", false),
        ]
        for (one, other, same) in pairs {
            #expect(ClientAddress(one) != nil)
            #expect((ClientAddress(one) == ClientAddress(other)) == same, "\(one) \(other)")
        }
        for text in ["", "localhost", "1.2.3", "192.0.2.1:80", "[::1]"] {
            #expect(ClientAddress(text) == nil)
        }
    }

    @Test(
        arguments: [
            ([("Host", "x"), ("Content-Length", "1")], nil), ([("Host", "x"), ("Host", "x")], 400),
            ([("Content-Length", "1"), ("content-length", "1")], 400),
            ([("Transfer-Encoding", "chunked"), ("Content-Length", "1")], 400),
            ([("Transfer-Encoding", "Chunked")], nil), ([("Transfer-Encoding", "gzip, chunked")], 400),
            ([("Transfer-Encoding", "chunked"), ("Transfer-Encoding", "chunked")], 400),
            ([("A", String(repeating: "x", count: 20_000))], 431),
        ] as [([(String, String)], Int?)])
    func aHeadIsJudged(_ fields: [(String, String)], _ status: Int?) {
        let head = RequestHead(targetBytes: 1, headers: fields.map { HTTPField($0.0, $0.1) })
        #expect(head.fault(HTTPLimits())?.status == status)
    }

    @Test func aHeadHasItsLimits() {
        let few = (0..<64).map { HTTPField("X-\($0)", "1") }
        #expect(RequestHead(targetBytes: 4096, headers: few).fault(HTTPLimits()) == nil)
        #expect(RequestHead(targetBytes: 4097, headers: few).fault(HTTPLimits())?.status == 414)
        let many = few + [HTTPField("Y", "1")]
        #expect(RequestHead(targetBytes: 1, headers: many).fault(HTTPLimits())?.status == 431)
    }

    @Test(
        arguments: [
            ([], 0), ([("Content-Length", "17")], 17), ([("content-length", "0")], 0),
            ([("Content-Length", "9223372036854775807")], Int.max),
            ([("Content-Length", "9223372036854775808")], Int.max),
            ([("Content-Length", "99999999999999999999999")], Int.max), ([("Content-Length", "")], 0),
            ([("Content-Length", "-1")], 0), ([("Transfer-Encoding", "chunked")], 0),
        ] as [([(String, String)], Int)])
    func whatALengthAnnounces(_ fields: [(String, String)], _ bytes: Int) {
        #expect(RequestHead.declaredBytes(fields.map { HTTPField($0.0, $0.1) }) == bytes)
    }

    @Test(arguments: [
        ("/a/b", "/a/b"), ("http://host/a", "/a"), ("HTTPS://host:1/a/b", "/a/b"), ("http://host", "/"),
        ("httpx://host/a", "httpx://host/a"), ("*", "*"), ("", ""),
    ])
    func aTargetMayBeAbsolute(_ target: String, _ path: String) {
        #expect(RequestHead.path(target) == path[...])
    }
}
