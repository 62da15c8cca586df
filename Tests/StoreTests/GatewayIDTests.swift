import Foundation
import GatewayModel
import Testing

@testable import Store

/// The name that this gateway has at the server: made once, and the same after every loss.
@Suite struct GatewayIDTests {
    let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    private var marker: String { fixture.databasePath + ".made" }

    /// Opens the store, and closes it again.
    private func name() async throws -> String {
        let store = try fixture.open()
        let name = try await store.gatewayID()
        try await store.close()
        return name
    }

    @Test(arguments: [0, 1, -1, Int64.min, Int64.max, 0x0123_4567_89ab_cdef])
    func everyNumberHasItsText(_ bits: Int64) {
        let text = GatewayID.text(bits)
        #expect(text.utf8.count == 19)
        #expect(GatewayID.bits(text) == bits)
    }

    @Test func aTextIsWrittenOneWay() {
        #expect(GatewayID.text(0x2a) == "gw_000000000000002a")
        #expect(GatewayID.text(-1) == "gw_ffffffffffffffff")
    }

    @Test(arguments: [
        "", "gw_", "gw_2a", "gw_000000000000002", "gw_000000000000002g", "gw_0000000000000002a",
        "id_000000000000002a", "000000000000002a",
    ])
    func anyOtherTextIsNoName(_ text: String) { #expect(GatewayID.bits(text) == nil) }

    @Test func itIsMadeOnceAndIsTheUploadsToo() async throws {
        let name = try await name()
        let bits = try #require(GatewayID.bits(name))
        #expect(bits != 0)
        #expect(try await self.name() == name)
        #expect(try fixture.outbox().gatewayID() == name)
    }

    @Test func twoGatewaysHaveTwo() async throws {
        let other = try await GatewayIDTests().name()
        #expect(try await name() != other)
    }

    @Test func itOutlivesALostDatabase() async throws {
        let name = try await name()
        #expect(try String(contentsOfFile: marker, encoding: .utf8) == name)
        try StoreRecovery.startEmpty(directory: fixture.directory, now: fixture.clock.now)
        #expect(try await self.name() == name)
    }

    /// A restored backup is the gateway that it was made on, whatever stands beside it.
    @Test func theDatabaseIsBelievedBeforeTheMarker() async throws {
        let name = try await name()
        try "gw_000000000000002a".write(toFile: marker, atomically: false, encoding: .utf8)
        #expect(try await self.name() == name)
        #expect(try String(contentsOfFile: marker, encoding: .utf8) == name)
    }

    @Test(arguments: ["", "gw_0000"])
    func aMarkerWithoutAWholeNameIsMendedAndStillTellsOfADatabase(_ text: String) async throws {
        let name = try await name()
        try text.write(toFile: marker, atomically: false, encoding: .utf8)
        #expect(try await self.name() == name)
        #expect(try String(contentsOfFile: marker, encoding: .utf8) == name)
        unlink(fixture.databasePath)
        #expect(await isStoreError(.corrupt) { _ = try fixture.open() })
    }

    @Test func anEmptyStartWithoutARememberedNameMakesANewOne() async throws {
        let name = try await name()
        try "".write(toFile: marker, atomically: false, encoding: .utf8)
        try StoreRecovery.startEmpty(directory: fixture.directory, now: fixture.clock.now)
        let new = try await self.name()
        #expect(new != name && GatewayID.bits(new) != nil)
        #expect(try String(contentsOfFile: marker, encoding: .utf8) == new)
    }
}
