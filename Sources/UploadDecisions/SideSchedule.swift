/// When requests are made that samples never wait for: persons, gaps, status, leases, and looks at what other gateways said.
/// What keeps them from being answered holds up nothing else.
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
    private let forbiddenRest: Duration
    private var notBefore: Duration?
    /// The server said when: nothing here ends that earlier.
    private var isTold = false
    private var forbiddenUntil: Duration?

    /// - Parameter forbiddenRest: what this token may not do is tried again after it: it may have been given the right since.
    public init(limits: BackOff.Limits = BackOff.Limits(), forbiddenRest: Duration = .seconds(3600)) {
        backOff = BackOff(limits: limits)
        self.forbiddenRest = forbiddenRest
    }

    /// The server did not let this token do it when it was last asked.
    public var isForbidden: Bool { forbiddenUntil != nil }

    /// Failures in a row.
    public var failures: Int { backOff.failures }

    public func isDue(now: Duration) -> Bool { mayAsk(now: now) && notBefore.map { $0 <= now } ?? true }

    /// True also while only the gateway's own waits keep it: somebody who waits for the answer need not sit them out.
    public func mayAsk(now: Duration) -> Bool { forbiddenUntil.map { $0 <= now } ?? true }

    /// It is due then; nil = now.
    public func wait(now: Duration) -> Duration? {
        [notBefore, forbiddenUntil].compactMap { $0 }.filter { $0 > now }.max()
    }

    /// The token is another than before.
    public mutating func credentialsChanged() { forbiddenUntil = nil }

    /// See `UploadSchedule.surroundingsChanged`.
    public mutating func surroundingsChanged() {
        if !isTold { notBefore = nil }
    }

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
            forbiddenUntil = nil
            return .answered
        case .passOver, .halve, .quarantine, .settle, .sendIdentity:
            schedule.requestEnded(.taken, device: device, now: now, using: &random)
            forbiddenUntil = nil
            return .refused
        case .waitForCredentials(.forbidden):
            schedule.requestEnded(.taken, device: device, now: now, using: &random)
            forbiddenUntil = now + forbiddenRest
            return .failed
        // These are about every request.
        case .waitForCredentials, .pause:
            schedule.requestEnded(decision, device: device, now: now, using: &random)
            return .failed
        case .backOff(_, let retryAfter):
            notBefore = now + backOff.next(retryAfter: retryAfter, using: &random)
            isTold = retryAfter != nil
            return .failed
        case .stop:
            return .failed
        }
    }
}
