import GatewayModel
import UploadDecisions

/// The token, as its file has it now.
extension UploadWorker {
    /// For questions, which do not wait for the schedule.
    func currentToken() -> String? {
        refreshToken(now: clock.monotonic)
        return token?.text
    }

    func refreshToken(now: Duration) {
        let stamp = tokenFile.stamp()
        if let token, token.stamp == stamp { return }
        if token == nil, let refusedStamp, refusedStamp == stamp { return }
        token = nil
        refusedStamp = stamp
        switch tokenFile.read() {
        case .success(let read):
            token = (read.token, read.stamp)
            reports.credentialsChanged()
            personReads.credentialsChanged()
            personWrites.credentialsChanged()
            comparisonSchedule.credentialsChanged()
            commands.leases.schedule.credentialsChanged()
            commands.leases.isTokenRefused = false
            commands.leases.lookAt = .zero
            showLeases()
            // The new token is tried at once, with the cheapest question there is.
            if schedule.credentialsChanged(), let device = devices.first {
                notes[device]?.isStateRead = false
            }
        case .failure(let failure):
            schedule.couldNotSend(.tokenFile(failure.fault), now: now, using: &random)
        }
    }
}
