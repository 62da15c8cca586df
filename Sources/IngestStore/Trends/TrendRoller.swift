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
}
