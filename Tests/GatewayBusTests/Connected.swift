import BandProfile
import BusTestSupport
import DBus
import GatewayModel
import Testing

@testable import GatewayBus

/// A bus, a service that owns its name, and a client.
struct Connected {
    var bus: PrivateBus
    var service: GatewayBusService
    var client: GatewayBusClient

    /// The service lives until here.
    func stop() async {
        await service.close()
        bus.stop()
    }

    static func open(
        _ gateway: FakeGateway, _ first: GatewayStatus = status([band(FakeGateway.address)]),
        interval: Duration = .milliseconds(1)
    ) async throws -> Connected {
        let bus = try PrivateBus()
        let service = try await GatewayBusService.open(
            .address(bus.address), commands: gateway, status: first, interval: interval)
        #expect(await service.takeName() == .owned)
        return Connected(bus: bus, service: service, client: try await .connect(.address(bus.address)))
    }
}

func status(_ bands: [BandStatus]) -> GatewayStatus {
    var status = GatewayStatus(version: "1", stateDirectory: "/s", running: true)
    status.bands = bands
    return status
}

func band(_ address: BluetoothAddress, next: UInt32 = 1) -> BandStatus {
    var band = BandStatus(address: address, device: DeviceID(address), mode: .own)
    band.syncing = true
    band.newestSeq = 100
    band.nextSeq = next
    return band
}

/// Waits without a guess of how long it takes; the suite's time limit ends it.
func eventually(_ condition: @Sendable () async -> Bool) async {
    while !(await condition()), !Task.isCancelled { try? await Task.sleep(for: .milliseconds(5)) }
}
