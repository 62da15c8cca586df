import DBus

/// How a band is put on the air, through BlueZ's own GATT server and advertising.
public struct RadioOptions: Sendable {
    public var address: BusAddress
    /// `hci1`
    public var adapter: String
    /// Name and options; the address is the adapter's.
    public var band: BandSetup
    public var stateDirectory: String?
    public var ackLog: String?
    public var truthFile: String?
    /// The band's address is written here once it advertises: the adapter has it.
    public var addressFile: String?
    /// False: bluetoothd is to use StartNotify and PropertiesChanged.
    public var acquireNotify = true
    /// Notifications a second. A radio has a limit that nobody reports: faster than it is queued somewhere.
    public var rate = 200
    /// Band History asks for an encrypted link.
    public var requireEncryption = false
    public var recordEvery: Duration?

    public init(address: BusAddress, adapter: String, band: BandSetup) {
        self.address = address
        self.adapter = adapter
        self.band = band
    }
}
