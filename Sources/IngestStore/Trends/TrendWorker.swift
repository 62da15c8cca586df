import Locking

/// Brings stored trends up to date, a while after samples changed.
///
/// Nothing waits for it: whoever reads a trend computes what is touched from the samples. It rests between
/// bursts, so that many uploads for one day cost one computation, and so that uploads keep most of the machine.
final class TrendWorker: Sendable {
    /// One burst ends after the first device past it.
    private static let budget = Duration.milliseconds(250)
    /// More devices than these are not remembered: their turn comes when they are touched again, or looked through.
    private static let mostDevices = 10_000

    private let wakes: AsyncStream<Void>.Continuation
    private let waiting: Guarded<DeviceLine>
    private let task: Task<Void, Never>

    /// Devices that wait, each once, in order.
    private struct DeviceLine {
        private var devices: [DeviceKey] = []
        private var known: Set<DeviceKey> = []

        mutating func append(_ device: DeviceKey) {
            guard known.count < TrendWorker.mostDevices, known.insert(device).inserted else { return }
            devices.append(device)
        }

        mutating func takeAll() -> [DeviceKey] {
            defer { self = DeviceLine() }
            return devices
        }
    }

    /// `rest` may return early when its task is cancelled.
    init(_ roller: TrendRoller, rest: @escaping @Sendable () async -> Void) {
        // Any number of wakes while it works are one.
        let (stream, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let waiting = Guarded(DeviceLine())
        wakes = continuation
        self.waiting = waiting
        task = Task {
            for await _ in stream {
                await rest()
                var begin = ContinuousClock.now
                for device in waiting.withLock({ $0.takeAll() }) {
                    // What fails here is not lost: it stays touched, and answers are computed from samples.
                    _ = try? await roller.roll(device)
                    guard !Task.isCancelled else { return }
                    if begin.duration(to: .now) > Self.budget {
                        await rest()
                        begin = .now
                    }
                }
            }
        }
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

    /// With bursts of a quarter of a second, a quarter of a core at most.
    static let standardRest: @Sendable () async -> Void = { try? await Task.sleep(for: .milliseconds(750)) }
}
