import HTTPServer
import IngestAPI
import Locking
import Testing

@testable import IngestService
@testable import IngestStore

@Suite struct AuthenticatorTests {
    private let tokens = MemoryTokens()
    private let start = ContinuousClock.now

    private func request(_ token: String, from address: String? = nil, forwarded: String? = nil)
        -> ServerRequest
    {
        var headers = [HTTPField("Authorization", "Bearer \(token)")]
        if let forwarded { headers.append(HTTPField("X-Forwarded-For", forwarded)) }
        return ServerRequest(
            method: "GET", path: ["v1", "devices"], headers: headers,
            client: address.flatMap { ClientAddress($0) })
    }

    private func authenticator(file: [String: Identity] = [:], isBehindProxy: Bool = false) -> Authenticator {
        Authenticator(file: TokenTable(file), storage: tokens, isBehindProxy: isBehindProxy)
    }

    private func outcome(
        _ authenticator: Authenticator, _ request: ServerRequest, after seconds: Int = 0
    ) async -> Result<Caller, AuthenticationFailure> {
        let now = start + .seconds(seconds)
        do throws(AuthenticationFailure) {
            return .success(try await authenticator.caller(request, now: { now }))
        } catch {
            return .failure(error)
        }
    }

    @Test func bothSourcesAreAsked() async throws {
        try await tokens.add("stored", account: "b", role: .read)
        let authenticator = authenticator(file: ["filed": Identity(account: "a")])
        let filed = try await authenticator.caller(request("filed"))
        #expect(filed.identity == Identity(account: "a"))
        #expect(tokens.questions == 0)
        let stored = try await authenticator.caller(request("stored"))
        #expect(stored.identity == Identity(account: "b", role: .read))
        #expect(await outcome(authenticator, request("other")) == .failure(.denied))
    }

    @Test func theStorageIsAskedOnceInTenSeconds() async throws {
        try await tokens.add("right")
        let authenticator = authenticator()
        for token in ["right", "wrong"] {
            let before = tokens.questions
            for seconds in [0, 3, 9] {
                let result = await outcome(authenticator, request(token), after: seconds)
                #expect(((try? result.get()) != nil) == (token == "right"))
            }
            #expect(tokens.questions == before + 1)
            _ = await outcome(authenticator, request(token), after: 10)
            #expect(tokens.questions == before + 2)
        }
    }

    @Test func aRevokedTokenIsRefusedAfterTenSecondsAtMost() async throws {
        try await tokens.add("right")
        let authenticator = authenticator()
        #expect((try? await outcome(authenticator, request("right")).get()) != nil)
        let id = try #require(try await tokens.tokens(account: nil).first).id
        _ = try await tokens.revokeToken(id: id, at: APITime(milliseconds: 1))
        #expect((try? await outcome(authenticator, request("right"), after: 9).get()) != nil)
        for seconds in [10, 11, 25, 40] {
            let result = await outcome(authenticator, request("right"), after: seconds)
            #expect(result == .failure(.denied))
        }
        // What is revoked is remembered like any wrong token: 0, 10, 25 and 40 seconds after the start.
        #expect(tokens.questions == 4)
    }

    @Test func aStorageThatIsDownIsNoReasonToCallATokenWrong() async throws {
        try await tokens.add("right")
        let authenticator = authenticator(file: ["filed": Identity(account: "a")])
        let failure = StorageFailure(.unavailable, "down")
        _ = await outcome(authenticator, request("right"))
        tokens.fail(failure)
        for token in ["right", "wrong"] {
            #expect(await outcome(authenticator, request(token), after: 20) == .failure(.storage(failure)))
        }
        #expect((try? await outcome(authenticator, request("filed"), after: 20).get()) != nil)
        tokens.fail(nil)
        #expect((try? await outcome(authenticator, request("right"), after: 21).get()) != nil)
        #expect(await outcome(authenticator, request("wrong"), after: 21) == .failure(.denied))
    }

    /// A generous number of wrong tokens is looked up for an address; then those that nobody ever knew are not.
    @Test func aFloodOfWrongTokensFromOneAddressStopsAtTheServer() async throws {
        try await tokens.add("right")
        let authenticator = authenticator()
        _ = await outcome(authenticator, request("right", from: "192.0.2.1"))
        var limited = 0
        for number in 0..<2000 {
            let result = await outcome(authenticator, request("wrong\(number)", from: "192.0.2.1"))
            if case .failure(.limited(let seconds)) = result {
                #expect(seconds >= 1)
                limited += 1
            } else {
                #expect(result == .failure(.denied))
            }
        }
        #expect(tokens.questions < 400)
        #expect(limited > 1600)
        // Long after its last look-up the gateway behind the same address is let in.
        for seconds in [0, 11] {
            let result = await outcome(
                authenticator, request("right", from: "192.0.2.1"), after: seconds)
            #expect((try? result.get()) != nil)
        }
        // Another address has its own count, and a wrong token that was looked up is called wrong.
        #expect(await outcome(authenticator, request("new", from: "192.0.2.2")) == .failure(.denied))
        #expect(await outcome(authenticator, request("wrong0", from: "192.0.2.1")) == .failure(.denied))
        #expect(
            await outcome(authenticator, request("new2", from: "192.0.2.1"), after: 60) == .failure(.denied))
    }

    @Test func behindAProxyTheClientIsTheOneThatTheProxyNames() async throws {
        for isBehindProxy in [true, false] {
            let authenticator = authenticator(isBehindProxy: isBehindProxy)
            for number in 0..<500 {
                // What the client itself wrote comes first, and counts for nothing.
                _ = await outcome(
                    authenticator,
                    request("wrong\(number)", from: "127.0.0.1", forwarded: "10.0.0.\(number % 9), 192.0.2.1")
                )
            }
            let other = await outcome(
                authenticator, request("wrong", from: "127.0.0.1", forwarded: "192.0.2.2"))
            #expect((other == .failure(.denied)) == isBehindProxy)
            let same = await outcome(
                authenticator, request("again", from: "127.0.0.1", forwarded: "192.0.2.3, 192.0.2.1"))
            #expect(same != .failure(.denied))
        }
    }

    @Test func questionsThatWaitAreBounded() async throws {
        tokens.hold()
        let authenticator = authenticator()
        let overloaded = Guarded(0)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<400 {
                group.addTask {
                    let result = await outcome(authenticator, request("wrong\(number)"))
                    if result == .failure(.overloaded) { overloaded.withLock { $0 += 1 } }
                }
            }
            while overloaded.withLock({ $0 }) < 400 - 256 { await Task.yield() }
            tokens.release()
        }
        #expect(overloaded.withLock { $0 } == 400 - 256)
        #expect(tokens.questions == 256)
    }

    @Test func failuresAreToldOnceAMinuteWithTheirCount() {
        var summary = RefusalSummary()
        #expect(summary.note(now: start) == 1)
        for second in 1..<60 { #expect(summary.note(now: start + .seconds(second)) == nil) }
        #expect(summary.note(now: start + .seconds(60)) == 60)
        #expect(summary.note(now: start + .seconds(61)) == nil)
        #expect(summary.note(now: start + .seconds(500)) == 2)
    }
}
