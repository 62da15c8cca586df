import GatewayModel
import UploadDecisions

/// What `status` shows of the upload.
public struct UploadSnapshot: Equatable, Sendable {
    public enum State: String, Sendable, CaseIterable {
        /// No server is configured, or not started.
        case off
        case sending
        /// Everything is up, or rests until the server or a person does something.
        case waiting
        case stopped
    }

    public var state: State
    /// Samples that the server has not confirmed; nil = not counted yet.
    public var pending: Int?
    /// Samples in the request that runs; they count as pending until the server has confirmed them.
    public var inFlight: Int
    /// When the server last confirmed samples.
    public var lastSuccess: Timestamp?
    public var problem: Problem?
    /// What keeps bands from being owned, and no sample from going up.
    public var leaseProblem: Problem?
    /// The code of the last failure, also when it is over: see `UploadProblem.apiCode`. Nil = none since the
    /// start.
    public var lastErrorCode: String?
    public var lastErrorAt: Timestamp?
    /// Why history waits though nothing failed; nil = it does not.
    public var meteredWait: MeteredWait?
    /// A person paused the upload: nothing is sent but what a band waits for.
    public var isPaused: Bool
    /// Nothing is tried before then; nil = something may go now, or there is nothing to wait for.
    public var waitsUntil: Timestamp?

    public init(
        state: State = .off, pending: Int? = nil, inFlight: Int = 0, lastSuccess: Timestamp? = nil,
        problem: Problem? = nil, lastErrorCode: String? = nil, lastErrorAt: Timestamp? = nil,
        isPaused: Bool = false
    ) {
        self.state = state
        self.pending = pending
        self.inFlight = inFlight
        self.lastSuccess = lastSuccess
        self.problem = problem
        self.lastErrorCode = lastErrorCode
        self.lastErrorAt = lastErrorAt
        self.isPaused = isPaused
    }
}
