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
    /// A success younger than this answers for the next one: each answer costs a sync.
    private static let freshness = Duration.milliseconds(250)

    /// Returns when something was written durably a moment ago. However many ask at once, it is written once.
    nonisolated func probe(asked: ContinuousClock.Instant) async throws(StorageFailure) {
        try await probes.outcome { () async throws(StorageFailure) in try await self.find(asked) }
    }

    private func find(_ asked: ContinuousClock.Instant) async throws(StorageFailure) {
        guard room.isDoubtful else {
            if let lastSuccess, .now - lastSuccess < Self.freshness { return }
            return try await write(padding: 0, asked)
        }
        if let failedProof, .now - failedProof.at < proofLasts { throw failedProof.failure }
        do {
            try await write(padding: RoomDoubt.proof, asked)
            try await write(padding: 0, asked)
        } catch {
            failedProof = (.now, error)
            throw error
        }
    }

    /// Proves it where it is in doubt, now and then.
    func hasRoom() async -> Bool {
        guard room.isDoubtful else { return true }
        guard room.mayProve(at: .now) else { return false }
        do {
            try await probe(asked: .now)
        } catch {
            return false
        }
        return !room.isDoubtful
    }

    private func write(padding count: Int, _ asked: ContinuousClock.Instant) async throws(StorageFailure) {
        // Alone: requests that fit must not fail with it. The padding is made when it is written, not while it waits.
        let job = WriteJob<Void>(goesAlone: true) { _, _ in
            let padding = count > 0 ? [UInt8](repeating: 0, count: count) : nil
            let call = SQLCall(
                ServerStatement.probe, .int(WallClock.now().milliseconds), .optional(padding))
            return Decision(value: (), writes: [call])
        }
        try await perform(job, asked: asked)
    }
}
