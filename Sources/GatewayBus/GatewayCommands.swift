import BandProfile
import GatewayModel

/// What people ask of a running gateway. Failures are `CommandFailure`; anything else is reported as `failed`.
public protocol GatewayCommands: PersonCommands, UploadCommands, ReconcileCommands,
    ReplaceCommands
{
    /// Listens for bands for so long; bands already known are in the answer too.
    func scan(seconds: Int) async throws -> [SeenBand]
    /// `person`: who is asked where the band wants to be paired; nil = nobody, and only what needs nobody is done.
    func adopt(_ request: AdoptRequest, asking person: (any PairingPerson)?) async throws
    /// Removes the bond of an adopted band and makes a new one.
    func pair(_ address: BluetoothAddress, asking person: any PairingPerson) async throws
    /// Keeps the band's rows and goes on uploading them.
    func forget(_ address: BluetoothAddress) async throws
    /// Returns when the sync has ended; nil = every adopted band. With `noAck` nothing is acked in it.
    func sync(_ address: BluetoothAddress?, noAck: Bool) async throws -> [SyncReport]
}

public struct AdoptRequest: Equatable, Sendable {
    public var address: BluetoothAddress
    public var mode: BandMode
    public var ack: AckPolicy
    /// Nil = from the address.
    public var device: DeviceID?
    public var name: String?
    /// The caller can ask a person what a pairing needs.
    public var isInteractive = false

    public init(
        address: BluetoothAddress, mode: BandMode = .own, ack: AckPolicy = .stored, device: DeviceID? = nil,
        name: String? = nil
    ) {
        self.address = address
        self.mode = mode
        self.ack = ack
        self.device = device
        self.name = name
    }
}
