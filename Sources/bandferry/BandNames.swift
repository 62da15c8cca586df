import BandProfile
import GatewayBus
import GatewayModel

extension GatewayBusClient {
    /// The band that a person means, as the daemon knows it. An address is passed on as it is: the daemon says more of
    /// one that it does not know.
    func address(of name: String) async throws -> BluetoothAddress {
        if let address = BluetoothAddress(name) { return address }
        return try await band(called: name).address
    }

    func band(called name: String) async throws -> BandStatus {
        let bands = try await status().bands
        guard let band = bands.band(called: name) else { throw Failure.noBand(name, among: bands) }
        return band
    }
}
