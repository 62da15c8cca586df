import CommandLineText
import GatewayConfiguration
import GatewayModel
import Store

/// `bandferry recover`: only where there is something to recover from.
enum Recovery {
    struct Report {
        var json: JSONText
        var text: String
    }

    static func startEmpty(_ configuration: Configuration) throws -> Report {
        let directory = configuration.stateDirectory
        try LocalState.enter(directory)
        let lock = try StateDirectoryLock.acquire(directory: directory)
        defer { withExtendedLifetime(lock) {} }
        try refuseIfSound(directory)
        try StoreRecovery.startEmpty(directory: directory, now: .now)
        let json = ChangeText.recovered(in: directory, keptAs: nil, damagedTables: nil)
        let text = """
            A new, empty database is in \(directory). The damaged one stays beside it.
            What is lost is named in the gaps once the server and the bands have been asked.
            Next: systemctl start bandferryd

            """
        return Report(json: json, text: text)
    }

    static func salvage(_ configuration: Configuration) throws -> Report {
        let directory = configuration.stateDirectory
        try LocalState.enter(directory)
        let lock = try StateDirectoryLock.acquire(directory: directory)
        defer { withExtendedLifetime(lock) {} }
        try refuseIfSound(directory)
        guard let report = try StoreRecovery.salvage(directory: directory, now: .now) else {
            throw Failure(
                .failed,
                "Nothing can be read of the damaged database in \(directory).\n"
                    + "What to do: restore gateway.db from a backup, or run `bandferry recover --start-empty`."
            )
        }
        let json = ChangeText.recovered(
            in: directory, keptAs: report.keptAs, damagedTables: report.damagedTables)
        let text = """
            \(report.problem.text)
            \(report.damagedTables.isEmpty ? "No table was damaged." : "Damaged: \(report.damagedTables.joined(separator: ", ")).")
            The damaged database stays beside it as \(report.keptAs).
            Next: systemctl start bandferryd

            """
        return Report(json: json, text: text)
    }

    private static func refuseIfSound(_ directory: String) throws {
        do throws(StoreError) {
            let reader = try StoreReader(directory: directory)
            _ = try reader.status()
            guard try reader.isSound() else { return }
        } catch {
            switch error.kind {
            case .corrupt: return
            default: throw error
            }
        }
        throw Failure(
            .failed,
            "The database in \(directory) is sound: there is nothing to recover.\n"
                + "What to do: bandferry status says what is wrong, if anything is.")
    }
}
