import BandModel
import BandProfile

/// One band to simulate.
public struct BandSetup: Sendable {
    public var address: BluetoothAddress
    public var name: String
    public var options: SimulatedBandOptions
    /// Percent.
    public var battery: UInt8

    public init(address: BluetoothAddress, name: String, options: SimulatedBandOptions, battery: UInt8 = 80) {
        self.address = address
        self.name = name
        self.options = options
        self.battery = battery
    }

    /// `count` bands with consecutive addresses and seeds, alike otherwise.
    public static func many(
        _ count: Int, from first: BluetoothAddress, _ options: SimulatedBandOptions
    ) -> [BandSetup] {
        (0..<count).map { index in
            var options = options
            options.seed &+= UInt64(index)
            let number = index < 9 ? "0\(index + 1)" : "\(index + 1)"
            return BandSetup(
                address: BluetoothAddress(bits: first.bits &+ UInt64(index)), name: "Band \(number)",
                options: options, battery: UInt8(60 + index % 40))
        }
    }
}
