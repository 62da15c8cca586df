import Dispatch
import HTTPServer
import IngestAPI

/// Long answers of one kind: whose turn it is, the thread that writes them, and what each account has of them in hand.
final class AnswerLane: Sendable {
    struct Limits: Sendable {
        /// Waiting for their turn.
        var waitingOfAccount: Int
        /// Of those that are being sent; of pages, also of those that are being read or wait.
        var bytesOfAccount: Int
    }

    /// Of all accounts; of each of them one.
    private static let working = 4

    private let line: AnswerLine
    private let writer: AnswerWriter
    private let bytes: AccountBytes

    init(_ label: String, _ limits: Limits, patience: Duration) {
        line = AnswerLine(
            AnswerTurns.Limits(working: Self.working, waitingOfAccount: limits.waitingOfAccount),
            patience: patience)
        writer = AnswerWriter(label)
        bytes = AccountBytes(limit: limits.bytesOfAccount)
    }

    /// What `write` makes of what `read` returns, once it is its turn: nobody knows how long it gets. `Overload` when it would
    /// have to wait too long, or while the account's earlier answers, which are being sent, come to its bytes. That is found
    /// before anything is read: what was read and written is sent.
    func answer<Value: Sendable>(
        _ account: String, read: () async throws -> Value,
        write: @escaping @Sendable (Value) -> Result<ServerResponse, APIFailure>
    ) async throws -> ServerResponse {
        try await line.inTurn(account) {
            guard bytes.hasRoom(account) else { throw LongAnswers.Overload() }
            let value = try await read()
            var response = try await writer.run { write(value) }.get()
            response.hold = bytes.count(response.body.count, account: account)
            return response
        }
    }

    /// What `read` returns, of `expected` bytes at most, for which there is room from before it is read until it is sent.
    /// `isShort`: it needs no turn. `Overload` when there is no room, or when it would have to wait too long.
    func answer<Value: Encodable & Sendable>(
        _ account: String, expected: Int, isShort: (Value) -> Bool, read: () async throws -> Value
    ) async throws -> ServerResponse {
        guard let room = bytes.hold(expected, account: account) else { throw LongAnswers.Overload() }
        defer { withExtendedLifetime(room) {} }
        let value = try await read()
        if isShort(value) { return Answer.json(value) }
        var response = try await line.inTurn(account) { await writer.run { Answer.json(value) } }
        response.hold = bytes.count(response.body.count, account: account)
        return response
    }
}

/// A thread that writes answers. Writing JSON keeps it busy for as long as it takes: never one of Swift's shared pool.
struct AnswerWriter: Sendable {
    private let queue: DispatchQueue

    init(_ label: String) { queue = DispatchQueue(label: label) }

    func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            queue.async { @Sendable in continuation.resume(returning: body()) }
        }
    }
}
