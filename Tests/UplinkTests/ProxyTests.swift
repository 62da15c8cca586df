import Foundation
import HTTPClient
import IngestAPI
import ProcessTestSupport
import Testing

@testable import Uplink

/// Through real proxies to a real TLS server, which only they can find: its name exists nowhere.
@Suite(.enabled(if: TLSFront.isPossible)) struct ProxyTests {
    static let name = "ingest.bandferry.invalid"
    static let credentials = "anna:s:cret-pQ7"

    let directory = TemporaryDirectory()
    let authority: TestAuthority
    let model = ModelServer()
    let server: ScriptedServer
    let front: TLSFront

    init() throws {
        authority = try TestAuthority()
        let model = model
        server = try ScriptedServer { .proper(model.answer($0)) }
        front = try TLSFront(try authority.issue(Self.name), upstream: server.port)
    }

    private func end(_ proxy: ScriptedProxy) {
        proxy.stop()
        front.stop()
        server.stop()
    }

    private func proxy(_ kind: ScriptedProxy.Kind) throws -> ScriptedProxy {
        try ScriptedProxy(kind, targets: ["\(Self.name):443": front.port])
    }

    private func settings(_ url: String, credentials: String? = nil) -> TransportSettings {
        TransportSettings(
            authorityFile: authority.file, proxy: .server(url),
            proxyCredentialsFile: credentials.map { directory.write($0 + "\n", to: "proxy", mode: 0o600) })
    }

    /// One request with a token, on a thread of its own.
    private func ask(_ settings: TransportSettings) async -> Result<HTTPResponse, HTTPFailure> {
        await BlockingWork().perform {
            let transport = ConfiguredTransport(settings, abortFlag: AbortFlag())
            return Result { () throws(HTTPFailure) in try transport.perform(Self.request) }
        }
    }

    private static let request = HTTPRequest(
        .get, "https://\(name)/v1/devices/\(deviceA)",
        headers: [HTTPHeader("Authorization", "Bearer \(Secrets.token)")])

    private func code(_ result: Result<HTTPResponse, HTTPFailure>) -> HTTPFailure.Code? {
        if case .failure(let failure) = result { failure.code } else { nil }
    }

    // MARK: what works

    @Test func anHTTPProxyCarriesWhatItCanNotRead() async throws {
        let proxy = try proxy(.http(credentials: nil))
        defer { end(proxy) }
        let result = await ask(settings("http://127.0.0.1:\(proxy.port)"))
        #expect(try result.get().status == 404, "the server answered: it knows no such device")
        #expect(proxy.requests == ["\(Self.name):443"])
        #expect(!proxy.seen.isEmpty && !proxy.seen.contains(Secrets.token))
        #expect(model.contents.value.tokens == ["Bearer \(Secrets.token)"])
    }

    @Test func aSOCKSProxyLooksTheNameUp() async throws {
        for credentials in [nil, Self.credentials] {
            let proxy = try proxy(.socks(credentials: credentials))
            defer { proxy.stop() }
            let result = await ask(settings("socks5h://127.0.0.1:\(proxy.port)", credentials: credentials))
            #expect(try result.get().status == 404)
            #expect(proxy.requests == ["\(Self.name):443"])
        }
        front.stop()
        server.stop()
    }

    @Test func aProxyOverTLSIsVerifiedToo() async throws {
        let proxy = try proxy(.http(credentials: nil))
        defer { end(proxy) }
        let itsFront = try TLSFront(try authority.issue("localhost"), upstream: proxy.port)
        defer { itsFront.stop() }
        let url = "https://localhost:\(itsFront.port)"
        #expect(try await ask(settings(url)).get().status == 404)
        let stranger = try TestAuthority()
        let strange = try TLSFront(try stranger.issue("localhost"), upstream: proxy.port)
        defer { strange.stop() }
        #expect(code(await ask(settings("https://localhost:\(strange.port)"))) == .tls)
        #expect(proxy.requests.count == 1)
    }

    @Test func nameAndPasswordComeFromTheirFile() async throws {
        let proxy = try proxy(.http(credentials: Self.credentials))
        defer { end(proxy) }
        let url = "http://127.0.0.1:\(proxy.port)"
        #expect(try await ask(settings(url, credentials: Self.credentials)).get().status == 404)
        #expect(code(await ask(settings(url))) == .proxyAuthentication)
        #expect(code(await ask(settings(url, credentials: "anna:wrong"))) == .proxyAuthentication)
        #expect(!proxy.seen.contains(Secrets.token))
    }

    // MARK: what does not

    @Test func aFileThatCanNotBeUsedReachesNoProxy() async throws {
        let proxy = try proxy(.http(credentials: Self.credentials))
        defer { end(proxy) }
        var settings = settings("http://127.0.0.1:\(proxy.port)")
        settings.proxyCredentialsFile = directory.path + "/none"
        #expect(code(await ask(settings)) == .proxyCredentialsUnusable)
        for mode in [0o640, 0o604, 0o644] {
            settings.proxyCredentialsFile = directory.write(Self.credentials, to: "open", mode: mode)
            #expect(code(await ask(settings)) == .proxyCredentialsUnusable)
        }
        for text in ["", "anna", ":password", "a:b\nc:d", "a:b\u{7}"] {
            settings.proxyCredentialsFile = directory.write(text, to: "bad")
            #expect(code(await ask(settings)) == .proxyCredentialsUnusable)
        }
        #expect(proxy.requests.isEmpty)
    }

    /// What libcurl makes of what is no answer differs between its versions.
    private static let noAnswer: Set<HTTPFailure.Code> = [
        .connectionLost, .notHTTP, .proxyRefused, .proxyUnreachable,
    ]
    static let refusals: [(String, Set<HTTPFailure.Code>)] = [
        ("HTTP/1.1 403 Forbidden\r\nContent-Type: text/html\r\n\r\n<html>no</html>", [.proxyRefused]),
        ("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n", [.proxyRefused]),
        ("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", [.proxyRefused]),
        // It claims a tunnel, and a page comes out of it.
        ("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html><body>Please log in</body></html>", [.tls]),
        ("SSH-2.0-OpenSSH_9.6\r\n", noAnswer), ("", noAnswer),
    ]

    @Test(arguments: refusals.indices) func aProxyThatWillNotIsNamed(_ index: Int) async throws {
        let (answer, expected) = Self.refusals[index]
        let proxy = try proxy(.answers(answer))
        defer { end(proxy) }
        let result = await ask(settings("http://127.0.0.1:\(proxy.port)"))
        #expect(code(result).map { expected.contains($0) } == true, "\(result)")
        #expect(server.requests.isEmpty)
    }

    @Test func aProxyThatIsNotThereIsNamed() async throws {
        defer {
            front.stop()
            server.stop()
        }
        for scheme in ["http", "socks5h"] {
            #expect(code(await ask(settings("\(scheme)://127.0.0.1:1"))) == .proxyUnreachable)
        }
        #expect(code(await ask(settings("http://nobody.invalid:1"))) == .proxyUnreachable)
    }

    @Test func aSOCKSProxyThatRefusesIsNamed() async throws {
        let proxy = try proxy(.socks(credentials: Self.credentials))
        defer { end(proxy) }
        let url = "socks5h://127.0.0.1:\(proxy.port)"
        for credentials in [nil, "anna:wrong"] {
            #expect(code(await ask(settings(url, credentials: credentials))) == .proxyRefused)
        }
        let elsewhere = try ScriptedProxy(.socks(credentials: nil))
        defer { elsewhere.stop() }
        #expect(code(await ask(settings("socks5h://127.0.0.1:\(elsewhere.port)"))) == .proxyRefused)
    }

    @Test func plainHTTPToThisMachineGoesThroughNoProxy() async throws {
        let proxy = try proxy(.http(credentials: nil))
        defer { end(proxy) }
        let settings = settings("http://127.0.0.1:\(proxy.port)")
        let url = server.url
        let status = try await BlockingWork().perform {
            try ConfiguredTransport(settings, abortFlag: AbortFlag()).perform(
                HTTPRequest(.get, url + "/v1/x")
            )
            .status
        }
        #expect(status == 404)
        #expect(proxy.requests.isEmpty)
    }

    /// In a process of its own, whose environment names the proxy.
    @Test(arguments: ["none", "environment"])
    func theEnvironmentCountsOnlyWhereThatIsWanted(_ proxySetting: String) async throws {
        let proxy = try proxy(.http(credentials: nil))
        defer { end(proxy) }
        let url = "http://127.0.0.1:\(proxy.port)"
        let environment = [
            "https_proxy": url, "all_proxy": url, "BANDFERRY_TEST_PROXY": proxySetting,
            "BANDFERRY_TEST_AUTHORITY": authority.file,
        ]
        let status = try await BlockingWork().perform {
            try ChildProcess.run(
                "/proc/self/exe",
                ["--testing-library", "swift-testing", "--filter", "ProxyEnvironmentChild"],
                environment: ProcessInfo.processInfo.environment.merging(environment) { $1 }
            ).status
        }
        #expect(status == 0)
        #expect(proxy.requests.count == (proxySetting == "none" ? 0 : 1))
    }

    // MARK: the uploader behind one

    @Test func theUploadGoesThroughOnceThePasswordIsRight() async throws {
        let proxy = try proxy(.http(credentials: Self.credentials))
        defer { end(proxy) }
        let settings = settings("http://127.0.0.1:\(proxy.port)", credentials: "anna:wrong")
        let directory = directory
        let model = model
        await BlockingWork().perform {
            let run = Run(
                token: Secrets.token, url: "https://\(Self.name)",
                transport: ConfiguredTransport(settings, abortFlag: AbortFlag()))
            run.outbox.add(Secrets.samples(1...600))
            run.pass(.seconds(3600))
            #expect(run.problem == "proxy_authentication_failed")
            #expect(run.board.snapshot.lastErrorCode == "network_timeout")
            // Each try asks twice: without, and as the proxy then wants it.
            #expect(proxy.requests.count <= 2 * ServerScenario.backedOff)
            directory.write(Self.credentials, to: "proxy", mode: 0o644)
            run.pass(.seconds(11))
            #expect(run.problem == "proxy_credentials_unusable")
            directory.write(Self.credentials, to: "proxy", mode: 0o600)
            run.pass(.seconds(11))
            #expect(run.problem == nil)
            #expect(run.outbox.count(.confirmed) == 600)
            #expect(model.contents.value.samples.count == 600)
            #expect(Secrets.leaks(in: run) == [])
            let said = run.events.value.map { "\($0)" }.joined()
            #expect(!said.contains("s:cret") && !said.contains("anna"))
        }
    }

    @Test func nothingDescribesAPassword() {
        let options = HTTPClientOptions(
            proxyCredentials: ProxyCredentials(user: "anna", password: "s:cret-pQ7"))
        var dumped = ""
        dump(options, to: &dumped)
        for text in ["\(options)", String(reflecting: options), dumped] {
            #expect(!text.contains("s:cret") && !text.contains("anna"))
        }
    }
}

/// What the other process does.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["BANDFERRY_TEST_PROXY"] != nil))
struct ProxyEnvironmentChild {
    @Test func oneRequest() async throws {
        let environment = ProcessInfo.processInfo.environment
        let isWanted = environment["BANDFERRY_TEST_PROXY"] == "environment"
        let options = HTTPClientOptions(
            authorityFile: environment["BANDFERRY_TEST_AUTHORITY"], proxy: isWanted ? .environment : .none)
        let result = await HTTPClientTests().perform(
            HTTPRequest(.get, "https://\(ProxyTests.name)/v1/x"), options: options)
        if isWanted {
            #expect(try result.get().status == 404)
        } else {
            #expect(HTTPClientTests().code(result) == .cannotResolve)
        }
    }
}
