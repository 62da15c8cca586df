import Dispatch

/// Calls that block, away from Swift's shared pool.
enum BlockingWork {
    static func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws(StorageFailure) -> Value
    ) async throws(StorageFailure) -> Value {
        let result: Result<Value, StorageFailure> = await withCheckedContinuation { continuation in
            DispatchQueue.global().async { @Sendable in continuation.resume(returning: Result(catching: body))
            }
        }
        return try result.get()
    }
}
