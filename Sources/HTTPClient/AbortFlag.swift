import Synchronization

/// Raised from any thread, ends the request that runs and every later one. Never lowered.
public final class AbortFlag: Sendable {
    private let raised = Atomic<Bool>(false)

    public init() {}

    public func raise() { raised.store(true, ordering: .releasing) }

    public var isRaised: Bool { raised.load(ordering: .acquiring) }
}
