import GatewayModel
import Locking
import Store
import Systemd
import Timekeeping

/// Watches what this host's wall clock is worth, and writes down what that tells of earlier moments of the boot.
///
/// Nothing waits for it: a clock that can't be believed holds back no sync, no commit and no ack.
final class HostClockWatch: Sendable {
    private let clock: HostClock
    private let log: Log
    private let state: Guarded<State>

    private struct State {
        var judge: HostClockJudge
        var rule = AnchorRule()
        var last: HostTrust?
    }

    /// The wall clock is looked at so often, ms: a step is seen within it.
    static let interval: Int64 = 10_000
    /// The zone and the wait of held samples are looked at so often, ms.
    static let slowInterval: Int64 = 60_000

    init(clock: HostClock, facts: HostClockFacts, log: Log) {
        self.clock = clock
        self.log = log
        state = Guarded(State(judge: HostClockJudge(facts: facts)))
    }

    /// This moment, and what the wall clock is worth in it.
    func stamp() -> HostStamp {
        state.withLock { state in
            let monotonic = clock.monotonic().milliseconds
            let wall = clock.wall()
            let verdict = state.judge.judge(wall: wall, monotonic: monotonic, kernel: clock.kernel())
            return HostStamp(
                bootID: clock.bootID, monotonic: monotonic, wall: wall, trust: verdict.trust,
                boundMilliseconds: verdict.boundMilliseconds)
        }
    }

    /// The date of a server whose certificate was verified; times of the request by this host's monotonic clock, ms.
    func served(date: Timestamp, sent: Int64, answered: Int64) {
        state.withLock { $0.judge.served(date: date, sent: sent, answered: answered) }
    }

    /// Runs until it is cancelled.
    func run(store: Store, zoneName: @Sendable () -> String, changed: @Sendable () -> Void) async {
        var lastSlowLook = Int64.min
        while !Task.isCancelled {
            let stamp = stamp()
            await note(stamp, in: store, changed: changed)
            let passed = lastSlowLook == .min ? 0 : stamp.monotonic - lastSlowLook
            if lastSlowLook == .min || passed >= Self.slowInterval {
                lastSlowLook = stamp.monotonic
                await lookSlowly(stamp, passed: passed, store: store, zoneName: zoneName())
            }
            try? await Task.sleep(for: .milliseconds(Self.interval))
        }
    }

    private func note(_ stamp: HostStamp, in store: Store, changed: @Sendable () -> Void) async {
        let (before, isWorthNoting) = state.withLock { state in
            defer { state.last = stamp.trust }
            return (state.last, state.rule.isWorthNoting(stamp))
        }
        if before != stamp.trust {
            log.notice("the host's clock", [("trust", .text("\(stamp.trust)"))])
            changed()
        }
        guard isWorthNoting else { return }
        do { try await store.noteHostClock(stamp) } catch {
            log.warning("the host's clock could not be noted", [("error", .error(error))])
            // Another try at the next look.
            state.withLock { $0.rule = AnchorRule() }
        }
    }

    private func lookSlowly(_ stamp: HostStamp, passed: Int64, store: Store, zoneName: String) async {
        do {
            try await store.countHold(milliseconds: passed)
            // Since when the host is in a zone can't be said by a clock that says nothing.
            if stamp.trust > .implausible { try await store.noteHostZone(zoneName, from: stamp.wall) }
        } catch {
            log.warning("the time could not be noted", [("error", .error(error))])
        }
    }
}
