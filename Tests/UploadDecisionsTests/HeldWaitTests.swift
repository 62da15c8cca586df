import Testing
import UploadDecisions

/// When a lease that another gateway holds is asked for again.
@Suite struct HeldWaitTests {
    @Test func itIsAskedForAtItsEnd() {
        var wait = HeldWait()
        for seconds in [300, 60, 600, 75] { #expect(wait.next(left: .seconds(seconds)) == .seconds(seconds)) }
        #expect(wait.next(left: .seconds(86_400)) == .seconds(600))
        #expect(wait.next(left: .seconds(42)) == .seconds(42))
    }

    @Test func anEndThatIsOverAndIsNotIsWaitedForLongerEachTime() {
        var wait = HeldWait()
        let waits = (0..<10).map { _ in wait.next(left: .seconds(-7200)) / .seconds(1) }
        #expect(waits == [5, 10, 20, 40, 80, 160, 320, 600, 600, 600])
        // Renewed, and at an end that this clock can tell.
        #expect(wait.next(left: .seconds(600)) == .seconds(600))
        #expect(wait.next(left: .zero) == .seconds(5))
    }

    static let lefts: [Int] = [
        -1_000_000, 0, 1, 500, 999, 1000, 1001, 1500, 4000, 4999, 5001, 30_000, 59_999,
    ]

    @Test(arguments: lefts) func anEndThatIsAlwaysNearIsOneOfThose(_ milliseconds: Int) {
        var wait = HeldWait()
        var asked = 0
        var passed = Duration.zero
        while passed < .seconds(86_400), asked < 100_000 {
            let next = wait.next(left: .milliseconds(milliseconds))
            #expect(next >= .seconds(5))
            passed += next
            asked += 1
        }
        #expect(asked < 160, "\(asked)")
    }

    /// Near and far in turn: never more often than once in some seconds, and mostly far less.
    @Test func anEndThatComesAndGoesIsNoTightLoop() {
        var wait = HeldWait()
        var passed = Duration.zero
        for turn in 0..<1000 { passed += wait.next(left: .seconds(turn % 2 == 0 ? 2 : 61)) }
        #expect(passed / 1000 >= .seconds(30))
    }
}
