import GatewayModel
import Store
import UploadDecisions

/// What the upload tells the gateway, on the upload thread; none of it may block.
struct UploadHooks: Sendable {
    /// The server said that this gateway owns a band, or does no more, and nobody was waiting to hear it.
    var ownerChanged: @Sendable (DeviceID) -> Void = { _ in }
    /// What the server holds of a device, once after each start, before anything of it is sent; nil = it knows
    /// none.
    var serverState: @Sendable (DeviceID, ServerDeviceState?) -> Void = { _, _ in }
    /// What a server whose certificate was verified said the time is, and when the request was sent and answered, ms of
    /// the upload clock.
    var serverDate: ServerDate.Hook = { _, _, _ in }
    /// Samples were marked to be derived again, or a person was somewhere else than was known: the store has to look.
    var storeMarked: @Sendable () -> Void = {}
    /// The upload's connection met damage in the database.
    var storeDamaged: @Sendable (StoreError) -> Void = { _ in }
    /// What this host's wall clock is worth now.
    var hostTrust: @Sendable () -> HostTrust = { .plausible }
    /// Minutes that this host's local time is ahead of UTC.
    var hostOffset: @Sendable (Timestamp) -> Int = { _ in 0 }
    /// What was last said of the network.
    var network: @Sendable () -> NetworkState = { NetworkState() }
}
