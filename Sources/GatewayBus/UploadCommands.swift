import GatewayModel

/// What people ask of the upload. Failures are `CommandFailure`, as of `GatewayCommands`.
///
/// A band is called by its address, its device id or its name.
public protocol UploadCommands: Sendable {
    func uploadStatus() async throws -> UploadStatus
    /// Answers when nothing more can go up, or after `wait`.
    func uploadNow(wait: Duration) async throws -> UploadReport
    /// Nil = until `resumeUpload`. Durable when this returns.
    func pauseUpload(for time: Duration?) async throws -> UploadPause
    func resumeUpload() async throws
    /// What the server refused goes up again; nil = of every band. Returns how many samples.
    func retryUpload(_ band: String?) async throws -> Int
}
