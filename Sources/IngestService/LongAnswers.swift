import Dispatch
import HTTPServer
import IngestAPI
import Locking

/// Answers that may be long.
///
/// They are written one after the other for each account, and few at once, so that they take bounded memory and nobody
/// else's time. Writing JSON keeps a thread busy for as long as it takes: never one of Swift's shared pool.
final class LongAnswers: Sendable {
    struct Limits: Sendable {
        /// Those that list all that a device or an account has wait before they are read.
        var lists = AnswerTurns.Limits(working: 4, waitingOfAccount: 32)
        /// Pages are bounded in themselves, and more people wait for them.
        var pages = AnswerTurns.Limits(working: 4, waitingOfAccount: 256)
        var patience = Duration.seconds(10)
        /// Of one account's lists, from when one is written until it is sent; so of each one too.
        var bytesOfAccount = IngestAPI.maxListBytes
    }

    /// Rows that take less time to write than to hand to somebody else.
    private static let shortPage = 32

    private let bytesOfAccount: Int
    private let bytes = Guarded<[String: Int]>([:])
    private let lists: AnswerLine
    private let pages: AnswerLine
    private let listQueue = DispatchQueue(label: "ingest-lists")
    private let pageQueue = DispatchQueue(label: "ingest-pages")

    init(limits: Limits = Limits()) {
        bytesOfAccount = limits.bytesOfAccount
        lists = AnswerLine(limits.lists, patience: limits.patience)
        pages = AnswerLine(limits.pages, patience: limits.patience)
    }

    /// There is no room for the answer now.
    struct Overload: Error {}

    /// One of bounded length; `rows` says how long it is.
    func page(
        _ value: some Encodable & Sendable, rows: Int, account: String
    ) async throws -> ServerResponse {
        if rows <= Self.shortPage { return Answer.json(value) }
        return try await pages.inTurn(account) {
            await Self.run(on: pageQueue) { Answer.json(value) }
        }
    }

    /// `{ NAME: [ … ] }` of what `read` returns. `Overload` when it would have to wait too long, or when the account's
    /// earlier answers are still being sent.
    func list<Element: Encodable & Sendable>(
        _ name: String, account: String, _ read: () async throws -> [Element]
    ) async throws -> ServerResponse {
        try await lists.inTurn(account) {
            let elements = try await read()
            let limit = bytesOfAccount
            let written = await Self.run(on: listQueue) {
                Result { () throws(APIFailure) in
                    try APIJSON.encodeList(name, elements, limit: limit)
                }
            }
            let body = try written.get()
            var response = Answer.json(body)
            response.hold = try hold(body.count, account)
            return response
        }
    }

    private func hold(_ count: Int, _ account: String) throws(Overload) -> AnswerHold {
        let isTaken = bytes.withLock { bytes in
            let held = bytes[account, default: 0]
            guard held + count <= bytesOfAccount else { return false }
            bytes[account] = held + count
            return true
        }
        guard isTaken else { throw Overload() }
        return AnswerHold { [bytes] in
            bytes.withLock { bytes in
                let held = bytes[account, default: 0] - count
                bytes[account] = held > 0 ? held : nil
            }
        }
    }

    private static func run<Value: Sendable>(
        on queue: DispatchQueue, _ body: @escaping @Sendable () -> Value
    ) async -> Value {
        await withCheckedContinuation { continuation in
            queue.async { @Sendable in continuation.resume(returning: body()) }
        }
    }
}
