extension DatabaseStorage {
    /// A success younger than this answers for the next one: anybody may ask, and each answer costs a sync.
    private static let freshness = Duration.milliseconds(250)
    /// Room for one full batch.
    private static let leastFreeBytes: UInt64 = 1 << 20

    public func probe() async throws(StorageFailure) {
        // A log may have room that was taken before the disk filled up: a small write alone proves little.
        if let free = engine.freeBytes, free < Self.leastFreeBytes {
            throw StorageFailure(.unavailable, "under 1 MiB is free where \(engine.name) lies")
        }
        let writer = writers.first
        guard await !writer.roomIsInDoubt else {
            try await write(padding: Int(Self.leastFreeBytes))
            try await write(padding: nil)
            return
        }
        if let age = await writer.sinceLastSuccess(), age < Self.freshness { return }
        try await write(padding: nil)
    }

    private func write(padding: Int?) async throws(StorageFailure) {
        let bytes = padding.map { [UInt8](repeating: 0, count: $0) }
        let call = SQLCall(ServerStatement.probe, .int(now().milliseconds), .optional(bytes))
        let job = WriteJob<Void>(provesRoom: padding != nil) { _, _ in Decision(value: (), writes: [call]) }
        try await writers.first.perform(job)
    }
}
