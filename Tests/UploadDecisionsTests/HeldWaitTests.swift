import Testing
import UploadDecisions

/// When a lease that another gateway holds is asked for again.
@Suite struct HeldWaitTests {
    @Test func itIsAskedForAtItsEnd() {
        var wait = HeldWait()
        for seconds in [300, 2, 600, 5] { #expect(wait.next(left: .seconds(seconds)) == .seconds(seconds)) }
        #expect(wait.next(left: .seconds(86_400)) == .seconds(600))
    }

    @Test func anEndThatIsOverAndIsNotIsWaitedForLongerEachTime() {
        var wait = HeldWait()
        let waits = (0..<12).map { _ in wait.next(left: .seconds(-7200)) / .seconds(1) }
        #expect(waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600])
        // Renewed, and at an end that this clock can tell.
        #expect(wait.next(left: .seconds(600)) == .seconds(600))
        #expect(wait.next(left: .zero) == .seconds(1))
    }

    @Test func anEndThatIsAlwaysNearIsOneOfThose() {
        var wait = HeldWait()
        var asked = 0
        var passed = Duration.zero
        while passed < .seconds(86_400) {
            passed += wait.next(left: .milliseconds(500))
            asked += 1
        }
        #expect(asked < 160)
    }
}
