import BandProfile
import Foundation
import GatewayModel
import Testing

@testable import Store

@Suite struct SizeTests {
    /// The file after a truncating checkpoint, nothing uploaded: at most 48 bytes a sample, the page of each table included.
    @Test(arguments: [1, 8]) func aSampleTakesAtMost48Bytes(_ bands: Int) async throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        var devices: [DeviceID] = []
        for number in 0..<bands {
            let address = BluetoothAddress(bits: UInt64(number + 1))
            devices.append(DeviceID(address))
            try await store.adopt(
                address: address, device: devices[number], mode: .own, name: nil, configured: true)
        }
        let each: UInt32 = 64_000 / UInt32(bands)
        for first in stride(from: 1, through: each, by: 60) {
            for device in devices {
                var records: [HistoryRecord] = []
                for seq in first..<min(first + 60, each + 1) {
                    let isSteps = seq % 15 == 0
                    records.append(
                        isSteps ? record(seq, type: .steps, value: Int16(seq % 3_000)) : record(seq))
                }
                _ = try await store.commit(
                    chunk(records, through: records[records.count - 1].seq), of: device, clock: reading())
            }
        }
        let count = try await store.bandStatuses().reduce(0) { $0 + $1.pending }
        #expect(count == Int(each) * bands)
        try await store.close()
        let size = try #require(
            FileManager.default.attributesOfItem(atPath: fixture.databasePath)[.size] as? Int)
        print("\(bands) bands: \(Double(size) / Double(count)) bytes a sample")
        #expect(size <= count * 48)
    }
}
