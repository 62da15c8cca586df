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

/// The command that compares with the server.
extension GatewayDaemon {
    public func reconcile(_ band: String?, days: Int?, isDryRun: Bool) async throws -> [ReconcileReport] {
        try await ready().reconcile(band, days: days, isDryRun: isDryRun)
    }
}

/// The commands that take bands over.
extension GatewayDaemon {
    public func serverBands() async throws -> [ServerBand] { try await ready().serverBands() }

    public func replace(_ request: ReplaceRequest) async throws -> [ReplaceReport] {
        try await ready().replace(request)
    }
}
