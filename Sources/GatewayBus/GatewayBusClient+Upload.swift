import DBus
import GatewayModel

/// What is asked of the upload.
extension GatewayBusClient {
    public func uploadStatus() async throws(GatewayBusFailure) -> UploadStatus {
        UploadStatus(try await properties("UploadStatus", [], deadline: .seconds(60)))
    }

    public func uploadNow(wait: Duration) async throws(GatewayBusFailure) -> UploadReport {
        let options: BusProperties = ["Wait": .uint32(UInt32(clamping: wait.components.seconds))]
        return UploadReport(
            try await properties("UploadNow", [.properties(options)], deadline: wait + .seconds(30)))
    }

    /// Nil = until it is resumed.
    public func pauseUpload(for time: Duration?) async throws(GatewayBusFailure) -> UploadPause {
        let options: BusProperties =
            time.map { ["For": .uint32(UInt32(clamping: $0.components.seconds))] } ?? [:]
        let reply = try await properties("PauseUpload", [.properties(options)], deadline: .seconds(60))
        guard let pause = UploadPause(reply) else {
            throw .broken(BusError(name: "org.bandferry.Error.Failed", message: "it did not say since when"))
        }
        return pause
    }

    public func resumeUpload() async throws(GatewayBusFailure) {
        _ = try await call("ResumeUpload", [], deadline: .seconds(60))
    }

    /// Nil = of every band.
    public func retryUpload(_ band: String?) async throws(GatewayBusFailure) -> Int {
        try await call("RetryUpload", [.string(band ?? "")], deadline: .seconds(300)).first?.integer ?? 0
    }

    private func properties(
        _ member: String, _ arguments: [BusValue], deadline: Duration
    ) async throws(GatewayBusFailure) -> BusProperties {
        try await call(member, arguments, deadline: deadline).first?.properties ?? [:]
    }
}
