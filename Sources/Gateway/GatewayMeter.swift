import GatewayModel
import Locking
import Metrics
import RadioSchedule

/// Counts what happens, from wherever it happens. Costs a lock and no I/O.
final class GatewayMeter: Sendable {
    private let counts = Guarded(GatewayCounts())

    /// Of radios that have ended, as when the database was opened again: counters never go back.
    private let endedRadios = Guarded(RadioCounters?.none)

    var value: GatewayCounts { counts.withLock { $0 } }

    /// A radio will count no more.
    func radioEnded(_ counters: RadioCounters) {
        var counters = counters
        counters.linksHeld = [:]
        endedRadios.withLock { [counters] in $0 = $0?.followed(by: counters) ?? counters }
    }

    /// Of all radios since the start; `current` is of the one that runs, if one does. Nil = none ever ran.
    func radio(_ current: RadioCounters?) -> RadioCounters? {
        let ended = endedRadios.withLock { $0 }
        guard let current else { return ended }
        return ended?.followed(by: current) ?? current
    }

    func connected(_ device: DeviceID) { counts.withLock { $0.connected(device) } }
    func failed(_ problem: Problem) { counts.withLock { $0.failed(problem.code) } }
    func uploadFailed(_ cause: String) { counts.withLock { $0.uploadFailed(cause) } }
    func waiting(_ device: DeviceID, _ count: Int) { counts.withLock { $0.waiting(device, count) } }
    func dropped(_ count: Int) { counts.withLock { $0.notificationsDropped += Int64(clamping: count) } }
    func acked(milliseconds: Int64) { counts.withLock { $0.ack.add(milliseconds * 1000) } }

    func committed(_ device: DeviceID, samples: Int, milliseconds: Int64) {
        counts.withLock { $0.committed(device, samples: samples, microseconds: milliseconds * 1000) }
    }
}
