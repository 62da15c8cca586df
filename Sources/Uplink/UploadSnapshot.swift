import GatewayModel

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
    /// When the server last confirmed samples.
    public var lastSuccess: Timestamp?
    public var problem: Problem?

    public init(
        state: State = .off, pending: Int? = nil, lastSuccess: Timestamp? = nil, problem: Problem? = nil
    ) {
        self.state = state
        self.pending = pending
        self.lastSuccess = lastSuccess
        self.problem = problem
    }
}
