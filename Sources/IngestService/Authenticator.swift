import HTTPServer
import IngestStore
import Locking

/// Says whom a request's token stands for: from the token file, from what the storage said a moment ago, or
/// from the storage.
final class Authenticator: Sendable {
    /// What is known without asking the storage.
    enum Judgement {
        case known(Caller)
        case refused(AuthenticationFailure)
        case unknown
    }

    /// Wrong tokens that the storage is asked for in a minute, on behalf of one address. Far above what a
    /// thousand gateways with old tokens ask behind one address.
    private static let failuresPerMinute = 1200
    /// Questions to the storage at one time. Past it a request is refused with 503, and not kept.
    private static let questionLimit = 256

    private struct State {
        var file: TokenTable
        var cache = TokenCache()
        var failures = RateLimits<ClientAddress>(requestsPerMinute: failuresPerMinute, capacity: 16_384)
        var questions = 0
    }

    private let storage: (any TokenStorage)?
    private let isBehindProxy: Bool
    private let state: Guarded<State>

    /// `isBehindProxy`: a client's address is the last one in `X-Forwarded-For`, which the proxy wrote.
    init(file: TokenTable, storage: (any TokenStorage)?, isBehindProxy: Bool) {
        self.storage = storage
        self.isBehindProxy = isBehindProxy
        state = Guarded(State(file: file))
    }

    /// The token file has changed.
    func replace(file: TokenTable) { state.withLock { $0.file = file } }

    func judge(_ request: ServerRequest, now: ContinuousClock.Instant = .now) -> Judgement {
        guard let token = request.bearerToken else { return .refused(.denied) }
        return judge(SHA256.digest(Array(token.utf8)), of: client(request), now: now)
    }

    private func judge(
        _ digest: [UInt8], of client: ClientAddress?, now: ContinuousClock.Instant
    ) -> Judgement {
        state.withLock { state in
            if let identity = state.file.identity(digest: digest) {
                return .known(Caller(identity: identity, token: digest))
            }
            guard storage != nil else { return .refused(.denied) }
            switch state.cache.find(digest, now: now) {
            case .known(let identity): return .known(Caller(identity: identity, token: digest))
            case .denied: return .refused(.denied)
            // A gateway whose token was right is asked for although others behind its address try wrong ones.
            case .unknown(wasKnown: true): return .unknown
            case .unknown(wasKnown: false):
                guard let seconds = client.flatMap({ state.failures.wait($0, now: now) }) else {
                    return .unknown
                }
                return .refused(.limited(seconds: seconds))
            }
        }
    }

    /// Asks the storage where it has to. A storage that can't answer is no reason to say that a token is wrong.
    func caller(
        _ request: ServerRequest, now: @Sendable () -> ContinuousClock.Instant = { .now }
    ) async throws(AuthenticationFailure) -> Caller {
        guard let token = request.bearerToken else { throw .denied }
        let digest = SHA256.digest(Array(token.utf8))
        let client = client(request)
        switch judge(digest, of: client, now: now()) {
        case .known(let caller): return caller
        case .refused(let failure): throw failure
        case .unknown: break
        }
        guard let storage else { throw .denied }
        let isTaken = state.withLock {
            guard $0.questions < Self.questionLimit else { return false }
            $0.questions += 1
            return true
        }
        guard isTaken else { throw .overloaded }
        defer { state.withLock { $0.questions -= 1 } }
        let asked = now()
        let found: StoredToken?
        do {
            found = try await storage.token(digest: digest)
        } catch {
            throw .storage(error)
        }
        let identity = found.flatMap { token in
            token.revokedAt == nil ? Identity(account: token.account, role: token.role) : nil
        }
        state.withLock {
            $0.cache.note(identity, for: digest, asked: asked)
            if identity == nil, let client { _ = $0.failures.take(client, now: now()) }
        }
        guard let identity else { throw .denied }
        return Caller(identity: identity, token: digest)
    }

    private func client(_ request: ServerRequest) -> ClientAddress? {
        guard isBehindProxy, let list = request.header("x-forwarded-for").last else { return request.client }
        let last = list.split(separator: ",").last ?? ""
        return ClientAddress(last.filter { $0 != " " }) ?? request.client
    }
}

/// Who asks: one token.
struct Caller: Equatable, Sendable {
    var identity: Identity
    /// Its SHA-256.
    var token: [UInt8]
}

/// Why it is not known who asks.
enum AuthenticationFailure: Error, Equatable, Sendable {
    /// There is no token, or a wrong one.
    case denied
    /// Too many wrong tokens came from there.
    case limited(seconds: Int)
    /// Too many questions wait for the storage.
    case overloaded
    case storage(StorageFailure)
}
