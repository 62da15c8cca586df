import Dispatch
import HTTPServer
import IngestAPI

/// Long answers of one kind: whose turn it is, the thread that writes them, and what each account has of them in hand.
final class AnswerLane: Sendable {
    struct Limits: Sendable {
        /// Waiting for their turn.
        var waitingOfAccount: Int
        /// Of those that are being sent.
        var bytesOfAccount: Int
    }

    /// Of all accounts; of each of them one.
    private static let working = 4

    private let line: AnswerLine
    private let queue: DispatchQueue
    private let bytes: AccountBytes

    init(_ label: String, _ limits: Limits, patience: Duration) {
        line = AnswerLine(
            AnswerTurns.Limits(working: Self.working, waitingOfAccount: limits.waitingOfAccount),
            patience: patience)
        queue = DispatchQueue(label: label)
        bytes = AccountBytes(limit: limits.bytesOfAccount)
    }

    /// What `write` makes of what `read` returns. `Overload` when it would have to wait too long, or when the account's earlier
    /// answers are still being sent.
    func answer<Value: Sendable>(
        _ account: String, read: () async throws -> Value,
        write: @escaping @Sendable (Value) -> Result<ServerResponse, APIFailure>
    ) async throws -> ServerResponse {
        try await line.inTurn(account) {
            let value = try await read()
            var response = try await run { write(value) }.get()
            guard let hold = bytes.hold(response.body.count, account: account) else {
                throw LongAnswers.Overload()
            }
            response.hold = hold
            return response
        }
    }

    private func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            queue.async { @Sendable in continuation.resume(returning: body()) }
        }
    }
}
