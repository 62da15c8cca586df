import BandProfile

/// A band that a scan heard.
public struct SeenBand: Equatable, Sendable {
    public var address: BluetoothAddress
    public var name: String?
    /// dBm, nearer to 0 is stronger.
    public var rssi: Int?
    /// Nil when this gateway has not taken it in.
    public var mode: BandMode?

    public init(address: BluetoothAddress, name: String? = nil, rssi: Int? = nil, mode: BandMode? = nil) {
        self.address = address
        self.name = name
        self.rssi = rssi
        self.mode = mode
    }
}
