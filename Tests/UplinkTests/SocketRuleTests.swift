import Compression
import Foundation
import GatewayModel
import HTTPClient
import IngestAPI
import Testing

@testable import Uplink

/// Rules that are about one thing in particular, over a socket.
@Suite struct SocketRuleTests {
    // MARK: where the token goes

    @Test(arguments: [301, 302, 303, 307, 308])
    func aRedirectIsNeverFollowedAndTheTokenGoesNowhereElse(_ status: Int) async throws {
        let other = try ScriptedServer { _ in .proper(HTTPResponse(status: 200)) }
        defer { other.stop() }
        let elsewhere = HTTPHeader("Location", other.url + "/v1/samples:batch")
        try await SocketRun.perform(script: { _, _ in
            .proper(ServerScenario.html(status, [elsewhere]))
        }) { bed in
            bed.run.outbox.add(Secrets.samples(1...10))
            bed.run.pass(.seconds(3600))
            #expect(bed.run.problem == "not_this_api")
            #expect(bed.arrivals.count <= ServerScenario.backedOff)
            #expect(bed.run.outbox.count(.pending) == 10)
            // Back to itself is no better: it may be a portal that knows our path.
            let home = HTTPHeader("Location", bed.server.url + "/v1/samples:batch")
            bed.set { _, _ in .proper(ServerScenario.html(status, [home])) }
            let before = bed.arrivals.count
            bed.run.pass(.seconds(3600))
            #expect(bed.arrivals.count - before <= 9)
            #expect(Secrets.leaks(in: bed.run) == [])
        }
        #expect(other.requests.isEmpty)
    }

    // MARK: poison

    @Test(arguments: [1, 2, 250, 251, 499, 500] as [UInt32])
    func onePoisonSampleIn500IsFoundAloneAndTheRestGoesUp(_ poison: UInt32) async throws {
        try await SocketRun.perform { bed in
            bed.model.set(poison: { $0.seq == poison })
            bed.run.outbox.add(Secrets.samples(1...500))
            _ = bed.run.untilItWaits()
            #expect(bed.run.outbox.state(poison) == .quarantined("malformed"))
            #expect(bed.run.outbox.count(.confirmed) == 499)
            #expect(bed.run.problem == nil)
            // Halving and the halves that pass: twice the nine steps, and some.
            #expect(bed.posts().count <= 22, "\(bed.posts().count)")
            #expect(bed.model.contents.value.brokenPromises.isEmpty)
            let reports = bed.run.events.value.compactMap { event in
                if case .runFinished(let report, _, _) = event { report } else { nil }
            }
            #expect(reports.map(\.confirmed) == [499])
            #expect(reports.map(\.rejected) == [1])
            #expect(Secrets.leaks(in: bed.run) == [])
        }
    }

    @Test func threePoisonSinglesInARowAreTheServersFault() async throws {
        try await SocketRun.perform { bed in
            bed.model.set(poison: { _ in true })
            bed.run.outbox.add(Secrets.samples(1...500))
            bed.run.pass(.seconds(86_400))
            #expect(bed.run.outbox.count(.quarantined("malformed")) == 3)
            #expect(bed.run.problem == "server_refuses")
            #expect(bed.posts().count <= 27 + 24, "halves, then a look an hour")
            bed.heal()
            bed.model.set(poison: nil)
            bed.run.pass(.seconds(3700))
            #expect(bed.run.outbox.count(.confirmed) == 497)
            #expect(bed.run.problem == nil)
        }
    }

    @Test func aBatchThatIsTooLargeIsHalvedUntilItIsNot() async throws {
        try await SocketRun.perform(
            script: ServerScenario.batches { request, model in
                // As one with less memory than the contract wants.
                let size = (try? Gzip.decompress(request.body, limit: 1 << 21).count) ?? 0
                return .proper(size > 30_000 ? ServerScenario.error(.batchTooLarge) : model.answer(request))
            }
        ) { bed in
            bed.run.outbox.add(Secrets.samples(1...3000))
            _ = bed.run.untilItWaits()
            #expect(bed.run.outbox.count(.confirmed) == 3000)
            #expect(bed.run.problem == nil)
            #expect(bed.posts().count <= 36, "\(bed.posts().count)")
        }
    }

    // MARK: consent

    @Test func oneWithoutConsentHoldsUpNobodyElse() async throws {
        try await SocketRun.perform { bed in
            let ben = PersonID("ben")!
            bed.run.outbox.add(
                Secrets.samples(1...600).map { sample in
                    var sample = sample
                    sample.wearer = sample.seq % 2 == 0 ? .person(ben) : .person(PersonID("anna")!)
                    return sample
                })
            bed.model.set(rejection: { $0.person == .assigned("ben") ? .consentMissing : nil })
            bed.run.pass(.seconds(1800))
            #expect(bed.run.outbox.count(.confirmed) == 300)
            #expect(bed.run.outbox.count(.held) == 300)
            #expect(bed.run.problem == nil)
            let before = bed.posts().count
            #expect(before <= 4)
            bed.run.outbox.add(Secrets.samples(601...620))
            bed.run.pass(.seconds(61))
            #expect(bed.run.outbox.count(.confirmed) == 320)
            bed.model.set(rejection: nil)
            bed.run.pass(.seconds(3600))
            #expect(bed.run.outbox.count(.confirmed) == 620)
            #expect(bed.model.contents.value.samples.count == 620)
        }
    }

    // MARK: answers that are lost

    @Test func anAnswerThatIsLostAfterTheCommitCountsOnce() async throws {
        try await SocketRun.perform(
            script: ServerScenario.batches { request, model in
                _ = model.answer(request)
                return .bytes("HTTP/1.1 200 OK\r\nContent-Length: 400\r\n\r\n{\"sync_id\":")
            }
        ) { bed in
            bed.run.outbox.add(Secrets.samples(1...500))
            bed.run.pass(.seconds(600))
            #expect(bed.run.outbox.count(.pending) == 500)
            bed.heal()
            bed.run.pass(.seconds(901))
            let contents = bed.model.contents.value
            #expect(bed.run.outbox.count(.confirmed) == 500)
            #expect(contents.samples.values.allSatisfy { $0.timesNew == 1 })
            #expect(contents.contentBySyncID.count == 1, "one content, one sync_id")
            #expect(contents.brokenPromises.isEmpty)
        }
    }

    // MARK: the way there

    @Test(arguments: ["[::1]", "localhost"])
    func aServerThatHasOnlyIPv6IsReached(_ host: String) async throws {
        try await SocketRun.perform(family: AF_INET6, url: { "http://\(host):\($0.port)" }) { bed in
            bed.run.outbox.add(Secrets.samples(1...10))
            _ = bed.run.untilItWaits()
            #expect(bed.run.outbox.count(.confirmed) == 10)
        }
    }
}

/// What TLS says of who answers.
@Suite(.enabled(if: TLSFront.isPossible)) struct TLSRuleTests {
    /// The uploader against a server with this certificate, and a host whose wall clock shows this.
    private func upload(
        name: String = "localhost", from: String = "20200101000000Z", to: String = "20990101000000Z",
        isTrusted: Bool = true, trust: HostTrust = .plausible,
        _ body: @escaping @Sendable (Run, SocketRun.Bed) -> Void
    ) async throws {
        let authority = try TestAuthority()
        let own = try authority.issue(name, from: from, to: to)
        let options = HTTPClientOptions(authorityFile: isTrusted ? authority.file : nil)
        // Python's own process is ended by its pipe.
        let front = Locked<TLSFrontBox?>(nil)
        defer { front.value?.front.stop() }
        try await SocketRun.perform(
            url: { server in
                guard let made = try? TLSFront(own, upstream: server.port) else { return server.url }
                front.change { $0 = TLSFrontBox(front: made) }
                return "https://localhost:\(made.port)"
            }, options: options
        ) { bed in
            bed.run.trust.change { $0 = trust }
            bed.run.outbox.add(Secrets.samples(1...10))
            bed.run.pass(.seconds(3600))
            body(bed.run, bed)
            #expect(Secrets.leaks(in: bed.run) == [])
        }
    }

    private struct TLSFrontBox: @unchecked Sendable {
        var front: TLSFront
    }

    @Test func theRightCertificateIsTaken() async throws {
        try await upload { run, _ in
            #expect(run.problem == nil)
            #expect(run.outbox.count(.confirmed) == 10)
        }
    }

    @Test func aNameThatWasHijackedGetsNoToken() async throws {
        for (name, isTrusted) in [("portal.example", true), ("localhost", false)] {
            try await upload(name: name, isTrusted: isTrusted) { run, bed in
                #expect(run.problem == "tls_failed")
                #expect(run.board.snapshot.lastErrorCode == "network_timeout")
                #expect(run.outbox.count(.pending) == 10)
                #expect(bed.arrivals.isEmpty)
                #expect(bed.model.contents.value.tokens.isEmpty)
                // The network's manager may know better what it is.
                run.network.change { $0.wantsLogIn = true }
                run.worker.prompted()
                run.pass(.seconds(1))
                #expect(run.problem == "captive_portal")
            }
        }
    }

    @Test func aCertificateThatIsNotYetValidIsTheClocksFaultWhereItIs() async throws {
        for (trust, code) in [
            (HostTrust.implausible, "host_clock_wrong"), (.plausible, "host_clock_wrong"),
            (.synchronised, "certificate_time"),
        ] {
            try await upload(from: "20980101000000Z", trust: trust) { run, bed in
                #expect(run.problem == code)
                #expect(run.board.snapshot.lastErrorCode == "network_timeout")
                let text = run.board.snapshot.problem?.text ?? ""
                #expect(
                    text.hasPrefix(
                        "The server's certificate begins on 2098-01-01, and this machine's clock says 20"),
                    "\(text)")
                #expect(bed.arrivals.isEmpty)
                #expect(run.outbox.count(.pending) == 10)
            }
        }
    }

    @Test func anExpiredCertificateIsTheClocksFaultOnlyWhereThatIsKnown() async throws {
        for (trust, code, says) in [
            (HostTrust.implausible, "host_clock_wrong", "the clock is wrong"),
            (.plausible, "certificate_time", "one of the two is wrong"),
            (.synchronised, "certificate_time", "the certificate is at fault"),
        ] {
            try await upload(to: "20210203000000Z", trust: trust) { run, bed in
                #expect(run.problem == code)
                let text = run.board.snapshot.problem?.text ?? ""
                #expect(text.contains("ended on 2021-02-03") && text.contains(says), "\(text)")
                #expect(bed.arrivals.isEmpty)
            }
        }
    }
}
