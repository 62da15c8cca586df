extension DatabaseStorage {
    public func probe() async throws(StorageFailure) {
        // A log may have room that was taken before the disk filled up: a small write alone proves little.
        if let free = engine.freeBytes, free < RoomDoubt.proof {
            throw StorageFailure(.unavailable, "under 1 MiB is free where \(engine.name) lies")
        }
        try await writers.probe()
    }
}

extension WritePool {
    /// Returns while each connection can write: a device's requests all go to the same one.
    ///
    /// One after the other: all of them write the same row.
    func probe() async throws(StorageFailure) {
        let asked = ContinuousClock.now
        for queue in queues { try await queue.probe(asked: asked) }
    }

    /// Whether what can be computed again may be written for the device: it must not take the room that samples need.
    func hasRoom(for device: DeviceKey) async -> Bool { await queue(for: device).hasRoom() }
}

extension WriteQueue {
    /// A success younger than this answers for the next one: anybody may ask, and each answer costs a sync.
    private static let freshness = Duration.milliseconds(250)

    /// Returns when something was written durably a moment ago.
    func probe(asked: ContinuousClock.Instant) async throws(StorageFailure) {
        if room.isDoubtful { return try await proveRoom(asked) }
        if let lastSuccess, .now - lastSuccess < Self.freshness { return }
        try await write(padding: 0, asked)
    }

    /// Proves it where it is in doubt, now and then.
    func hasRoom() async -> Bool {
        guard room.isDoubtful else { return true }
        guard room.mayProve(at: .now) else { return false }
        do {
            try await proveRoom(.now)
        } catch {
            return false
        }
        return !room.isDoubtful
    }

    private func proveRoom(_ asked: ContinuousClock.Instant) async throws(StorageFailure) {
        try await write(padding: RoomDoubt.proof, asked)
        try await write(padding: 0, asked)
    }

    private func write(padding count: Int, _ asked: ContinuousClock.Instant) async throws(StorageFailure) {
        let padding = count > 0 ? [UInt8](repeating: 0, count: count) : nil
        let call = SQLCall(ServerStatement.probe, .int(WallClock.now().milliseconds), .optional(padding))
        // Alone: requests that fit must not fail with it.
        let job = WriteJob<Void>(goesAlone: true) { _, _ in Decision(value: (), writes: [call]) }
        try await perform(job, asked: asked)
    }
}
