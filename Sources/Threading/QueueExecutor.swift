import Dispatch

/// A serial dispatch queue as an actor's executor: its blocking calls never take a thread of Swift's shared pool, and C
/// callbacks on the queue are on the actor.
///
/// Unchecked only because Dispatch does not say in every version that a key may be shared.
public final class QueueExecutor: SerialExecutor, @unchecked Sendable {
    public let queue: DispatchQueue
    private let key = DispatchSpecificKey<Bool>()

    public init(label: String) {
        queue = DispatchQueue(label: label)
        queue.setSpecific(key: key, value: true)
    }

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    public func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }

    /// True when the calling code runs on the queue.
    public var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }
}
