/// Which BlueZ is simulated: what changed between the versions that gateways meet.
public enum BlueZVersion: String, CaseIterable, Sendable {
    /// Debian 12, Raspberry Pi OS Bookworm.
    case v5_66 = "5.66"
    /// What current distributions ship, and later.
    case v5_84 = "5.84"

    /// Since 5.81 a second Connect fails with InProgress; before, with Failed and errno's text.
    var secondConnectIsInProgress: Bool { self == .v5_84 }
    /// Since 5.84 an AcquireNotify whose CCC write is refused fails; before, it is never answered.
    var answersRefusedAcquire: Bool { self == .v5_84 }
    /// Since 5.83 Device1 has a signal Disconnected(name, message).
    var signalsDisconnectReason: Bool { self == .v5_84 }
    /// Since 5.69 a connect to a band that has lost its keys says so.
    var saysKeyMissing: Bool { self == .v5_84 }
    /// Since 5.69 services, characteristics and descriptors have a Handle.
    var hasHandles: Bool { self == .v5_84 }
}
