import CommandLineText
import GatewayBus
import GatewayModel

/// What is asked of the upload: told by the daemon, or read from the state directory where it is stopped.
extension BandferryCommand {
    mutating func upload(_ command: UploadCommand) async throws -> ExitCode {
        switch command {
        case .status:
            let status = try await uploadStatus()
            let now = Timestamp.now
            try show(UploadText.json(status)) {
                UploadText.rendered(status, times: .ofThisHost(now: now), terminal: $0, now: now)
            }
        case .now(let wait):
            let report = try await daemon().uploadNow(wait: .seconds(wait))
            try show(UploadReportText.json(report)) {
                UploadReportText.rendered(report, waited: wait, terminal: $0)
            }
            return UploadReportText.exitCode(report, waited: wait)
        case .pause(let seconds):
            let pause = try await daemon().pauseUpload(for: seconds.map { .seconds($0) })
            let times = LocalTimes.ofThisHost(now: .now)
            try show(UploadText.json(pause)) { _ in UploadReportText.paused(pause, times: times) + "\n" }
        case .resume:
            try await daemon().resumeUpload()
            try show(ChangeText.resumed) { _ in "The upload goes on.\n" }
        case .retry(let band):
            let count = try await daemon().retryUpload(band)
            try show(UploadReportText.json(retried: count)) { _ in UploadReportText.retried(count) + "\n" }
        }
        return .success
    }

    private func uploadStatus() async throws -> UploadStatus {
        try await asked { (client) throws(GatewayBusFailure) in
            try await client.uploadStatus()
        } orRead: {
            try $0.uploadStatus()
        }
    }
}

extension LocalState {
    func uploadStatus() throws -> UploadStatus {
        var status = UploadStatus(state: .stopped, url: configuration.upload?.url)
        let record = try reader.uploadRecord()
        status.pause = record.pause.flatMap { $0.isOver(at: .now) ? nil : $0 }
        status.lastSuccess = record.lastSuccess
        status.lastErrorCode = record.lastErrorCode
        status.lastErrorAt = record.lastErrorAt
        status.bands = try reader.uploadBands()
        status.pending = status.bands.reduce(0) { $0 + $1.pending }
        return status
    }
}
