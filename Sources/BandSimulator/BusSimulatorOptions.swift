import BandModel
import BandProfile
import DBus

/// How `org.bluez` is simulated, and which bands are behind it.
public struct BusSimulatorOptions: Sendable {
    public var address: BusAddress
    public var bands: [BandSetup]
    /// Where bands and BlueZ's own storage outlive a restart; nil = nowhere.
    public var stateDirectory: String?
    /// A JSON line for every ack; nil = none.
    public var ackLog: String?
    /// A JSON line for every record ever measured; nil = none.
    public var truthFile: String?
    public var version = BlueZVersion.v5_66
    /// The band's own ATT MTU; BlueZ asks for 517 and the smaller one holds.
    public var mtu = 247
    /// Notifications a second; 0 = as fast as the window and the socket take them.
    public var rate = 0
    /// False: NotifyAcquired is absent and AcquireNotify is refused.
    public var acquireNotify = true
    /// How the bands want to be paired before they give Band History.
    public var pairing = SimulatedPairing.none
    /// The passkey that a band shows, or that it expects; both show it in a comparison.
    public var passkey: UInt32 = 123_456
    /// BlueZ's timers and the air's delays run this much faster.
    public var timeScale = 1.0
    /// From the last sight of a device that is neither paired nor trusted to its removal, before scaling: BlueZ's
    /// `TemporaryTimeout`.
    public var temporaryTimeout = Duration.seconds(30)
    /// Each band measures a record so often while it runs; nil = never.
    public var recordEvery: Duration?
    /// From connect to services resolved when they have to be discovered, before scaling.
    public var discoveryDelay = Duration.milliseconds(200)
    /// One ATT request and its response, before scaling.
    public var attLatency = Duration.milliseconds(5)
    /// Send buffer of an acquired socket, as the kernel counts it: net.core.wmem_default.
    public var socketBuffer = 212_992
    /// Links that the adapter holds: one more, and it drops another without a word. Nil = any number.
    public var slots: Int?
    /// What goes wrong with calls to the adapter: `neveranswer:METHOD@N`, `failcall:METHOD@N`.
    public var adapterFaults = FaultScript.none
    /// There is a systemd on the bus that restarts bluetooth.service.
    public var systemd = false
    public var adapterAddress = "00:AA:01:00:00:23"

    public init(address: BusAddress, bands: [BandSetup]) {
        self.address = address
        self.bands = bands
    }

    /// Those of another host that hears the same bands. What is done once for a band is done by the first.
    func further(host: Int, at address: BusAddress) -> BusSimulatorOptions {
        var options = self
        options.address = address
        options.truthFile = nil
        options.recordEvery = nil
        options.adapterAddress =
            "00:AA:01:00:00:" + GATTPath.hexadecimal(UInt16(0x23 + host)).suffix(2).uppercased()
        return options
    }
}
