import BandProfile
import Foundation
import GatewayModel
import Store
import Testing

/// A state directory as a stopped daemon leaves it: one band, 40 records, one gap.
final class StateFixture: Sendable {
    static let address = BluetoothAddress(bits: 0xf0f1_f2f3_f4f5)
    static let device = DeviceID(address)
    static let ring = RingID(rawValue: 0xb5e5_d00d)

    let directory: URL
    let configuration: URL
    var state: String { directory.appendingPathComponent("state").path }

    init(extra: String = "") throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent(
            "state-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        configuration = directory.appendingPathComponent("bandferry.conf")
        try "[gateway]\nstate_directory = \(directory.path)/state\n\(extra)\n".write(
            to: configuration, atomically: true, encoding: .utf8)
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    var bandferry: Bandferry { Bandferry(configuration: configuration, fixture: self) }

    /// The sample at which the band changes hands.
    static let change = Timestamp(milliseconds: 1_793_000_031_000)

    /// With `people`, Ben wore the band until `change`, and Anna since.
    func fill(people: Bool = false) async throws {
        try await write(people: people)
        // A child that another test forked meanwhile shares the lock until it runs its own program.
        for _ in 0..<500 where StateDirectoryLock.isHeld(directory: state) {
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    private func write(people: Bool) async throws {
        let lock = try StateDirectoryLock.acquire(directory: state)
        let store = try Store.open(directory: state, now: { Timestamp(milliseconds: 1_793_100_000_000) })
        try await store.adopt(
            address: Self.address, device: Self.device, mode: .own, name: "Anna", configured: false)
        let records = (UInt32(11)...50).map { (seq: UInt32) -> TimedRecord in
            let type: UInt8 = seq % 2 == 0 ? 1 : 2
            let record = HistoryRecord(
                seq: seq, seconds: 1_793_000_000 + seq, offsetQuarterHours: 22, type: type, value: Int16(seq))
            return TimedRecord(record: record, clockID: 3)
        }
        let gap = Gap(ring: Self.ring, firstSeq: 1, lastSeq: 10, cause: .overwritten)
        let clock = ClockReading(
            clockID: 3, bandTimeMilliseconds: 1_793_000_000_000,
            hostTime: Timestamp(milliseconds: 1_793_000_001_000), hostMonotonicMilliseconds: 5, bootID: "b",
            boundMilliseconds: 20, bandSecondsSinceBoot: 9)
        _ = try await store.commit(
            Chunk(ring: Self.ring, records: records, gaps: [gap], through: 50), of: Self.device, clock: clock)
        if people { try await assign(in: store) }
        try await store.close()
        withExtendedLifetime(lock) {}
    }

    private func assign(in store: Store) async throws {
        let anna = try #require(PersonID("p_a"))
        let ben = try #require(PersonID("p_b"))
        let start = Timestamp(milliseconds: 1_792_000_000_000)
        #expect(
            try await store.addPerson(
                Person(
                    id: anna, name: "Anna Berg", sharesName: true,
                    zones: [ZoneStay(zone: "Asia/Kolkata", from: start)])))
        #expect(try await store.addPerson(Person(id: ben, name: "Ben")))
        let intervals = [
            Assignment(device: Self.device, person: ben, from: start, to: Self.change),
            Assignment(device: Self.device, person: anna, from: Self.change),
        ]
        for interval in intervals { #expect(try await store.assign(interval) == .done) }
        try await store.settle()
    }
}
