/// What an answer has of something that is shared, such as memory, until its last byte is sent or its client is gone.
public final class AnswerHold: Sendable, Equatable {
    private let release: @Sendable () -> Void

    /// Calls `release` once, on any thread, when nobody holds this any more.
    public init(release: @escaping @Sendable () -> Void) { self.release = release }

    deinit { release() }

    public static func == (left: AnswerHold, right: AnswerHold) -> Bool { left === right }
}
