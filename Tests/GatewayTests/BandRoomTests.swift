import BandProfile
import GatewayModel
import Testing

enum BluetoothAddressFixture {
    static let band = BluetoothAddress(bits: 0xf0f1_f2f3_f4f5)
}

/// What a band that waits for the server has left.
@Suite struct BandRoomTests {
    private static let past = Timestamp(milliseconds: 1)
    static let ours = BandLease(isOurs: true, holder: "gw_a", until: past)
    static let another = BandLease(isOurs: false, holder: "gw_b", until: past)

    @Test func roomIsWhatIsLeftBeforeTheOldestGoes() {
        let room = BandRoom(ackPoint: 100, newest: 900, capacity: 1_000)
        #expect(room == BandRoom(ackPoint: 100, newest: 900, capacity: 1_000))
        #expect(room.oldestSeq == 101 && room.kept == 800 && room.left == 200 && room.problem == nil)
        let scarce = BandRoom(ackPoint: 99, newest: 900, capacity: 1_000)
        #expect(scarce.problem?.code == "band_waits_for_server")
        #expect(scarce.problem?.text.contains("room for 199 more") == true)
        let full = BandRoom(ackPoint: 0, newest: 4_000, capacity: 1_000)
        #expect(full.left == 0 && full.problem?.text.contains("memory is full") == true)
        // Nothing is kept, or nothing is known.
        #expect(BandRoom(ackPoint: 900, newest: 900, capacity: 1).problem == nil)
        #expect(BandRoom(ackPoint: 901, newest: 900, capacity: 1_000).kept == 0)
        #expect(BandRoom(ackPoint: 0, newest: 5, capacity: 0).problem == nil)
        #expect(BandRoom(ackPoint: .max, newest: .max, capacity: .max).problem == nil)
    }

    @Test func onlyABandThatIsAckedHereAfterTheUploadHasRoomToTellOf() {
        var band = BandStatus(
            address: BluetoothAddressFixture.band, device: DeviceID(BluetoothAddressFixture.band), mode: .own)
        (band.ack, band.newestSeq, band.oldestSeq, band.capacity) = (.upload, 900, 101, 1_000)
        #expect(band.room == BandRoom(ackPoint: 100, newest: 900, capacity: 1_000))
        band.lease = Self.another
        #expect(band.room == nil)
        band.lease = Self.ours
        #expect(band.room != nil)
        band.ack = .stored
        #expect(band.room == nil)
        (band.ack, band.mode) = (.upload, .observe)
        #expect(band.room == nil)
    }
}
