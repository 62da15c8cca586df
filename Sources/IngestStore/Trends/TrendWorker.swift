import Locking

/// Brings stored trends up to date, a while after samples changed.
///
/// Nothing waits for it: whoever reads a trend computes what is touched from the samples. It rests between
/// bursts, so that many uploads for one day cost one computation, and so that uploads keep most of the machine.
final class TrendWorker: Sendable {
    /// One burst ends after the first devices past it.
    private static let budget = Duration.milliseconds(250)
    /// Devices whose days are computed on one snapshot and stored together.
    private static let together = 32
    /// More devices than these are not remembered: their turn comes when they are touched again, or looked through.
    private static let mostDevices = 65_536

    private let wakes: AsyncStream<Void>.Continuation
    private let waiting: Guarded<DeviceLine>
    private let task: Task<Void, Never>

    /// Devices that wait, each once, in order.
    private struct DeviceLine {
        private var devices: [DeviceKey] = []
        private var begin = 0
        private var known: Set<DeviceKey> = []

        var count: Int { devices.count - begin }

        mutating func append(_ device: DeviceKey) {
            guard known.count < TrendWorker.mostDevices, known.insert(device).inserted else { return }
            devices.append(device)
        }

        mutating func take(_ most: Int) -> [DeviceKey] {
            let taken = devices[begin...].prefix(most)
            begin += taken.count
            for device in taken { known.remove(device) }
            // What is taken goes when there is more of it than of what waits.
            if begin > devices.count / 2 {
                devices.removeFirst(begin)
                begin = 0
            }
            return Array(taken)
        }
    }

    /// `rest` may return early when its task is cancelled.
    init(
        _ roller: TrendRoller, now: @escaping @Sendable () -> ContinuousClock.Instant,
        rest: @escaping @Sendable (Duration) async -> Void
    ) {
        // Any number of wakes while it works are one.
        let (stream, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let waiting = Guarded(DeviceLine())
        wakes = continuation
        self.waiting = waiting
        task = Task {
            var pace = TrendPace()
            for await _ in stream {
                repeat {
                    await rest(pace.rest(waiting: waiting.withLock { $0.count }, at: now()))
                    let begin = now()
                    await Self.burst(roller, waiting, from: begin, now)
                    pace.worked(from: begin, to: now())
                } while !Task.isCancelled && waiting.withLock { $0.count } > 0
            }
        }
    }

    private static func burst(
        _ roller: TrendRoller, _ waiting: Guarded<DeviceLine>, from begin: ContinuousClock.Instant,
        _ now: @Sendable () -> ContinuousClock.Instant
    ) async {
        repeat {
            let devices = waiting.withLock { $0.take(together) }
            guard !devices.isEmpty else { return }
            await roller.roll(devices)
        } while !Task.isCancelled && begin.duration(to: now()) < budget
    }

    /// Days of the device may have been touched.
    func wake(_ device: DeviceKey) {
        waiting.withLock { $0.append(device) }
        wakes.yield()
    }

    /// Ends what it is at. What is still touched stays so.
    func close() async {
        wakes.finish()
        task.cancel()
        await task.value
    }
}

/// How long the worker rests, so that it never works more than half of the time.
struct TrendPace {
    /// The last burst, which may have taken any time: its devices have as many days as they have, on disks of all kinds.
    private var last: (end: ContinuousClock.Instant, took: Duration)?

    mutating func worked(from begin: ContinuousClock.Instant, to end: ContinuousClock.Instant) {
        last = (end, end - begin)
    }

    /// Before a burst that could begin now: as long as the last took since it ended, at least. After a short one it works a
    /// quarter of the time while few devices wait, and half of it when a thousand do.
    func rest(waiting: Int, at now: ContinuousClock.Instant) -> Duration {
        let (longest, shortest, many) = (750, 250, 1000)
        let usual = Duration.milliseconds(longest - (longest - shortest) * min(waiting, many) / many)
        return last.map { max(usual, $0.took - (now - $0.end)) } ?? usual
    }
}
