import Foundation
import HTTPClient
import IngestAPI
import Testing

@testable import Uplink

/// A server that wants to see a certificate.
@Suite(.enabled(if: TLSFront.isPossible)) struct ClientCertificateTests {
    let directory = TemporaryDirectory()
    let authority: TestAuthority
    /// Of the clients.
    let clients: TestAuthority
    let model = ModelServer()
    let server: ScriptedServer
    let front: TLSFront

    init() throws {
        authority = try TestAuthority()
        clients = try TestAuthority()
        let model = model
        server = try ScriptedServer { .proper(model.answer($0)) }
        front = try TLSFront(try authority.issue("localhost"), upstream: server.port, clients: clients)
    }

    private func end() {
        front.stop()
        server.stop()
    }

    private func settings(_ own: TestAuthority.Issued?) -> TransportSettings {
        TransportSettings(
            authorityFile: authority.file,
            clientCertificate: own.map { ClientCertificate(certificateFile: $0.certificate, keyFile: $0.key) }
        )
    }

    private func code(_ settings: TransportSettings) async -> HTTPFailure.Code? {
        let url = "https://localhost:\(front.port)/v1/devices/\(deviceA)"
        return await BlockingWork().perform {
            let transport = ConfiguredTransport(settings, abortFlag: AbortFlag())
            do throws(HTTPFailure) { _ = try transport.perform(HTTPRequest(.get, url)) } catch {
                return error.code
            }
            return nil
        }
    }

    @Test func theRightOneIsTaken() async throws {
        defer { end() }
        let right = try clients.issue("gateway")
        #expect(await code(settings(right)) == nil)
        #expect(server.requests.count == 1)
    }

    @Test func noneAWrongOneAndAnExpiredOneAreRefusedAndNamed() async throws {
        defer { end() }
        #expect(await code(settings(nil)) == .clientCertificate)
        let wrong = try authority.issue("gateway")
        #expect(await code(settings(wrong)) == .clientCertificate)
        let old = try clients.issue("gateway", to: "20210101000000Z")
        #expect(await code(settings(old)) == .clientCertificate, "not this machine's clock, nor the server's")
        #expect(server.requests.isEmpty)
    }

    @Test func aKeyThatOthersCanReadIsNotUsed() async throws {
        defer { end() }
        let own = try clients.issue("gateway")
        for mode in [0o640, 0o604, 0o644] {
            chmod(own.key, mode_t(mode))
            #expect(await code(settings(own)) == .clientKeyUnusable)
        }
        #expect(server.requests.isEmpty)
        chmod(own.key, 0o400)
        #expect(await code(settings(own)) == nil)
        unlink(own.key)
        #expect(await code(settings(own)) == .clientKeyUnusable)
    }

    @Test func filesThatAreNoPairAreNamed() async throws {
        defer { end() }
        let one = try clients.issue("gateway")
        let other = try clients.issue("gateway")
        #expect(
            await code(settings(.init(certificate: one.certificate, key: other.key))) == .clientCertificate)
        let junk = directory.write("no key", to: "junk")
        #expect(await code(settings(.init(certificate: one.certificate, key: junk))) == .clientCertificate)
        #expect(await code(settings(.init(certificate: junk, key: one.key))) == .clientCertificate)
    }

    @Test func theUploadGoesOnWhenTheCertificateIsRenewed() async throws {
        defer { end() }
        let old = try clients.issue("gateway", to: "20210101000000Z")
        let new = try clients.issue("gateway")
        let settings = settings(old)
        let url = "https://localhost:\(front.port)"
        let model = model
        try await BlockingWork().perform {
            let run = Run(url: url, transport: ConfiguredTransport(settings, abortFlag: AbortFlag()))
            run.outbox.add((1...10).map { sample($0) })
            run.pass(.seconds(3600))
            #expect(run.problem == "client_certificate_failed")
            // Key first: until both are there, the pair is none.
            rename(new.key, old.key)
            rename(new.certificate, old.certificate)
            run.pass(.seconds(11))
            #expect(run.problem == nil)
            #expect(model.contents.value.samples.count == 10)
        }
    }
}
