import Foundation
import Testing

@testable import HTTPServer

/// Where the server listens, and how it stops.
@Suite struct ListeningTests {
    @Test func anAddressThatIsTakenIsNamed() async throws {
        let first = try HTTPServer.start(address: ListenAddress()) { _ in ServerResponse(status: 200) }
        do {
            let second = try HTTPServer.start(address: first.address) { _ in ServerResponse(status: 200) }
            await second.stop()
            Issue.record("two servers on one port")
        } catch {
            #expect(error.errno == EADDRINUSE)
            #expect("\(error)".contains("127.0.0.1:\(first.address.port)"))
        }
        await first.stop()
    }

    @Test func itListensOnIPv6() async throws {
        guard let address = ListenAddress("[::1]:0") else { return }
        // A machine without IPv6 says so in its own words.
        guard let server = try? HTTPServer.start(address: address, handler: RawServer.echo) else { return }
        #expect(server.address.description == "[::1]:\(server.address.port)")
        await server.stop()
    }

    @Test(arguments: [
        ("127.0.0.1:8080", "127.0.0.1:8080", true), ("[::1]:0", "[::1]:0", true),
        ("localhost:1", "localhost:1", true),
        ("0.0.0.0:80", "0.0.0.0:80", false), ("[::]:80", "[::]:80", false),
        ("192.168.1.5:80", "192.168.1.5:80", false),
        ("127.8.9.1:1", "127.8.9.1:1", true), ("[fe80::1]:1", "[fe80::1]:1", false),
        ("example.org:1", "example.org:1", false),
    ])
    func anAddressIsReadAndKnowsWhetherItIsLoopback(_ text: String, _ printed: String, _ loopback: Bool) {
        let address = ListenAddress(text)
        #expect(address?.description == printed)
        #expect(address?.isLoopback == loopback)
    }

    @Test(arguments: [
        "", "8080", ":8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "::1:80",
        "[::1:80", "a:b", "127.0.0.1: 80",
    ])
    func whatIsNoAddressIsRefused(_ text: String) { #expect(ListenAddress(text) == nil) }

    @Test func whatRunsIsFinishedBeforeTheServerStops() async throws {
        let gate = Gate()
        let server = try HTTPServer.start(address: ListenAddress()) { _ in
            await gate.wait()
            return ServerResponse(status: 200, body: Array("finished".utf8))
        }
        let answer = Answered()
        let port = server.address.port
        answer.read(try RawConnection(port: port), "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        await gate.somebodyWaits()
        async let stopped: Void = server.stop(within: .seconds(20))
        while (try? RawConnection(port: port)) != nil { try await Task.sleep(for: .milliseconds(5)) }
        gate.open()
        await stopped
        #expect(await answer.text.contains("finished"))
    }

    @Test func aHandlerThatNeverEndsDoesNotKeepTheServerFromStopping() async throws {
        let gate = Gate()
        let server = try HTTPServer.start(address: ListenAddress()) { _ in
            await gate.wait()
            return ServerResponse(status: 200)
        }
        let answer = Answered()
        answer.read(try RawConnection(port: server.address.port), "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        await gate.somebodyWaits()
        await server.stop(within: .milliseconds(50))
        #expect(await answer.text.hasPrefix("HTTP/1.1 503"))
        // Its late answer goes nowhere.
        gate.open()
        await server.stop()
    }
}
