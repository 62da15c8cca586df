import Testing

@testable import PostgreSQL

@Suite struct RecentCacheTests {
    @Test func theLongestUnusedMakesRoom() {
        var cache = RecentCache<Int>(capacity: 2)
        #expect(cache.insert(1, for: "a") == nil)
        #expect(cache.insert(2, for: "b") == nil)
        #expect(cache.find("a") == 1)
        #expect(cache.insert(3, for: "c") == 2)
        #expect(cache.find("b") == nil)
        #expect(cache.find("a") == 1)
        #expect(cache.find("c") == 3)
        #expect(cache.count == 2)
    }

    @Test func theSameKeyTakesNoMoreRoom() {
        var cache = RecentCache<Int>(capacity: 2)
        _ = cache.insert(1, for: "a")
        _ = cache.insert(2, for: "b")
        #expect(cache.insert(3, for: "a") == 1)
        #expect(cache.count == 2)
        #expect(cache.find("b") == 2)
        #expect(cache.removeAll().sorted() == [2, 3])
        #expect(cache.find("a") == nil)
    }
}
