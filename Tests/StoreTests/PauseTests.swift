import GatewayModel
import Testing

@testable import Store

@Suite struct PauseTests {
    @Test func itIsKeptOverAReopeningAndForgottenWhenItIsOver() async throws {
        let fixture = try StoreFixture()
        let device = StoreFixture.device
        let store = try await fixture.openWithBand()
        #expect(try await store.pause(of: device) == nil)
        let pause = StoredPause(failures: 3, milliseconds: 4_250, failedAt: Timestamp(milliseconds: 1_000))
        try await store.setPause(pause, of: device)
        try await store.close()
        let again = try fixture.open()
        #expect(try await again.pause(of: device) == pause)
        try await again.setPause(nil, of: device)
        #expect(try await again.pause(of: device) == nil)
    }

    @Test func aBandThatIsNotKnownHasNone() async throws {
        let fixture = try StoreFixture()
        let store = try await fixture.openWithBand()
        let stranger = try #require(DeviceID("stranger"))
        await #expect(throws: StoreError.self) { try await store.setPause(nil, of: stranger) }
    }
}
