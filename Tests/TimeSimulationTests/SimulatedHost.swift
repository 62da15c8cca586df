import GatewayModel
import Timekeeping

/// A gateway's clocks in simulated time: true time goes in, what the host believes comes out.
struct SimulatedHost {
    private(set) var bootID = "boot-0"
    private var boots = 0
    private var bootedAt: Int64
    /// Add to true time to get the wall clock, ms.
    private var wallError: Int64
    private var isSynchronised = true
    private var judge: HostClockJudge
    private var rule = AnchorRule()
    private let hasBatteryClock: Bool

    init(at now: Int64, wallError: Int64, notBefore: Timestamp, hasBatteryClock: Bool) {
        bootedAt = now - 100_000
        self.wallError = wallError
        self.hasBatteryClock = hasBatteryClock
        judge = HostClockJudge(facts: HostClockFacts(notBefore: notBefore, hasBatteryClock: hasBatteryClock))
    }

    /// Starts again with a wall clock that shows `wall`, which nobody vouches for.
    mutating func boot(at now: Int64, wall: Int64, notBefore: Timestamp) {
        boots += 1
        bootID = "boot-\(boots)"
        bootedAt = now
        wallError = wall - now
        isSynchronised = false
        judge = HostClockJudge(facts: HostClockFacts(notBefore: notBefore, hasBatteryClock: hasBatteryClock))
        rule = AnchorRule()
    }

    /// NTP sets the clock.
    mutating func synchronise(error: Int64) {
        wallError = error
        isSynchronised = true
    }

    mutating func stamp(at now: Int64) -> HostStamp {
        let monotonic = now - bootedAt
        let wall = Timestamp(milliseconds: now + wallError)
        let kernel = KernelClock(isSynchronised: isSynchronised, maxErrorMilliseconds: 60)
        let verdict = judge.judge(wall: wall, monotonic: monotonic, kernel: kernel)
        return HostStamp(
            bootID: bootID, monotonic: monotonic, wall: wall, trust: verdict.trust,
            boundMilliseconds: verdict.boundMilliseconds)
    }

    /// What the watch of the host's clock would write down now.
    mutating func anchor(at now: Int64) -> HostStamp? {
        let stamp = stamp(at: now)
        return rule.isWorthNoting(stamp) ? stamp : nil
    }
}
