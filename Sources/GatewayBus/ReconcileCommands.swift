import GatewayModel

/// What people ask about agreement with the server. Failures are `CommandFailure`, as of `GatewayCommands`.
public protocol ReconcileCommands: Sendable {
    /// Compares all that is here with what the server has, of one band or of all, of the last `days` UTC days or of all.
    /// What the server lacks goes up again, unless it is only a dry run. One at a time; may take long.
    func reconcile(_ band: String?, days: Int?, isDryRun: Bool) async throws -> [ReconcileReport]
}
