import BandProfile
import GatewayModel
import Testing

enum BluetoothAddressFixture {
    static let band = BluetoothAddress(bits: 0xf0f1_f2f3_f4f5)
}

/// Who acks, as ingest API 1 says it, and what a band that waits for the server has left.
@Suite struct OwnershipTests {
    private static let past = Timestamp(milliseconds: 1)
    static let ours = BandLease(isOurs: true, holder: "gw_a", until: past)
    static let another = BandLease(isOurs: false, holder: "gw_b", until: past)

    @Test func theOwnerAcksAndOthersObserve() {
        #expect(BandMode.own.effective(Self.ours, hasServer: true) == .own)
        #expect(BandMode.own.effective(Self.another, hasServer: true) == .observe)
        // The server can't be reached: whoever owned it last goes on, however long ago, and nobody else begins.
        #expect(BandMode.own.effective(nil, hasServer: true) == .observe)
        // There is nobody to ask.
        #expect(BandMode.own.effective(nil, hasServer: false) == .own)
        for lease in [nil, Self.ours, Self.another] {
            for hasServer in [true, false] {
                #expect(BandMode.observe.effective(lease, hasServer: hasServer) == .observe)
            }
        }
    }

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
