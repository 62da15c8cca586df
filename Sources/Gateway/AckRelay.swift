import GatewayModel
import Locking

/// Passes on from the upload thread of which band the right to ack, or how far, may have changed.
final class AckRelay: Sendable {
    private let receiver = Guarded<(@Sendable (DeviceID) async -> Void)?>(nil)

    func connect(_ receive: @escaping @Sendable (DeviceID) async -> Void) {
        receiver.withLock { $0 = receive }
    }

    /// Returns at once. What is said before `connect` is read by each session from the store when it begins.
    func give(_ device: DeviceID) {
        guard let receive = receiver.withLock({ $0 }) else { return }
        Task { await receive(device) }
    }
}
