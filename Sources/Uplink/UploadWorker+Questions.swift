import GatewayModel
import UploadDecisions

/// "The server was asked whether another gateway has it": answered between two requests, back-off or not, because a band
/// waits for it with an open link.
extension UploadWorker {
    func answer(_ question: Mailbox.Question) {
        let now = clock.monotonic
        guard !question.answer.isSet, question.until > now, let token = currentToken(),
            schedule.mayAsk(now: now)
        else {
            return question.answer.set(.unreachable)
        }
        let outcome = server.deviceState(question.device, token: token, within: question.until - now)
        let (decision, state) = StatusTable.decideState(
            outcome, device: question.device.text, wallTime: wallTime)
        // It waits for no budget, but is part of it.
        _ = takeTraffic()
        switch decision {
        case .taken:
            schedule.requestEnded(
                decision, device: question.device.text, now: clock.monotonic, using: &random)
            question.answer.set(state.map { .knows(ServerDeviceState($0)) } ?? .unreachable)
        case .unknownDevice:
            schedule.requestEnded(
                decision, device: question.device.text, now: clock.monotonic, using: &random)
            question.answer.set(.unknownDevice)
        case .waitForCredentials, .pause:
            schedule.requestEnded(
                decision, device: question.device.text, now: clock.monotonic, using: &random)
            question.answer.set(.unreachable)
        case .backOff, .passOver, .settle, .halve, .quarantine, .sendIdentity, .stop:
            // A question has a short deadline of its own: that it failed says nothing about the upload.
            question.answer.set(.unreachable)
        }
    }
}
