import GatewayBus
import GatewayModel

/// The commands about the upload.
extension GatewayDaemon {
    public func uploadStatus() async throws -> UploadStatus { try await ready().uploadStatus() }

    public func uploadNow(wait: Duration) async throws -> UploadReport {
        try await ready().uploadNow(wait: wait)
    }

    public func pauseUpload(for time: Duration?) async throws -> UploadPause {
        try await ready().pauseUpload(for: time)
    }

    public func resumeUpload() async throws { try await ready().resumeUpload() }

    public func retryUpload(_ band: String?) async throws -> Int { try await ready().retryUpload(band) }
}
