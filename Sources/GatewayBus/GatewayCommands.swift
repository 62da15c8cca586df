import BandProfile
import GatewayModel

/// What people ask of a running gateway. Failures are `CommandFailure`; anything else is reported as `failed`.
public protocol GatewayCommands: PersonCommands, UploadCommands, ReconcileCommands,
    ReplaceCommands
{
    /// Listens for bands for so long; bands already known are in the answer too.
    func scan(seconds: Int) async throws -> [SeenBand]
    func adopt(_ request: AdoptRequest) async throws
    /// Keeps the band's rows and goes on uploading them.
    func forget(_ address: BluetoothAddress) async throws
    /// Returns when the sync has ended; nil = every adopted band. With `noAck` nothing is acked in it.
    func sync(_ address: BluetoothAddress?, noAck: Bool) async throws -> [SyncReport]
}

public struct AdoptRequest: Equatable, Sendable {
    public var address: BluetoothAddress
    public var mode: BandMode
    /// Nil = from the address.
    public var device: DeviceID?
    public var name: String?

    public init(
        address: BluetoothAddress, mode: BandMode = .own, device: DeviceID? = nil, name: String? = nil
    ) {
        self.address = address
        self.mode = mode
        self.device = device
        self.name = name
    }
}
