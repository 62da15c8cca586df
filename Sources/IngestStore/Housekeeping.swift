import IngestAPI

/// Looks through all devices from time to time: brings trends up to date that were left over, and lets old samples go.
final class Housekeeping: Sendable {
    private let task: Task<Void, Never>

    /// Devices read at once.
    private static let page = 500
    /// So many devices that fail one after the other are not at fault themselves.
    private static let mostFailures = 3

    init(
        _ roller: TrendRoller, retention: Retention, now: @escaping @Sendable () -> APITime,
        rests: DatabaseStorage.Rests
    ) {
        task = Task {
            await rests.start()
            // Servers that share a database and start together don't all look at the same devices.
            var tour = DeviceTour.anywhere()
            while !Task.isCancelled {
                do {
                    try await Self.round(&tour, roller, retention, now, rest: rests.device)
                    await rests.round()
                } catch {
                    await rests.failure()
                }
            }
        }
    }

    func close() async {
        task.cancel()
        await task.value
    }

    /// Once through all devices. One that fails waits for the next round; where the storage itself fails, the tour goes on from
    /// there when it is called again.
    static func round(
        _ tour: inout DeviceTour, _ roller: TrendRoller, _ retention: Retention,
        _ now: @Sendable () -> APITime, rest: @Sendable () async -> Void
    ) async throws(StorageFailure) {
        var failures = 0
        while !Task.isCancelled {
            let devices = try await roller.reader.perform { [tour] session throws(StorageFailure) in
                try session.rows(SQLCall(ServerStatement.devicesAfter, .bytes(tour.place), .int(page)))
                    .map { row throws(StorageFailure) in
                        DeviceKey(account: try row.text(0), name: try row.text(1))
                    }
            }
            for device in devices {
                guard !Task.isCancelled else { return }
                guard tour.pass(device.id) else { return }
                do {
                    _ = try await roller.roll(device)
                    // Also where trends wait for room: what goes makes some. Only days that are computed go.
                    try await expire(device, roller, retention, now())
                    failures = 0
                } catch {
                    // A device that can't be read must not keep the others waiting.
                    if error.kind != .defect, error.kind != .damaged { failures += 1 }
                    if failures == mostFailures {
                        tour.begin()
                        throw error
                    }
                }
                await rest()
            }
            if devices.count < page, !tour.wrap() { return }
        }
    }

    private static func expire(
        _ device: DeviceKey, _ roller: TrendRoller, _ retention: Retention, _ now: APITime
    ) async throws(StorageFailure) {
        while !Task.isCancelled {
            let turn = try await roller.reader.perform { session throws(StorageFailure) in
                try ExpiryTurn(device, retention, now: now, in: session)
            }
            guard let turn, try await roller.writers.perform(turn.job), !turn.isLast else { return }
        }
    }
}

/// A way through all devices in the order of their ids, from anywhere to the end and from the beginning to there.
struct DeviceTour: Equatable, Sendable {
    private var start: [UInt8]
    private var isPastEnd = false
    /// The device that was looked at last, or where one would be.
    private(set) var place: [UInt8]

    init(after place: [UInt8] = []) {
        start = place
        self.place = place
    }

    /// Ids are hashes: any place is as good as another.
    static func anywhere() -> Self { Self(after: (0..<16).map { _ in UInt8.random(in: 0...255) }) }

    /// A whole tour from here.
    mutating func begin() { self = Self(after: place) }

    /// False, and at the begin of the next tour, when this device was passed before.
    mutating func pass(_ device: [UInt8]) -> Bool {
        guard !isPastEnd || !start.lexicographicallyPrecedes(device) else {
            self = Self(after: start)
            return false
        }
        place = device
        return true
    }

    /// There is no device any more: on from the beginning. False, and at the begin of the next tour, when it came from there.
    mutating func wrap() -> Bool {
        guard !isPastEnd, !start.isEmpty else {
            self = Self(after: start)
            return false
        }
        (isPastEnd, place) = (true, [])
        return true
    }
}
