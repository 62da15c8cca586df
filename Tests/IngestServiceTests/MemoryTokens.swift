import IngestAPI
import Locking

@testable import IngestService
@testable import IngestStore

/// Tokens in memory, with a fault and a gate for tests.
final class MemoryTokens: TokenStorage, Sendable {
    private struct State {
        var accounts: [String] = []
        var tokens: [StoredToken] = []
        var failure: StorageFailure?
        var addFailure: StorageFailure?
        var questions = 0
        var isHeld = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Guarded(State())

    /// What every question fails with; nil = none does.
    func fail(_ failure: StorageFailure?) { state.withLock { $0.failure = failure } }

    /// What taking in a token fails with.
    func failAdding(_ failure: StorageFailure?) { state.withLock { $0.addFailure = failure } }

    /// How often a digest was asked for.
    var questions: Int { state.withLock { $0.questions } }

    /// Questions for a digest wait until `release`.
    func hold() { state.withLock { $0.isHeld = true } }

    func release() {
        let waiting = state.withLock { state in
            state.isHeld = false
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    private func perform<Value>(_ body: (inout State) -> Value) throws(StorageFailure) -> Value {
        let result: Result<Value, StorageFailure> = state.withLock {
            if let failure = $0.failure { return .failure(failure) }
            return .success(body(&$0))
        }
        return try result.get()
    }

    func createAccount(_ account: String) async throws(StorageFailure) -> Bool {
        try perform { state in
            if state.accounts.contains(account) { return false }
            state.accounts.append(account)
            return true
        }
    }

    func accounts() async throws(StorageFailure) -> [String] { try perform { $0.accounts } }

    func addToken(_ token: StoredToken) async throws(StorageFailure) {
        if let failure = state.withLock({ $0.addFailure }) { throw failure }
        try perform { $0.tokens.append(token) }
    }

    func tokens(account: String?) async throws(StorageFailure) -> [StoredToken] {
        try perform { $0.tokens.filter { account == nil || $0.account == account } }
    }

    func revokeToken(id: String, at time: APITime) async throws(StorageFailure) -> StoredToken? {
        try perform { state in
            guard let index = state.tokens.firstIndex(where: { $0.id == id }) else { return nil }
            state.tokens[index].revokedAt = state.tokens[index].revokedAt ?? time
            return state.tokens[index]
        }
    }

    func token(digest: [UInt8]) async throws(StorageFailure) -> StoredToken? {
        await withCheckedContinuation { continuation in
            let goesOn = state.withLock { state in
                state.questions += 1
                if state.isHeld { state.waiting.append(continuation) }
                return !state.isHeld
            }
            if goesOn { continuation.resume() }
        }
        return try perform { $0.tokens.first { $0.digest == digest } }
    }

    /// Takes in a token of an account.
    func add(_ text: String, account: String = "a", role: Role = .gateway) async throws {
        try await addToken(
            StoredToken(
                id: "0000000\(text.utf8.count % 10)", account: account, role: role,
                digest: SHA256.digest(Array(text.utf8)), createdAt: APITime(milliseconds: 0)))
    }
}
