import BandProfile
import Foundation
import GatewayModel
import PowercutVFS

@testable import Store

/// A state directory of one test's own with one adopted band, on the power-cut VFS.
final class StoreFixture {
    static let device = DeviceID(address)
    static let address = BluetoothAddress(bits: 0xf0f1_f2f3_f4f5)
    static let ring = RingID(rawValue: 0xb5e5_d00d)
    /// Band time of seq 0: 2026-10-27, by a clock that is a day behind.
    static let bandStart: UInt32 = 1_793_000_000
    static let offset: Int64 = 86_400_000
    static let vfs = "powercut"

    let directory: String
    let clock = FakeWallClock()

    init() throws {
        _ = powercut_register()
        directory = NSTemporaryDirectory() + "bandferry-store-" + UUID().uuidString
    }

    deinit {
        chmod(directory, 0o700)
        try? FileManager.default.removeItem(atPath: directory)
    }

    func open() throws -> Store {
        let clock = clock
        return try Store.open(
            directory: directory, vfs: Self.vfs, zones: Self.zoneOffset, now: { clock.now })
    }

    /// Two zones that move their clocks at no time.
    @Sendable static func zoneOffset(_ zone: String, _ time: Timestamp) -> Int? {
        ["Asia/Kolkata": 330, "Etc/GMT-1": 60][zone]
    }

    /// Opened, with the band adopted.
    func openWithBand() async throws -> Store {
        let store = try open()
        try await store.adopt(
            address: Self.address, device: Self.device, mode: .own, name: "Band", configured: true)
        return store
    }

    func outbox() throws -> Outbox {
        let clock = clock
        return try Outbox(directory: directory, vfs: Self.vfs, now: { clock.now })
    }

    func reader() throws -> StoreReader { try StoreReader(directory: directory, vfs: Self.vfs) }

    /// What the disk would hold after a power cut now, in a directory of its own. A connection may be about to close on another
    /// thread: its log must not go between the copies.
    func imageAfterPowerCut() throws -> StoreFixture {
        let image = try StoreFixture()
        try FileManager.default.createDirectory(
            atPath: image.directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700]
        )
        powercut_stop_disk(directory)
        defer { powercut_resume_disk(directory) }
        for suffix in ["", "-wal", ".made"]
        where FileManager.default.fileExists(atPath: databasePath + suffix) {
            try FileManager.default.copyItem(
                atPath: databasePath + suffix, toPath: image.databasePath + suffix)
        }
        return image
    }

    var databasePath: String { directory + "/gateway.db" }
    func path(_ name: String) -> String { directory + "/" + name }
    var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? [] }

    func samples() throws -> [Sample] {
        var all: [Sample] = []
        try reader().exportSamples { all.append($0) }
        return all
    }

    func gaps() throws -> [Gap] { try reader().gaps().map(\.gap) }
}

/// Wall-clock time that a test moves.
final class FakeWallClock: @unchecked Sendable {
    private let lock = NSLock()
    private var milliseconds: Int64 = 1_793_100_000_000

    var now: Timestamp {
        lock.lock()
        defer { lock.unlock() }
        return Timestamp(milliseconds: milliseconds)
    }

    func advance(milliseconds more: Int64) {
        lock.lock()
        milliseconds += more
        lock.unlock()
    }
}

// MARK: Builders

func record(
    _ seq: UInt32, type: SampleType = .heartRate, value: Int16? = nil, offset: Int8 = 22, flags: UInt8 = 1
) -> HistoryRecord {
    HistoryRecord(
        seq: seq, seconds: StoreFixture.bandStart + seq * 60, milliseconds: 250, offsetQuarterHours: offset,
        type: type.rawValue, value: value ?? Int16(60 + seq % 40), flags: flags)
}

func faulty(_ seq: UInt32) -> HistoryRecord {
    HistoryRecord(seq: seq, seconds: StoreFixture.bandStart + seq * 60, type: 99, value: 1)
}

func chunk(
    _ seqs: ClosedRange<UInt32>, clockID: UInt16 = 3, gaps: [Gap] = [], questions: [SuspectedGap] = [],
    raw: [RawNotification] = [], ring: RingID = StoreFixture.ring
) -> Chunk {
    chunk(
        seqs.map { record($0) }, clockID: clockID, gaps: gaps, questions: questions, raw: raw,
        through: seqs.upperBound, ring: ring)
}

func chunk(
    _ records: [HistoryRecord], clockID: UInt16 = 3, gaps: [Gap] = [], questions: [SuspectedGap] = [],
    raw: [RawNotification] = [], through: UInt32, ring: RingID = StoreFixture.ring
) -> Chunk {
    Chunk(
        ring: ring, records: records.map { TimedRecord(record: $0, clockID: clockID) }, gaps: gaps,
        openQuestions: questions, raw: raw, through: through)
}

func reading(_ clockID: UInt16 = 3, offset: Int64 = StoreFixture.offset, bound: Int = 40) -> ClockReading {
    let bandTime = Int64(StoreFixture.bandStart) * 1000 + Int64(clockID) * 1_000_000
    return ClockReading(
        clockID: clockID, bandTimeMilliseconds: bandTime,
        hostTime: Timestamp(milliseconds: bandTime + offset),
        hostMonotonicMilliseconds: 5_000, bootID: "boot", boundMilliseconds: bound, bandSecondsSinceBoot: 100)
}

func gap(_ first: UInt32, _ last: UInt32?, _ cause: GapCause = .lostByBand) -> Gap {
    Gap(ring: StoreFixture.ring, firstSeq: first, lastSeq: last, cause: cause)
}

func suspect(
    _ first: UInt32, _ last: UInt32?, _ cause: GapCause = .overwritten, ring: RingID = StoreFixture.ring
) -> SuspectedGap {
    SuspectedGap(ring: ring, firstSeq: first, lastSeq: last, cause: cause)
}

func info(
    _ oldest: UInt32, _ newest: UInt32, ring: RingID = StoreFixture.ring, formatCount: UInt16 = 1
) -> RingInfo {
    RingInfo(
        clockID: 3, formatCount: formatCount, window: 64, ring: ring, oldestSeq: oldest, newestSeq: newest,
        capacity: 10_000)
}

func isStoreError(_ kind: StoreError.Kind, _ body: () async throws -> Void) async -> Bool {
    do {
        try await body()
        return false
    } catch {
        return (error as? StoreError)?.kind == kind
    }
}

extension Outbox {
    /// In the order of their seqs, for a device of one ring.
    func unsent(_ device: DeviceID, limit: Int = 500) throws -> [Gap] {
        try unsentGaps(device, limit: limit).map(\.gap).reversed()
    }
}
