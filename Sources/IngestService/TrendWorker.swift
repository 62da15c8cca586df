/// Brings stored trends up to date, a while after samples changed.
///
/// Nothing waits for it: whoever reads a trend computes what is touched from the samples. It rests between
/// bursts, so that many uploads for one day cost one computation, and so that uploads keep most of the machine.
final class TrendWorker: Sendable {
    private let wakes: AsyncStream<Void>.Continuation
    private let task: Task<Void, Never>

    /// Starts at once with what was left from before. `rest` may return early when its task is cancelled.
    init(_ roller: TrendRoller, rest: @escaping @Sendable () async -> Void) {
        // Any number of wakes while it works are one.
        let (stream, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        wakes = continuation
        task = Task {
            for await _ in stream {
                // Until a lap finds nothing.
                repeat {
                    await rest()
                } while await roller.burst()
            }
        }
        wake()
    }

    /// Days may have been touched.
    func wake() { wakes.yield() }

    /// Ends what it is at. What is still touched stays so.
    func close() async {
        wakes.finish()
        task.cancel()
        await task.value
    }

    /// With bursts of `TrendRoller.budget`, a quarter of a core at most.
    static let standardRest: @Sendable () async -> Void = {
        try? await Task.sleep(for: .milliseconds(750))
    }
}
