import BandProfile
import Testing

/// Addresses, ring ids and the constants of the service.
struct IdentifierTests {
    @Test(arguments: ["F0:F1:F2:F3:F4:F5", "f0:f1:f2:f3:f4:f5", "F0:f1:F2:f3:F4:f5"])
    func anAddressIsReadInEitherCaseAndPrintedAsBlueZDoes(text: String) throws {
        let address = try #require(BluetoothAddress(text))
        #expect(address.bits == 0xf0f1_f2f3_f4f5)
        #expect(address.octets == [0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5])
        #expect("\(address)" == "F0:F1:F2:F3:F4:F5")
        #expect(address.digits == "F0F1F2F3F4F5")
    }

    @Test func leadingZerosStay() throws {
        let address = try #require(BluetoothAddress("00:01:02:0A:00:0F"))
        #expect("\(address)" == "00:01:02:0A:00:0F")
        #expect(address.digits == "0001020A000F")
        #expect(BluetoothAddress(bits: 0xffff_0001_020a_000f) == address)
    }

    @Test(arguments: [
        "", "F0:F1:F2:F3:F4", "F0:F1:F2:F3:F4:F5:F6", "F0F1F2F3F4F5", "F0-F1-F2-F3-F4-F5",
        "F0:F1:F2:F3:F4:G5",
        "F0:F1:F2:F3:F4:5", "F0:F1:F2:F3:F4:0F5", ":F0:F1:F2:F3:F4:F5", "F0:F1:F2:F3:F4:F5 ",
        "F0:F1:F2:F3:F4:+5",
        "F0:F1:F2:F3:F4:-5", "F0:F1::F3:F4:F5", "Ｆ0:F1:F2:F3:F4:F5", "any",
    ])
    func anythingElseIsNoAddress(text: String) {
        #expect(BluetoothAddress(text) == nil)
    }

    @Test func addressesSortAsTheyRead() throws {
        let addresses = try [
            "10:00:00:00:00:00", "00:00:00:00:00:02", "0F:FF:FF:FF:FF:FF", "00:00:00:00:00:01",
        ]
        .map { try #require(BluetoothAddress($0)) }
        #expect(addresses.sorted().map(\.description) == addresses.map(\.description).sorted())
    }

    @Test(arguments: [
        ("b5e5d00d", UInt32(0xb5e5_d00d)), ("00000001", 1), ("ffffffff", .max), ("00000000", 0),
        ("0000abcd", 0xabcd),
    ])
    func aRingIDIsEightLowerCaseDigits(text: String, value: UInt32) {
        #expect(RingID(text) == RingID(rawValue: value))
        #expect("\(RingID(rawValue: value))" == text)
    }

    @Test(arguments: [
        "", "b5e5d00", "b5e5d00d0", "B5E5D00D", "0xb5e5d0", "b5e5d00g", "+5e5d00d", "-5e5d00d", " b5e5d00",
        "b5e5 00d",
        "ｂｂ12",
    ])
    func anythingElseIsNoRingID(text: String) {
        #expect(RingID(text) == nil)
    }

    @Test func allUUIDsShareOneBase() {
        let uuids = [
            BandHistory.service, BandHistory.info, BandHistory.clock, BandHistory.controlPoint,
            BandHistory.historyData, BandHistory.ack,
        ]
        for (index, uuid) in uuids.enumerated() {
            #expect(uuid == "bf1e000\(index + 1)-9c4e-4f6b-8d2a-5e7a10b3c6f4")
        }
    }

    @Test(arguments: [(23, 1), (38, 1), (39, 2), (185, 11), (246, 14), (247, 15), (517, 15), (0, 1)])
    func anMTUCarriesOneToFifteenRecords(mtu: Int, records: Int) {
        #expect(BandHistory.recordsPerNotification(mtu: mtu) == records)
    }

    @Test(arguments: [
        (DecodingFailure.truncated(at: 3), "truncated at byte 3"),
        (.trailing(at: 24), "unexpected bytes from byte 24 on"),
        (.invalid(field: "seq", at: 20), "invalid seq at byte 20"),
    ])
    func aFailureSaysWhatAndWhere(failure: DecodingFailure, text: String) {
        #expect("\(failure)" == text)
    }
}
