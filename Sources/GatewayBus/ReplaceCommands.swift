import GatewayModel

/// What people ask when a gateway is lost. Failures are `CommandFailure`, as of `GatewayCommands`.
public protocol ReplaceCommands: Sendable {
    /// What the server knows, and who owns it.
    func serverBands() async throws -> [ServerBand]
    /// Takes bands over from what the server knows of them. A band that can't be is in the answer, with its problem.
    func replace(_ request: ReplaceRequest) async throws -> [ReplaceReport]
}
