import BandProfile
import Testing

@testable import Store

@Suite struct PowerTests {
    private let adapter = BluetoothAddress(bits: 0x00AA_0100_0023)

    @Test func whatAnAdapterIsOwedOutlivesAPowerCut() async throws {
        let fixture = try StoreFixture()
        let store = try await fixture.openWithBand()
        #expect(try await store.owedPower().isEmpty)
        try await store.setOwesPower(true, to: adapter)
        try await store.setOwesPower(true, to: adapter)
        try await store.setOwesPower(true, to: BluetoothAddress(bits: 7))
        let image = try fixture.imageAfterPowerCut()
        let again = try image.open()
        #expect(try await again.owedPower() == [adapter, BluetoothAddress(bits: 7)])
        try await again.setOwesPower(false, to: adapter)
        #expect(try await again.owedPower() == [BluetoothAddress(bits: 7)])
    }
}
