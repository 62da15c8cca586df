import HTTPServer
import IngestAPI

/// Answers that may be long.
///
/// They are written one after the other for each account, and few at once, so that they take bounded memory and nobody
/// else's time. What an account has of them on the way is bounded too: a client that takes nothing must not have the room of
/// all. Whoever has too much is refused before anything is read for them, and before anything is stored: what was stored is
/// answered.
final class LongAnswers: Sendable {
    struct Limits: Sendable {
        /// Those that list all that an account has wait before they are read. One goes beyond the bytes: it is begun while the
        /// others are below.
        var lists = AnswerLane.Limits(waitingOfAccount: 32, bytesOfAccount: 16 << 20)
        /// So do those that list all that a device has. Gateways need them before they send: no list of an account is in
        /// their way.
        var ledgers = AnswerLane.Limits(waitingOfAccount: 64, bytesOfAccount: 16 << 20)
        /// Pages are bounded in themselves, and more people wait for them.
        var pages = AnswerLane.Limits(waitingOfAccount: 256, bytesOfAccount: 16 << 20)
        var patience = Duration.seconds(10)
        /// Of one list.
        var listBytes = IngestAPI.maxListBytes
        /// Of an account's answers to writes.
        var writtenBytes = 16 << 20
        /// Of all accounts' together: they are sent beside all that a server may have in hand.
        var allWrittenBytes = 128 << 20
    }

    /// Rows that take less time to write than to hand to somebody else.
    private static let shortPage = 32
    /// Of a row that is as long as they get.
    static let rowBytes = 600

    private let listBytes: Int
    private let lists: AnswerLane
    private let ledgers: AnswerLane
    private let pages: AnswerLane
    private let writer = AnswerWriter("ingest-written")
    private let written: AccountBytes

    init(limits: Limits = Limits()) {
        listBytes = limits.listBytes
        lists = AnswerLane("ingest-lists", limits.lists, patience: limits.patience)
        ledgers = AnswerLane("ingest-ledgers", limits.ledgers, patience: limits.patience)
        pages = AnswerLane("ingest-pages", limits.pages, patience: limits.patience)
        written = AccountBytes(limit: limits.writtenBytes, ofAll: limits.allWrittenBytes)
    }

    /// There is no room for the answer now.
    struct Overload: Error {}

    /// The answer to a write, of so many rows. It has its room before `store` runs: `Overload`, and nothing is stored, when there
    /// is none. Once it is stored nothing refuses its answer, and it waits for no turn.
    func stored<Value: Encodable & Sendable>(
        rows: Int, account: String, _ store: () async throws -> Value
    ) async throws -> ServerResponse {
        if rows <= Self.shortPage { return Answer.json(try await store()) }
        guard let room = written.hold(rows * Self.rowBytes, account: account) else { throw Overload() }
        let value = try await store()
        var response = await writer.run { Answer.json(value) }
        response.hold = room
        return response
    }

    /// What `read` returns, of `atMost` rows. `Overload` as for lists, unless there can't be many.
    func page<Value: Encodable & Sendable>(
        atMost: Int, account: String, rows: (Value) -> Int, _ read: () async throws -> Value
    ) async throws -> ServerResponse {
        if atMost <= Self.shortPage { return Answer.json(try await read()) }
        return try await pages.answer(
            account, expected: atMost * Self.rowBytes, isShort: { rows($0) <= Self.shortPage }, read: read)
    }

    /// What an account has: `{ NAME: [ … ] }` of what `read` returns. `Overload` when it would have to wait too long, or while
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
