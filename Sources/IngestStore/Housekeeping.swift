import IngestAPI

/// Looks through all devices from time to time: brings trends up to date that were left over, and lets old samples go.
final class Housekeeping: Sendable {
    private let task: Task<Void, Never>

    /// Accounts read at once.
    private static let page: Int64 = 100

    init(
        _ roller: TrendRoller, retention: Retention, now: @escaping @Sendable () -> APITime,
        rests: DatabaseStorage.Rests
    ) {
        task = Task {
            await rests.start()
            while !Task.isCancelled {
                // What fails now is tried again in the next round.
                try? await Self.round(roller, retention, now, rest: rests.device)
                await rests.round()
            }
        }
    }

    func close() async {
        task.cancel()
        await task.value
    }

    /// Once through all accounts and their devices.
    static func round(
        _ roller: TrendRoller, _ retention: Retention, _ now: @Sendable () -> APITime,
        rest: @Sendable () async -> Void
    ) async throws(StorageFailure) {
        var account = ""
        while !Task.isCancelled {
            let accounts = try await roller.reader.perform { [account] session throws(StorageFailure) in
                try session.rows(SQLCall(ServerStatement.accountsAfter, .text(account), .int(page)))
                    .map { row throws(StorageFailure) in try row.text(0) }
            }
            guard let last = accounts.last else { return }
            account = last
            for account in accounts {
                let devices = try await roller.reader.perform { session throws(StorageFailure) in
                    try session.rows(SQLCall(AccountStatement.devices, .text(account)))
                        .map { row throws(StorageFailure) in
                            DeviceKey(account: account, name: try row.text(0))
                        }
                }
                for device in devices {
                    guard !Task.isCancelled else { return }
                    // A device that can't be read must not keep the others waiting.
                    do {
                        _ = try await roller.roll(device)
                        // Also where trends wait for room: what goes makes some. Only days that are computed go.
                        try await expire(device, roller, retention, now())
                    } catch {
                        guard error.kind == .defect || error.kind == .damaged else { throw error }
                    }
                    await rest()
                }
            }
        }
    }

    private static func expire(
        _ device: DeviceKey, _ roller: TrendRoller, _ retention: Retention, _ now: APITime
    ) async throws(StorageFailure) {
        while !Task.isCancelled {
            let turn = try await roller.reader.perform { session throws(StorageFailure) in
                try ExpiryTurn(device, retention, now: now, in: session)
            }
            guard let turn, try await roller.writers.perform(turn.job), !turn.isLast else { return }
        }
    }
}
