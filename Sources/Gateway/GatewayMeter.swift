import GatewayModel
import Locking
import Metrics

/// Counts what happens, from wherever it happens. Costs a lock and no I/O.
final class GatewayMeter: Sendable {
    private let counts = Guarded(GatewayCounts())

    var value: GatewayCounts { counts.withLock { $0 } }

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
