/// Computes touched days anew and stores them, a bounded number at a time.
struct TrendRoller: Sendable {
    /// Of one device at a time.
    private static let daysAtOnce = 32
    /// A device that is touched again and again while it is computed has its turn again later.
    private static let attempts = 3

    let reader: ReadPool
    let writers: WritePool

    /// Brings the stored trends of a device up to date. False = it could not, for now.
    func roll(_ device: DeviceKey) async throws(StorageFailure) -> Bool {
        var failures = 0
        while failures < Self.attempts, !Task.isCancelled {
            // What can be computed again must not take the room that samples need.
            guard await writers.hasRoom(for: device) else { return false }
            let turn = try await reader.perform { session throws(StorageFailure) in
                try TrendTurn(device, days: Self.daysAtOnce, in: session)
            }
            guard let turn else { return true }
            if try await writers.perform(turn.job) {
                if turn.isLast { return true }
            } else {
                failures += 1
            }
        }
        return false
    }

    /// Brings those of some devices up to date together: read on one snapshot, and committed in as few groups as the
    /// writers make of them. What fails stays touched.
    func roll(_ devices: [DeviceKey]) async {
        var ready: [DeviceKey] = []
        for device in devices where await writers.hasRoom(for: device) { ready.append(device) }
        let turns = try? await reader.perform { [ready] session in
            ready.map { device in
                // A device that can't be read must not keep the others waiting.
                (device, try? TrendTurn(device, days: Self.daysAtOnce, in: session))
            }
        }
        let unfinished = await withTaskGroup(of: DeviceKey?.self) { group in
            for case (let device, let turn?) in turns ?? [] {
                group.addTask {
                    let isStored = try? await writers.perform(turn.job)
                    return isStored == false || isStored == true && !turn.isLast ? device : nil
                }
            }
            return await group.reduce(into: [DeviceKey]()) { list, device in
                if let device { list.append(device) }
            }
        }
        for device in unfinished { _ = try? await roll(device) }
    }
}
