/// When what is no sample goes up of each device, and when the server is asked what it has of it.
///
/// Each request has a rest of its own, so that what keeps one from being answered holds up neither the others nor a
/// sample. After one that failed the next turn is a batch's, and all of them rest for as long as it took: one that is
/// never answered takes at most half of the time from samples. What is about every request (a refused token, a server
/// that asks for silence, no connection to it) is the samples' schedule's.
public struct ReportSchedule: Sendable {
    public enum Request: CaseIterable, Hashable, Sendable {
        /// A look at a device whose state was read before.
        case state
        /// Whether another gateway said more exactly why records are missing.
        case causes
        case gaps
        case status

        fileprivate var report: UploadSchedule.Report? {
            switch self {
            case .gaps: .gaps
            case .status: .status
            case .state, .causes: nil
            }
        }
    }

    private struct Side: Sendable {
        var schedule: SideSchedule
        /// Refused for what was in it.
        var restsUntil: Duration?
        /// Answers to whatever request before the first failure in a row.
        var answersBefore = 0

        func wait(now: Duration) -> Duration? {
            [schedule.wait(now: now), restsUntil].compactMap { $0 }.filter { $0 > now }.max()
        }
    }

    private struct Device: Sendable {
        var sides: [Request: Side] = [:]
        /// The server does not know it: reports rest until then.
        var unknownUntil: Duration?
        /// A batch of it was settled since the start.
        var wasSettled = false
        var endsWithBatch = false
    }

    /// So many failures in a row of a request that is not answered while others are, some minutes: it never will be.
    static let patience = 8

    private let limits: UploadSchedule.Limits
    private var devices: [String: Device] = [:]
    private var notBefore: Duration?
    /// One failed, and no batch had its turn since.
    public private(set) var yieldsToBatch = false

    public init(limits: UploadSchedule.Limits = UploadSchedule.Limits()) { self.limits = limits }

    // MARK: what may be done

    public func isDue(_ request: Request, of device: String, now: Duration) -> Bool {
        if let notBefore, notBefore > now { return false }
        guard let device = devices[device] else { return true }
        if request.report != nil, let until = device.unknownUntil, until > now { return false }
        return device.sides[request]?.wait(now: now) == nil
    }

    /// The next moment at which something is due that is not now; nil = there is none.
    public func next(after now: Duration) -> Duration? {
        let waits = devices.values.flatMap { device in
            device.sides.values.map { $0.wait(now: now) } + [device.unknownUntil, notBefore]
        }
        let next = waits.compactMap { $0 }.filter { $0 > now }.min()
        return next.map { max($0, notBefore ?? $0) }
    }

    /// Other requests are answered, and this one has not been for long: nobody should wait for it.
    public func isGivenUp(_ request: Request, of device: String, _ schedule: UploadSchedule) -> Bool {
        guard let side = devices[device]?.sides[request] else { return false }
        return side.schedule.failures >= Self.patience && schedule.answerCount > side.answersBefore
    }

    // MARK: what happened

    public mutating func batchHadItsTurn() { yieldsToBatch = false }

    /// A batch makes a device known. A server that goes on saying that it does not know it is not asked after each.
    public mutating func batchSettled(of device: String) {
        if devices[device, default: Device()].endsWithBatch { devices[device]?.unknownUntil = nil }
        devices[device, default: Device()].wasSettled = true
    }

    /// It is not tried before then: the server refused what was in it.
    public mutating func rest(_ request: Request, of device: String, until: Duration) {
        change(request, of: device) { $0.restsUntil = until }
    }

    /// See `UploadSchedule.surroundingsChanged`.
    public mutating func surroundingsChanged() {
        notBefore = nil
        changeAll { $0.schedule.surroundingsChanged() }
    }

    /// The token is another than before.
    public mutating func credentialsChanged() { changeAll { $0.schedule.credentialsChanged() } }

    /// - Parameters:
    ///   - start: when it was made.
    ///   - unknownRest: how long a device rests that the server does not know.
    ///   - schedule: that of the samples; it hears what concerns them, and what a person should know.
    public mutating func ended(
        _ decision: UploadDecision, _ request: Request, of device: String, since start: Duration,
        unknownRest: Duration, schedule: inout UploadSchedule, now: Duration,
        using random: inout some RandomNumberGenerator
    ) -> SideSchedule.Outcome {
        if decision.isAboutConnection {
            yieldsToBatch = true
            schedule.requestEnded(decision, device: device, now: now, using: &random)
            return .failed
        }
        if decision == .unknownDevice, request.report != nil {
            schedule.requestEnded(.taken, device: device, now: now, using: &random)
            let wasSettled = devices[device]?.wasSettled ?? false
            devices[device, default: Device()].unknownUntil = now + unknownRest
            devices[device]?.endsWithBatch = !wasSettled
            yieldsToBatch = true
            return .failed
        }
        var side = self.side(request, of: device)
        if side.schedule.failures == 0 { side.answersBefore = schedule.answerCount }
        let outcome = side.schedule.ended(
            decision, device: device, schedule: &schedule, now: now, using: &random)
        switch outcome {
        case .answered:
            side.restsUntil = nil
        case .refused:
            yieldsToBatch = true
        case .failed:
            yieldsToBatch = true
            notBefore = now + max(.zero, now - start)
            if let report = request.report {
                tell(
                    decision, report, of: device, isLasting: schedule.answerCount > side.answersBefore,
                    &schedule)
            }
        }
        devices[device, default: Device()].sides[request] = side
        return outcome
    }

    /// What fails alone is said to be this report's; what may be everything's is said as it is.
    private func tell(
        _ decision: UploadDecision, _ report: UploadSchedule.Report, of device: String, isLasting: Bool,
        _ schedule: inout UploadSchedule
    ) {
        switch decision {
        case .waitForCredentials(.forbidden):
            schedule.reportRefused(report, code: UploadProblem.forbidden.apiCode, device: device)
        case .backOff(let problem, _) where isLasting || !problem.endsWithAnyAnswer:
            schedule.reportRefused(report, code: problem.apiCode, device: device)
        case .backOff(let problem, _):
            schedule.reportFailed(report, problem, device: device)
        default:
            break
        }
    }

    // MARK: changes

    private func side(_ request: Request, of device: String) -> Side {
        devices[device]?.sides[request]
            ?? Side(
                schedule: SideSchedule(limits: limits.backOff, forbiddenRest: limits.credentials))
    }

    private mutating func change(_ request: Request, of device: String, _ body: (inout Side) -> Void) {
        var side = self.side(request, of: device)
        body(&side)
        devices[device, default: Device()].sides[request] = side
    }

    private mutating func changeAll(_ body: (inout Side) -> Void) {
        for (name, device) in devices {
            for request in device.sides.keys { change(request, of: name, body) }
        }
    }
}
