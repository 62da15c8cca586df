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

    /// The records are of the 50 seconds after `start`, seconds since 1970. With `people`, Ben wore the band until the
    /// very moment of record 30, and Anna since.
    func fill(people: Bool = false, start: UInt32 = 1_793_000_000) async throws {
        let records = (UInt32(11)...50).map { seq in
            HistoryRecord(
                seq: seq, seconds: start + seq, offsetQuarterHours: 22, type: seq % 2 == 0 ? 1 : 2,
                value: Int16(seq))
        }
        try await keep(records, readAt: start) { store in
            if people { try await assign(in: store, start: Int64(start) * 1000) }
        }
    }

    /// Stores records of one clock, which was read at `readAt` and is a second slow; all records below are a gap.
    func keep(
        _ records: [HistoryRecord], readAt: UInt32, then body: (Store) async throws -> Void = { _ in }
    ) async throws {
        let lock = try StateDirectoryLock.acquire(directory: state)
        let store = try Store.open(directory: state, now: { Timestamp(milliseconds: 1_793_100_000_000) })
        try await store.adopt(
            address: Self.address, device: Self.device, mode: .own, name: "Anna", configured: false)
        let first = try #require(records.first?.seq)
        let last = try #require(records.last?.seq)
        let gap = Gap(ring: Self.ring, firstSeq: 1, lastSeq: first - 1, cause: .overwritten)
        let bandTime = Int64(readAt) * 1000
        let clock = ClockReading(
            clockID: 3, bandTimeMilliseconds: bandTime, hostTime: Timestamp(milliseconds: bandTime + 1000),
            hostMonotonicMilliseconds: 5, bootID: "b", boundMilliseconds: 20, bandSecondsSinceBoot: 9)
        let chunk = Chunk(
            ring: Self.ring, records: records.map { TimedRecord(record: $0, clockID: 3) }, gaps: [gap],
            through: last)
        _ = try await store.commit(chunk, of: Self.device, clock: clock)
        try await body(store)
        try await store.close()
        withExtendedLifetime(lock) {}
    }

    private func assign(in store: Store, start: Int64) async throws {
        let anna = try #require(PersonID("p_a"))
        let ben = try #require(PersonID("p_b"))
        let before = Timestamp(milliseconds: start - 1_000_000_000)
        let change = Timestamp(milliseconds: start + 31_000)
        #expect(
            try await store.addPerson(
                Person(
                    id: anna, name: "Anna Berg", sharesName: true,
                    zones: [ZoneStay(zone: "Asia/Kolkata", from: before)])))
        #expect(try await store.addPerson(Person(id: ben, name: "Ben")))
        let intervals = [
            Assignment(device: Self.device, person: ben, from: before, to: change),
            Assignment(device: Self.device, person: anna, from: change),
        ]
        for interval in intervals { #expect(try await store.assign(interval) == .done) }
        try await store.settle()
    }
}
