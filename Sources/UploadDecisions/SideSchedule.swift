/// When requests are made that samples never wait for: persons, and looks at what other gateways said. What keeps them
/// from being answered holds up nothing else.
public struct SideSchedule: Sendable {
    /// What the caller does about an answer.
    public enum Outcome: Equatable, Sendable {
        /// It was answered as it should be, or the server said that it knows nothing of it.
        case answered
        /// The server will not do this, however often it is asked.
        case refused
        /// Not now.
        case failed
    }

    private var backOff: BackOff
    private var notBefore: Duration?
    /// The server does not let this token do it.
    public private(set) var isForbidden = false

    public init(limits: BackOff.Limits = BackOff.Limits()) { backOff = BackOff(limits: limits) }

    public func isDue(now: Duration) -> Bool { !isForbidden && notBefore.map { $0 <= now } ?? true }

    /// The token is another than before.
    public mutating func credentialsChanged() { isForbidden = false }

    /// See `UploadSchedule.surroundingsChanged`.
    public mutating func surroundingsChanged() { notBefore = nil }

    /// - Parameter schedule: that of the samples; it hears what concerns them, too.
    public mutating func ended(
        _ decision: UploadDecision, device: String, schedule: inout UploadSchedule, now: Duration,
        using random: inout some RandomNumberGenerator
    ) -> Outcome {
        switch decision {
        case .taken, .unknownDevice:
            schedule.requestEnded(.taken, device: device, now: now, using: &random)
            backOff.reset()
            notBefore = nil
            return .answered
        case .passOver, .halve, .quarantine, .settle, .sendIdentity:
            schedule.requestEnded(.taken, device: device, now: now, using: &random)
            return .refused
        case .waitForCredentials(.forbidden):
            schedule.requestEnded(.taken, device: device, now: now, using: &random)
            isForbidden = true
            return .failed
        // These are about every request.
        case .waitForCredentials, .pause:
            schedule.requestEnded(decision, device: device, now: now, using: &random)
            return .failed
        case .backOff(_, let retryAfter):
            notBefore = now + backOff.next(retryAfter: retryAfter, using: &random)
            return .failed
        case .stop:
            return .failed
        }
    }
}
