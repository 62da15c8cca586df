import CommandLineText
import GatewayBus
import GatewayModel

/// `bandferry replace`: done by the daemon, from what the server knows.
extension BandferryCommand {
    /// Nil = only lists what the server knows.
    mutating func replace(_ request: ReplaceRequest?) async throws -> ExitCode {
        let client = try await daemon()
        let now = Timestamp.now
        guard let request else {
            let bands = try await client.serverBands()
            try show(ReplaceText.json(bands)) { ReplaceText.rendered(bands, now: now, terminal: $0) }
            return .success
        }
        let reports = try await client.replace(request)
        let times = LocalTimes.ofThisHost(now: now)
        try show(ReplaceText.json(reports)) { ReplaceText.rendered(reports, times: times, terminal: $0) }
        return ReplaceText.exitCode(reports)
    }
}
