import Foundation
import Locking
import Testing
import Threading

/// Waits on threads of their own: they block.
@Suite struct WakeupTests {
    @Test func aSignalIsKeptOnce() {
        let wakeup = Wakeup()
        #expect(!wakeup.wait(atMost: .zero))
        wakeup.signal()
        wakeup.signal()
        #expect(wakeup.wait(atMost: .seconds(3600)))
        #expect(!wakeup.wait(atMost: .milliseconds(1)))
        #expect(!wakeup.wait(atMost: .seconds(-5)))
        wakeup.signal()
        #expect(wakeup.wait(atMost: .seconds(-5)))
    }

    @Test func aWaitLastsAsLongAsItMay() {
        for milliseconds in [1, 40, 1_001] {
            let begin = ContinuousClock.now
            #expect(!Wakeup().wait(atMost: .milliseconds(milliseconds)))
            #expect(.now - begin >= .milliseconds(milliseconds))
        }
    }

    @Test func aSignalEndsAWaitHoweverLong() throws {
        for limit in [Duration.seconds(3600), .seconds(Int64.max)] {
            let wakeup = Wakeup()
            let result = Guarded<Bool?>(nil)
            let started = POSIXThread.start {
                let isSignalled = wakeup.wait(atMost: limit)
                result.withLock { $0 = isSignalled }
            }
            let thread = try #require(started)
            usleep(20_000)
            #expect(result.withLock { $0 } == nil)
            wakeup.signal()
            pthread_join(thread, nil)
            #expect(result.withLock { $0 } == true)
        }
    }

    /// What the kernel is asked for while a thread waits says by which clock: FUTEX_CLOCK_REALTIME is bit 8 of a futex
    /// call's second argument.
    @Test(.enabled(if: (try? String(contentsOfFile: "/proc/self/syscall", encoding: .utf8)) != nil))
    func aWaitDoesNotFollowTheWallClock() throws {
        let wakeup = Wakeup()
        let task = Guarded<String?>(nil)
        let started = POSIXThread.start {
            let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
            task.withLock { $0 = path ?? "" }
            wakeup.wait(atMost: .seconds(600))
        }
        let thread = try #require(started)
        defer {
            wakeup.signal()
            pthread_join(thread, nil)
        }
        var call: [Substring] = []
        while call.first != Self.futex {
            usleep(2000)
            guard let path = task.withLock({ $0 }) else { continue }
            let text = try String(contentsOfFile: "/proc/\(path)/syscall", encoding: .utf8)
            call = text.split(separator: " ")
        }
        // Number, address, operation, value, time.
        let operation = try #require(Int(call[2].dropFirst(2), radix: 16))
        #expect(operation & 0x100 == 0)
        #expect(call[4] != "0x0", "there is a limit")
    }

    #if arch(x86_64)
        private static let futex: Substring = "202"
    #else
        private static let futex: Substring = "98"
    #endif
}
