import GatewayModel
import Locking
import Store
import Uplink

extension Uploader {
    /// Asks for the lease of a band in front of everything else, and notes the answer. Nothing is noted without one.
    func confirmLease(of device: DeviceID, in store: Store) async {
        guard let gateway = try? await store.gatewayID() else { return }
        let answer = OneShot<BandLease?>()
        let asking = Task { answer.set(try? await self.requestLease(of: device, gateway: gateway)) }
        // The upload thread may be busy with a slow server.
        let lease = await answer.value(within: .seconds(10), else: nil)
        asking.cancel()
        guard let lease else { return }
        _ = try? await store.noteLease(lease, of: device)
    }
}
