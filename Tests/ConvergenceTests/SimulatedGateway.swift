import BandProfile
import Dispatch
import Foundation
import GatewayModel
import HTTPClient
import PowercutVFS
import Timekeeping
import UploadDecisions

@testable import Store
@testable import Uplink

/// A gateway's store, outbox and upload, with clocks of its own, on a disk that forgets what was not synced.
final class SimulatedGateway: @unchecked Sendable {
    static let address = BluetoothAddress(bits: 0xf0f1_f2f3_f4f5)
    static let device = DeviceID(address)
    private static let vfs = "powercut"
    private static let files = ["gateway.db", "gateway.db-wal"]

    let name: String
    private(set) var directory: Directory
    private var backup: Directory?
    private(set) var store: Store
    private(set) var host: SimulatedHost
    private let time: TrueTime
    private let server: SimulatedServer
    private let token: Directory
    private var worker: UploadWorker
    private let marked = Locked(false)
    private let queue: DispatchQueue
    private let seeds: Locked<SeededRandom>
    let events = Locked<[UploadEvent]>([])

    init(name: String, time: TrueTime, server: SimulatedServer, random: SeededRandom, host: SimulatedHost)
        async throws
    {
        _ = powercut_register()
        self.name = name
        self.time = time
        self.server = server
        self.host = host
        queue = DispatchQueue(label: "upload-\(name)")
        directory = try Directory()
        token = try Directory()
        _ = FileManager.default.createFile(
            atPath: token.path + "/token", contents: Data(SimulatedServer.token.utf8),
            attributes: [.posixPermissions: 0o600])
        seeds = Locked(random)
        store = try Self.open(directory, time: time)
        worker = Self.makeWorker(directory, time, server, token, seeds, marked, events)
        try await store.adopt(
            address: Self.address, device: Self.device, mode: .observe, name: nil, configured: true)
    }

    private static func open(_ directory: Directory, time: TrueTime) throws -> Store {
        try Store.open(
            directory: directory.path, vfs: vfs,
            zones: { zone, _ in zone.split(separator: "/").last.flatMap { Int($0) } },
            now: { Timestamp(milliseconds: time.now) })
    }

    private static func makeWorker(
        _ directory: Directory, _ time: TrueTime, _ server: SimulatedServer, _ token: Directory,
        _ seeds: Locked<SeededRandom>, _ marked: Locked<Bool>, _ events: Locked<[UploadEvent]>
    ) -> UploadWorker {
        var intervals = UploadIntervals(idle: .seconds(3600), report: .seconds(3600))
        intervals.limits.batchSize = 60
        intervals.limits.backOff = .init(first: .seconds(60), longest: .seconds(600))
        let settings = UploadSettings(
            url: "http://server", tokenFile: token.path + "/token", intervals: intervals)
        let path = directory.path
        return UploadWorker(
            settings: settings,
            server: UploadServer(
                url: "http://server", transport: server, deadlines: HTTPDeadlines(),
                date: ServerDate(url: "http://server", clock: time) { _, _, _ in }),
            clock: time, random: InjectedRandom { seeds.change { $0.next() } },
            board: UploadBoard(log: { event in events.change { $0.append(event) } }),
            openOutbox: {
                StoreOutbox(
                    try Outbox(directory: path, vfs: vfs, now: { Timestamp(milliseconds: time.now) }))
            },
            hooks: UploadHooks(storeMarked: { marked.change { $0 = true } }))
    }

    // MARK: what happens to it

    /// Somebody copies the card.
    func backUp() throws { backup = try directory.copy(Self.files) }

    /// A power cut; it boots with a clock that it can believe or not. `fromBackup`: with the card of long ago.
    func crash(host: SimulatedHost, fromBackup: Bool = false) throws {
        directory = try (fromBackup ? backup ?? directory : directory).copy(Self.files)
        store = try Self.open(directory, time: time)
        self.host = host
        marked.change { $0 = false }
        worker = Self.makeWorker(directory, time, server, token, seeds, marked, events)
    }

    func change(host: (inout SimulatedHost) -> Void) async throws {
        host(&self.host)
        if let stamp = self.host.anchor(at: time.now) { try await store.noteHostClock(stamp) }
        try await store.settle()
    }

    /// At most so many steps of the upload, whose waits pass at once up to `time`. Returns whether it came to rest.
    @discardableResult
    func upload(steps: Int, passing limit: Duration) async throws -> Bool {
        var passed = Duration.zero
        for _ in 0..<steps {
            let wait = await withCheckedContinuation { continuation in
                queue.async { continuation.resume(returning: self.worker.step(wasWoken: false)) }
            }
            if marked.change({ marked in
                defer { marked = false }; return marked
            }) {
                try await store.takeUpMarks()
                try await store.settle()
            }
            guard wait > .zero else { continue }
            guard passed < limit else { return true }
            passed += wait
            time.advance(Int64(wait / .milliseconds(1)) + 1)
        }
        return false
    }

    // MARK: what it has

    func rows() throws -> [RowKey: Row] {
        var rows: [RowKey: Row] = [:]
        try StoreReader(directory: directory.path, vfs: Self.vfs).exportSamples { sample in
            var person: String?
            if case .person(let id) = sample.wearer { person = id.text }
            rows[RowKey(ring: sample.ring.description, type: sample.type.name, seq: sample.seq)] = Row(
                value: sample.value, bandTime: sample.bandTimeMilliseconds, clockID: sample.clockID,
                flags: sample.flags, recordedAt: sample.recordedAt.milliseconds,
                bound: sample.timeBoundMilliseconds,
                isUncertain: sample.timeUncertain, offset: sample.offsetMinutes, person: person,
                version: sample.version)
        }
        return rows
    }

    func assignments() throws -> [Assignment] {
        try StoreReader(directory: directory.path, vfs: Self.vfs).assignments()
    }

    func pending() throws -> Int {
        try Outbox(directory: directory.path, vfs: Self.vfs, now: { Timestamp(milliseconds: 0) })
            .pendingCount()
    }
}

extension SimulatedGateway {
    /// What this gateway would say of its samples if nobody else were there, and what it has.
    struct Opinion {
        var seq: UInt32
        var published: DerivedFields
        var fresh: TimeEstimate
        var isClockBroken: Bool
        /// Who wore the band, by the assignments here, at the published time.
        var verdict: WearerVerdict
        /// An assignment that was taken back covers the sample.
        var wasWithdrawn: Bool
    }

    func opinions() async throws -> [Opinion] {
        try await store.read("derive") { engine in
            var opinions: [Opinion] = []
            let rings = try engine.database.all("SELECT id FROM rings") { $0.int64(0) }
            for ring in rings {
                guard let context = try engine.context(ofRing: ring) else { continue }
                let derivation = context.derivation
                try engine.database.query(
                    """
                    SELECT key, band_time, clock_id, recorded_at, time_bound, time_uncertain, person FROM samples
                    WHERE key >> 40 = ?
                    """, .integer(ring)
                ) { row in
                    let seq = SampleKey(packed: row.int64(0)).seq
                    let clockID = UInt16(row.int64(2))
                    var fields = DerivedFields(
                        recordedAt: row.int64(3), bound: row.optionalInt64(4), isUncertain: row.bool(5))
                    fields.wearer = try context.verdict(row.optionalInt64(6))
                    let low = fields.bound.map { fields.recordedAt - $0 } ?? .min
                    let high = fields.bound.map { fields.recordedAt + $0 } ?? .max
                    opinions.append(
                        Opinion(
                            seq: seq, published: fields,
                            fresh: try context.estimate(seq: seq, bandTime: row.int64(1), clockID: clockID),
                            isClockBroken: try context.isBroken(clockID),
                            verdict: derivation.wearers.wearer(at: fields.recordedAt, bound: fields.bound),
                            wasWithdrawn: derivation.withdrawn.contains {
                                $0.from.milliseconds <= high && ($0.to?.milliseconds ?? .max) > low
                            }))
                }
            }
            return opinions
        }
    }
}
