import Testing

@testable import Gateway

struct WakeGateTests {
    @Test func aSignalBeforeTheWaitIsKept() async {
        let gate = WakeGate()
        gate.signal()
        await gate.wait(atMost: nil)
    }

    @Test func signalsAreMerged() async {
        let gate = WakeGate()
        gate.signal()
        gate.signal()
        await gate.wait(atMost: nil)
        let late = Task { await gate.wait(atMost: nil) }
        gate.signal()
        await late.value
    }

    @Test func aLimitEndsTheWait() async {
        await WakeGate().wait(atMost: .milliseconds(1))
        await WakeGate().wait(atMost: .seconds(-1))
    }

    @Test func noSignalIsLostInARace() async {
        let gate = WakeGate()
        for _ in 0..<2_000 {
            async let signalled: Void = Task.detached { gate.signal() }.value
            await gate.wait(atMost: nil)
            await signalled
        }
    }
}
