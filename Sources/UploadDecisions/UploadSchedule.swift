/// When what may be sent: the pure half of the uploader. Decisions in, waits and plans out; it does no I/O.
///
/// Times are monotonic durations since a fixed moment of the caller's. Devices are named by their id.
public struct UploadSchedule: Sendable {
    private struct Device: Sendable {
        var bisection = Bisection()
        var backOff: BackOff
        var notBefore: Duration?
        var problem: UploadProblem?
        /// What keeps its gaps and its status from going up: samples that go say nothing of that.
        var reportProblems: [Report: UploadProblem] = [:]

        /// What a person should know of it first.
        var shownProblem: UploadProblem? {
            problem ?? Report.allCases.lazy.compactMap { reportProblems[$0] }.first
        }

        /// The server judged a batch of it: what kept it from answering is over.
        mutating func wasAnswered() {
            guard problem?.endsWithAnyAnswer == true else { return }
            backOff.reset()
            notBefore = nil
            problem = nil
        }
    }

    public let limits: Limits
    /// True once the server said that it takes no gzip.
    public private(set) var sendsIdentity = false
    private var batchSize = BatchSize()
    private var devices: [String: Device] = [:]
    private var backOff: BackOff
    private var outboxBackOff: BackOff
    private var notBefore: Duration?
    /// What the server itself asked for with `Retry-After`, or how long a refused token rests.
    private var quietUntil: Duration?
    private var serverProblem: UploadProblem?
    private var singlesInARow = 0
    /// Set while the server refuses sample after sample.
    private var refusing: UploadProblem?
    private var isProbing: Bool { refusing != nil }
    /// Failures since the start, and the last of them.
    public private(set) var failureCount = 0
    /// Answers as they should be since the start, to whatever request.
    public private(set) var answerCount = 0
    public private(set) var lastFailure: UploadProblem?

    public init(limits: Limits = Limits()) {
        self.limits = limits
        backOff = BackOff(limits: limits.backOff)
        outboxBackOff = backOff
    }

    // MARK: what may be done

    /// What a person should know now: the server's trouble first, then a device's.
    public var problem: UploadProblem? {
        serverProblem ?? devices.sorted { $0.key < $1.key }.lazy.compactMap(\.value.shownProblem).first
    }

    /// True while only new credentials can help.
    public var waitsForCredentials: Bool {
        switch serverProblem {
        case .authenticationFailed, .forbidden, .tokenFile: true
        default: false
        }
    }

    /// The server said when it last spoke that it does not take this token.
    public var isTokenRefused: Bool {
        switch serverProblem {
        case .authenticationFailed, .forbidden: true
        default: false
        }
    }

    /// True while a person has to change a file of the gateway's, which is looked at more often then.
    public var waitsForFile: Bool {
        switch serverProblem {
        case .noAnswer(.clientKeyUnusable), .noAnswer(.proxyCredentialsUnusable),
            .noAnswer(.proxyAuthentication), .noAnswer(.clientCertificate):
            true
        default: waitsForCredentials
        }
    }

    /// Nothing is sent before this moment; nil = now.
    public func wait(now: Duration) -> Duration? {
        notBefore.flatMap { $0 > now ? $0 : nil }
    }

    /// False while the server asked for silence, or would only refuse the token again. Other waits are the gateway's
    /// own: a question that a band waits for need not sit them out.
    public func mayAsk(now: Duration) -> Bool {
        quietUntil.map { $0 <= now } ?? true
    }

    /// The devices that wait for themselves alone, and the moment at which the first of them may go on.
    public func resting(now: Duration) -> (devices: Set<String>, until: Duration?) {
        let resting = devices.filter { ($0.value.notBefore ?? now) > now }
        return (Set(resting.keys), resting.values.compactMap(\.notBefore).min())
    }

    public func plan(for device: String) -> BatchPlan {
        let full = min(limits.batchSize, batchSize.limit ?? limits.batchSize)
        let limit = devices[device]?.bisection.limit(full: full) ?? full
        return BatchPlan(
            limit: isProbing ? limits.batchSize : limit, isProbe: isProbing, isCompressed: !sendsIdentity)
    }

    // MARK: what happened

    /// The token file can be read and is another than before. True when that was waited for.
    public mutating func credentialsChanged() -> Bool {
        guard waitsForCredentials else { return false }
        notBefore = nil
        quietUntil = nil
        if case .tokenFile = serverProblem { serverProblem = refusing }
        return true
    }

    /// A person asked for it to be tried now: the gateway's own waits end. Nil = it goes on now; else the moment until
    /// which the server asked for silence, which a person does not end either.
    public mutating func personAsks(now: Duration) -> Duration? {
        if let quietUntil, quietUntil > now, !waitsForCredentials { return quietUntil }
        notBefore = nil
        quietUntil = nil
        for name in devices.keys { devices[name]?.notBefore = nil }
        return nil
    }

    /// The network, the clock or a file that was waited for is another: what waited on the gateway's own account goes on.
    /// What the server asked for, and a refused token, wait as before; the next failure waits as long as it would have.
    public mutating func surroundingsChanged(now: Duration) {
        guard mayAsk(now: now), !isProbing else { return }
        switch serverProblem {
        case .authenticationFailed, .forbidden, .tokenFile, .outbox: return
        default: notBefore = nil
        }
        for (name, device) in devices where device.problem?.endsWithAnyAnswer == true {
            devices[name]?.notBefore = nil
        }
    }

    /// The outbox was read and written without a fault.
    public mutating func outboxWorks() {
        outboxBackOff.reset()
        if isOutboxBroken { serverProblem = refusing }
    }

    private var isOutboxBroken: Bool { if case .outbox = serverProblem { true } else { false } }

    /// The token can't be used or the outbox can't be read: nothing was sent.
    public mutating func couldNotSend(
        _ problem: UploadProblem, now: Duration, using random: inout some RandomNumberGenerator
    ) {
        serverProblem = problem
        failed(problem)
        // A counter of its own: answers of the server do not mend a full disk, and must not let it be hammered.
        notBefore = now + (waitsForCredentials ? limits.credentials : outboxBackOff.next(using: &random))
    }

    /// A batch of `count` samples came back. The schedule is changed; what to do to the outbox is returned.
    public mutating func batchEnded(
        _ decision: UploadDecision, device name: String, count: Int, now: Duration,
        using random: inout some RandomNumberGenerator
    ) -> BatchAction {
        switch decision {
        case .settle(let verdict):
            serverAnswered()
            guard verdict.isProgress else {
                rest(name, for: .nothingConfirmed, retryAfter: nil, now: now, using: &random)
                return .nothing
            }
            progressed(name, count: count)
            return .settle(verdict)
        case .halve(let refusal):
            serverAnswered()
            if refusal.isAboutSize { batchSize.tooLarge(count) }
            change(name) {
                if !refusal.isAboutSize { $0.bisection.refused(count) }
                $0.wasAnswered()
            }
            // Never for a probe, which is one sample.
            return isProbing ? refusedProbe(refusal, now: now) : .nothing
        case .quarantine(let refusal):
            serverAnswered()
            if isProbing { return refusedProbe(refusal, now: now) }
            if refusal.isAboutSize { batchSize.tooLarge(1) }
            change(name) {
                $0.bisection.refused(1)
                $0.wasAnswered()
            }
            singlesInARow += 1
            if singlesInARow >= limits.refusedSingles { _ = refusedProbe(refusal, now: now) }
            return .quarantine(refusal)
        case .sendIdentity:
            serverAnswered()
            sendsIdentity = true
            return .nothing
        case .backOff(let problem, let retryAfter):
            backedOff(problem, retryAfter, device: name, now: now, using: &random)
            return .nothing
        case .taken, .unknownDevice, .passOver, .pause, .waitForCredentials, .stop:
            requestEnded(decision, device: name, now: now, using: &random)
            return .nothing
        }
    }

    /// A request for a device other than a batch came back.
    public mutating func requestEnded(
        _ decision: UploadDecision, device name: String, now: Duration,
        using random: inout some RandomNumberGenerator
    ) {
        switch decision {
        case .taken, .unknownDevice, .settle, .sendIdentity:
            serverAnswered()
        case .passOver(let refusal), .halve(let refusal), .quarantine(let refusal):
            serverAnswered()
            change(name) { $0.problem = .reportRefused(code: refusal.code) }
        case .pause(let duration):
            waitForServer(.rateLimited, duration, now: now, using: &random)
        case .waitForCredentials(let problem):
            serverProblem = problem
            failed(problem)
            notBefore = now + limits.credentials
            quietUntil = notBefore
        case .backOff(let problem, let retryAfter):
            waitForServer(problem, retryAfter, now: now, using: &random)
        case .stop:
            break
        }
    }

    /// The first look at what the server has of a device came back: samples of this one wait for it, those of others as
    /// long as they would for a batch.
    public mutating func stateEnded(
        _ decision: UploadDecision, device name: String, now: Duration,
        using random: inout some RandomNumberGenerator
    ) {
        switch decision {
        case .backOff(let problem, let retryAfter):
            backedOff(problem, retryAfter, device: name, now: now, using: &random)
        case .taken, .unknownDevice:
            requestEnded(decision, device: name, now: now, using: &random)
            change(name) { $0.wasAnswered() }
        case .passOver, .settle, .halve, .quarantine, .sendIdentity, .waitForCredentials, .pause, .stop:
            requestEnded(decision, device: name, now: now, using: &random)
        }
    }

    /// Gaps or a status of the device were refused: neither its samples nor the other of the two wait for that.
    public mutating func reportRefused(_ report: Report, code: String, device name: String) {
        change(name) { $0.reportProblems[report] = .reportRefused(code: code) }
    }

    /// Nothing failed now, and a person should know of it all the same.
    public mutating func reportStands(_ report: Report, _ problem: UploadProblem, device name: String) {
        change(name) { $0.reportProblems[report] = problem }
    }

    /// They were not taken for a cause that may be everything's: that is over with any answer.
    public mutating func reportFailed(_ report: Report, _ problem: UploadProblem, device name: String) {
        change(name) { $0.reportProblems[report] = problem }
        failed(problem)
    }

    /// They were taken: that earlier ones were refused is over.
    public mutating func reportTaken(_ report: Report, device name: String) {
        guard devices[name]?.shownProblem != nil else { return }
        change(name) {
            $0.reportProblems[report] = nil
            if case .reportRefused = $0.problem { $0.problem = nil }
        }
    }

    // MARK: changes

    /// Any proper answer ends an outage. One that took two or more requests in a row was the network's or the
    /// server's, so devices need not sit out waits that they got during it.
    private mutating func serverAnswered() {
        answerCount += 1
        for (name, device) in devices where !device.reportProblems.isEmpty {
            devices[name]?.reportProblems = device.reportProblems.filter { !$0.value.endsWithAnyAnswer }
        }
        if backOff.failures >= 2 {
            for name in devices.keys where devices[name]?.problem?.endsWithAnyAnswer == true {
                devices[name]?.notBefore = nil
                devices[name]?.problem = nil
            }
        }
        backOff.reset()
        guard !isOutboxBroken else { return }
        if !isProbing { notBefore = nil }
        if serverProblem?.endsWithAnyAnswer == true { serverProblem = refusing }
    }

    private mutating func progressed(_ name: String, count: Int) {
        change(name) {
            $0.bisection.passed(count)
            $0.backOff.reset()
            $0.notBefore = nil
            $0.problem = nil
        }
        batchSize.passed(count, full: limits.batchSize)
        singlesInARow = 0
        refusing = nil
        notBefore = nil
        serverProblem = nil
    }

    /// The server refuses sample after sample: stop, report it, and look again slowly.
    private mutating func refusedProbe(_ refusal: Refusal, now: Duration) -> BatchAction {
        let problem = UploadProblem.serverRefuses(code: refusal.code)
        refusing = problem
        serverProblem = problem
        failed(problem)
        notBefore = now + limits.refusing
        return .nothing
    }

    private mutating func backedOff(
        _ problem: UploadProblem, _ retryAfter: Duration?, device name: String, now: Duration,
        using random: inout some RandomNumberGenerator
    ) {
        rest(name, for: problem, retryAfter: retryAfter, now: now, using: &random)
        if problem.endsWithAnyAnswer { waitForServer(problem, retryAfter, now: now, using: &random) }
    }

    private mutating func rest(
        _ name: String, for problem: UploadProblem, retryAfter: Duration?, now: Duration,
        using random: inout some RandomNumberGenerator
    ) {
        var device = devices[name] ?? Device(backOff: BackOff(limits: limits.backOff))
        device.notBefore = now + device.backOff.next(retryAfter: retryAfter, using: &random)
        device.problem = problem
        devices[name] = device
        failed(problem)
    }

    private mutating func waitForServer(
        _ problem: UploadProblem, _ retryAfter: Duration?, now: Duration,
        using random: inout some RandomNumberGenerator
    ) {
        serverProblem = problem
        failed(problem)
        notBefore = now + backOff.next(retryAfter: retryAfter, using: &random)
        if retryAfter != nil { quietUntil = notBefore }
    }

    private mutating func failed(_ problem: UploadProblem) {
        failureCount += 1
        lastFailure = problem
    }

    private mutating func change(_ name: String, _ body: (inout Device) -> Void) {
        var device = devices[name] ?? Device(backOff: BackOff(limits: limits.backOff))
        body(&device)
        devices[name] = device
    }
}
