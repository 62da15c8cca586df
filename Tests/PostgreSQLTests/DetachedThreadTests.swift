import Dispatch
import Testing

@testable import PostgreSQL

@Suite struct DetachedThreadTests {
    @Test func whatComesInTimeIsReturned() {
        let outcome = DetachedThread.run(until: .now + .seconds(60)) {
            7
        } late: { _ in
            Issue.record("it was not late")
        }
        guard case .finished(7) = outcome else {
            Issue.record("\(outcome)")
            return
        }
    }

    /// As with a name that the resolver never answers for: nobody waits, and what it opened is closed.
    @Test func whatComesLateIsNotWaitedForAndNotLost() {
        let goOn = DispatchSemaphore(value: 0)
        let cleared = DispatchSemaphore(value: 0)
        let outcome = DetachedThread.run(until: .now + .milliseconds(50)) {
            goOn.wait()
            return 7
        } late: { value in
            #expect(value == 7)
            cleared.signal()
        }
        if case .deadlinePassed = outcome {} else { Issue.record("\(outcome)") }
        goOn.signal()
        #expect(cleared.wait(timeout: .now() + .seconds(60)) == .success)
    }
}
