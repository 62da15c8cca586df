import CommandLineText
import GatewayBus
import GatewayModel

/// `bandferry reconcile`: done by the daemon, whose upload has the connection to the server.
extension BandferryCommand {
    mutating func reconcile(_ band: String?, days: Int?, isDryRun: Bool) async throws -> ExitCode {
        let client = try await daemon()
        let following = Task { [terminal] in
            guard terminal.isInteractive else { return }
            await ProgressLine.follow {
                try? await client.status().reconciling.map { ReconcileText.progress($0) }
            }
        }
        let result: Result<[ReconcileReport], GatewayBusFailure>
        do throws(GatewayBusFailure) {
            result = .success(try await client.reconcile(band, days: days, isDryRun: isDryRun))
        } catch {
            result = .failure(error)
        }
        following.cancel()
        await following.value
        let reports = try result.get()
        let text = ReconcileText(reports, bands: try await client.status().bands, now: .now)
        try show(text.json) { text.rendered(for: $0) }
        return ReconcileText.exitCode(reports)
    }
}

/// One line of a terminal that says how far something is.
enum ProgressLine {
    /// Twice a second until the task is cancelled; then the line is gone.
    static func follow(_ text: () async -> String?) async {
        while !Task.isCancelled {
            if let text = await text(), !Task.isCancelled { put("\r\u{1b}[K\(text)") }
            try? await Task.sleep(for: .milliseconds(500))
        }
        put("\r\u{1b}[K")
    }

    private static func put(_ text: String) {
        var output = Output()
        // Progress that can't be written is not worth ending the command for.
        try? output.write(text)
        try? output.flush()
    }
}
