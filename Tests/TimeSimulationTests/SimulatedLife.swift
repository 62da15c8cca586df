import BandModel
import BandProfile
import GatewayModel
import Store
import Testing
import Timekeeping

/// A band and a gateway over some two weeks of simulated time: a clock that drifts by 50 ppm, a week away with a firmware
/// reset of the clock in the middle, and a gateway that boots in 1970 for its first ten minutes.
struct SimulatedLife {
    private static let minute: Int64 = 60_000
    private static let hour = 60 * minute
    private static let day = 24 * hour
    /// Between two records.
    private static let interval = 5 * minute

    private var random: SeededGenerator
    private var now: Int64
    private var band: SimulatedBand
    private var host: SimulatedHost
    private var store: Store
    private let directory: String
    private let device = DeviceID(Self.address)
    private static let address = BluetoothAddress(bits: 0xf0f1_f2f3_f4f5)

    init(seed: UInt64, directory: String) async throws {
        random = SeededGenerator(seed: seed)
        self.directory = directory
        // On a full interval, so that the band measures at a steady pace.
        now = 1_796_000_100_000 / Self.interval * Self.interval
        var options = SimulatedBandOptions(seed: seed, records: 12)
        options.recordIntervalMilliseconds = Self.interval
        options.driftPPM = Bool.random(using: &random) ? 50 : -50
        // Right, some hours off, or years.
        options.clockOffsetMilliseconds =
            [0, 7 * Self.hour, -20 * 365 * Self.day][Int.random(in: 0..<3, using: &random)]
        band = SimulatedBand(options, now: now)
        host = SimulatedHost(
            at: now, wallError: Int64.random(in: -40...40, using: &random), notBefore: Self.notBefore,
            hasBatteryClock: false)
        store = try Store.open(directory: directory) { Timestamp(milliseconds: 0) }
        try await store.adopt(
            address: Self.address, device: device, mode: .own, name: nil,
            configured: true)
    }

    private static let notBefore = Timestamp(milliseconds: 1_795_996_800_000)

    // MARK: the story

    mutating func run() async throws {
        try await note()
        let together = Int64.random(in: 20...60, using: &random)
        for _ in 0..<together / 3 {
            try await pass(Self.interval * Int64.random(in: 6...60, using: &random))
            if Int.random(in: 0..<20, using: &random) == 0 { resetBandClock() }
            try await sync()
        }
        try await awayForAWeek()
        try await bootIn1970()
        for _ in 0..<10 {
            try await pass(Self.interval * Int64.random(in: 3...30, using: &random))
            try await sync()
        }
        try await store.settle()
        try await store.close()
    }

    private mutating func awayForAWeek() async throws {
        let before = Int64.random(in: 1...6, using: &random) * Self.day / Self.interval * Self.interval
        try await pass(before)
        resetBandClock()
        // Now and then it restarts twice: the clock between is never read.
        if Int.random(in: 0..<3, using: &random) == 0 {
            try await pass(Self.interval * Int64.random(in: 1...200, using: &random))
            resetBandClock()
        }
        try await pass(max(Self.interval, 7 * Self.day - before))
    }

    private mutating func bootIn1970() async throws {
        host.boot(at: now, wall: 5_000, notBefore: Self.notBefore)
        try await note()
        try await pass(Self.interval)
        try await sync()
        if Bool.random(using: &random) { resetBandClock() }
        try await pass(Self.interval)
        try await sync()
        if Bool.random(using: &random) { try await reopen() }
        host.synchronise(error: Int64.random(in: -50...50, using: &random))
        try await note()
    }

    // MARK: what happens

    private mutating func pass(_ time: Int64) async throws {
        now += time
        band.record(Int(time / Self.interval), now: now)
    }

    private mutating func resetBandClock() {
        band.stepClock(by: Int64.random(in: -30 * Self.day...30 * Self.day, using: &random), now: now)
    }

    private mutating func note() async throws {
        if let anchor = host.anchor(at: now) { try await store.noteHostClock(anchor) }
    }

    /// The daemon is started again.
    private mutating func reopen() async throws {
        try await store.close()
        store = try Store.open(directory: directory) { Timestamp(milliseconds: 0) }
    }

    /// One connection: Info, Clock, and the whole stream.
    private mutating func sync() async throws {
        band.linkUp(mtu: 247)
        defer { band.linkDown() }
        let info = band.info()
        let progress = try await store.progress(of: device, info: info)
        let reading = readClock(info)
        band.enableNotifications(true)
        #expect(band.writeControlPoint(ControlPointCommand.sendFrom(progress.nextSeq).encoded) == nil)
        var through = progress.nextSeq - 1
        while case let bytes = band.nextNotifications(max: 16), !bytes.isEmpty {
            var records: [TimedRecord] = []
            for notification in bytes {
                guard case .samples(let clockID, let found) = try HistoryNotification(decoding: notification)
                else { continue }
                records += found.map { TimedRecord(record: $0, clockID: clockID) }
            }
            guard let last = records.last?.record.seq else { continue }
            through = last
            let chunk = Chunk(ring: info.ring, records: records, through: through)
            let outcome = try await store.commit(chunk, of: device, clock: reading)
            band.ack(Ack.encode(outcome.ackThrough))
        }
        #expect(through == info.newestSeq)
    }

    /// Somewhere within the round trip the band looked at its clock.
    private mutating func readClock(_ info: RingInfo) -> ClockReading {
        let trip = Int64.random(in: 20...400, using: &random)
        let clock = band.clock(now: now + Int64.random(in: 0...trip, using: &random))
        let after = host.stamp(at: now + trip)
        return ClockReading(
            clockID: clock.clockID, bandTimeMilliseconds: clock.timeMilliseconds,
            hostTime: Timestamp(milliseconds: after.wall.milliseconds - trip / 2),
            hostMonotonicMilliseconds: after.monotonic - trip / 2, bootID: after.bootID,
            boundMilliseconds: Int(trip / 2 + 1), bandSecondsSinceBoot: clock.secondsSinceBoot,
            hostTrust: after.trust, hostBoundMilliseconds: after.boundMilliseconds, newestSeq: info.newestSeq,
            newestAgeMilliseconds: 50)
    }

    // MARK: what came of it

    /// Every record that the band measured, with the sample that was published.
    func outcomes() throws -> [(truth: RecordedSample, sample: Sample?)] {
        var samples: [UInt32: Sample] = [:]
        try StoreReader(directory: directory).exportSamples { samples[$0.seq] = $0 }
        return band.everRecorded.map { ($0, samples[$0.record.seq]) }
    }
}
