import GatewayModel
import Uplink

/// Carries what the upload thread learns of a server to the actor that acts on it, in order.
final class ServerStateRelay: Sendable {
    private typealias Item = (device: DeviceID, state: ServerDeviceState)
    private let items: AsyncStream<Item>
    private let continuation: AsyncStream<Item>.Continuation

    init() {
        // One item a device at each start; the oldest give way to newer knowledge.
        (items, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(256))
    }

    deinit { continuation.finish() }

    func give(_ device: DeviceID, _ state: ServerDeviceState?) {
        if let state { continuation.yield((device, state)) }
    }

    func connect(_ receive: @escaping @Sendable (DeviceID, ServerDeviceState) async -> Void) {
        let items = items
        Task { for await item in items { await receive(item.device, item.state) } }
    }
}
