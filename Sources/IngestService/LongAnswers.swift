import HTTPServer
import IngestAPI

/// Answers that may be long.
///
/// They are written one after the other for each account, and few at once, so that they take bounded memory and nobody
/// else's time. Writing JSON keeps a thread busy for as long as it takes: never one of Swift's shared pool. What an account has of
/// them on the way is bounded too: a client that takes nothing must not have the room of all.
final class LongAnswers: Sendable {
    struct Limits: Sendable {
        /// Those that list all that an account has wait before they are read.
        var lists = AnswerLane.Limits(waitingOfAccount: 32, bytesOfAccount: IngestAPI.maxListBytes)
        /// So do those that list all that a device has. Gateways need them before they send: no list of an account is in
        /// their way.
        var ledgers = AnswerLane.Limits(waitingOfAccount: 64, bytesOfAccount: 16 << 20)
        /// Pages are bounded in themselves, and more people wait for them.
        var pages = AnswerLane.Limits(waitingOfAccount: 256, bytesOfAccount: 16 << 20)
        var patience = Duration.seconds(10)
        /// Of one list.
        var listBytes = IngestAPI.maxListBytes
    }

    /// Rows that take less time to write than to hand to somebody else.
    private static let shortPage = 32

    private let listBytes: Int
    private let lists: AnswerLane
    private let ledgers: AnswerLane
    private let pages: AnswerLane

    init(limits: Limits = Limits()) {
        listBytes = limits.listBytes
        lists = AnswerLane("ingest-lists", limits.lists, patience: limits.patience)
        ledgers = AnswerLane("ingest-ledgers", limits.ledgers, patience: limits.patience)
        pages = AnswerLane("ingest-pages", limits.pages, patience: limits.patience)
    }

    /// There is no room for the answer now.
    struct Overload: Error {}

    /// One of bounded length; `rows` says how long it is. `Overload` as for lists, unless it is short.
    func page(
        _ value: some Encodable & Sendable, rows: Int, account: String
    ) async throws -> ServerResponse {
        if rows <= Self.shortPage { return Answer.json(value) }
        return try await pages.answer(account, read: { value }, write: { .success(Answer.json($0)) })
    }

    /// What an account has: `{ NAME: [ … ] }` of what `read` returns. `Overload` when it would have to wait too long, or when
    /// the account's earlier ones are still being sent.
    func list<Element: Encodable & Sendable>(
        _ name: String, account: String, _ read: () async throws -> [Element]
    ) async throws -> ServerResponse {
        try await list(name, account, in: lists, read)
    }

    /// The same of what a device has.
    func ledger<Element: Encodable & Sendable>(
        _ name: String, account: String, _ read: () async throws -> [Element]
    ) async throws -> ServerResponse {
        try await list(name, account, in: ledgers, read)
    }

    private func list<Element: Encodable & Sendable>(
        _ name: String, _ account: String, in lane: AnswerLane, _ read: () async throws -> [Element]
    ) async throws -> ServerResponse {
        let limit = listBytes
        return try await lane.answer(account, read: read) { elements in
            Result { () throws(APIFailure) in
                Answer.json(try APIJSON.encodeList(name, elements, limit: limit))
            }
        }
    }
}
