import BandProfile
import BusTestSupport
import DBus
import GatewayModel
import Locking
import Testing

@testable import GatewayBus

private let address = FakeGateway.address

/// A pairing's questions go to the client that began it, and to nobody else.
@Suite(.timeLimit(.minutes(2))) struct PairingTests {
    /// Answers as it is told until the news end; what it heard.
    private func follow(
        _ client: GatewayBusClient, _ answer: @escaping @Sendable (PairingQuestion) -> PairingReply?
    ) async -> Task<[PairingNews], Never> {
        let news = await client.pairingNews(of: address)
        return Task {
            var heard: [PairingNews] = []
            for await one in news {
                heard.append(one)
                guard case .asked(let question, _) = one else { continue }
                if case .showPasskey = question { continue }
                try? await client.answerPairing(address, answer(question))
            }
            return heard
        }
    }

    private static let questions = [
        PairingNews.progress(.searching), .asked(.showPasskey(42, entered: 3), within: .seconds(55)),
        .asked(.enterPasskey, within: .seconds(55)), .asked(.comparePasskey(7), within: .seconds(55)),
        .progress(.paired),
    ]

    @Test func whoAdoptsIsAskedAndAnswers() async throws {
        let gateway = FakeGateway()
        let setup = try await Connected.open(gateway)
        let following = await follow(setup.client) { $0 == .enterPasskey ? .passkey(654_321) : .same }
        try await setup.client.adoptAsking(AdoptRequest(address: address, ack: .upload))
        #expect(gateway.asked.last == "answer same")
        #expect(gateway.asked.contains("answer passkey(654321)"))
        await setup.client.close()
        let heard = await following.value.map { news in
            if case .asked(.showPasskey(let passkey, let entered), _) = news {
                return PairingNews.asked(.showPasskey(passkey, entered: entered), within: .seconds(55))
            }
            return news
        }
        #expect(heard == Self.questions)
        await setup.stop()
    }

    /// A program may answer before the one that asked goes on.
    @Test func anAnswerThatComesAtOnceIsTaken() async {
        let talks = Guarded<PairingTalk?>(nil)
        let taken = Guarded(false)
        let talk = PairingTalk(address, with: ":1.7", limit: .milliseconds(500)) { signal in
            guard signal.member == "PairingAsked" else { return }
            let isTaken = talks.withLock { $0 }?.answer(.passkey(42)) ?? false
            taken.withLock { $0 = isTaken }
        }
        talks.withLock { $0 = talk }
        #expect(await talk.ask(.enterPasskey) == .passkey(42))
        #expect(taken.withLock { $0 })
        talks.withLock { $0 = nil }
    }

    @Test func aNoIsAnAnswerToo() async throws {
        let gateway = FakeGateway()
        let setup = try await Connected.open(gateway)
        let following = await follow(setup.client) { _ in nil }
        try await setup.client.pair(address)
        #expect(gateway.asked.suffix(3) == ["answer none", "answer none", "answer none"])
        await setup.client.close()
        _ = await following.value
        await setup.stop()
    }

    @Test func withoutSomebodyToAskNothingIsAsked() async throws {
        let gateway = FakeGateway()
        let setup = try await Connected.open(gateway)
        try await setup.client.adopt(AdoptRequest(address: address))
        #expect(gateway.asked == ["adopt \(AdoptRequest(address: address))"])
        await setup.stop()
    }

    @Test func anotherClientHearsNothingAndMayNotAnswer() async throws {
        let gateway = FakeGateway()
        let setup = try await Connected.open(gateway)
        let stranger = try await GatewayBusClient.connect(.address(setup.bus.address))
        let strange = await stranger.pairingNews(of: address)
        let listening = Task {
            var heard = 0
            for await _ in strange { heard += 1 }
            return heard
        }
        let asked = Guarded(false)
        let following = await follow(setup.client) { _ in
            asked.withLock { $0 = true }
            return nil
        }
        let pairing = Task { try await setup.client.pair(address) }
        await eventually { asked.withLock { $0 } || gateway.asked.count > 1 }
        for attempt in [
            { () async throws in try await stranger.answerPairing(address, .passkey(1)) },
            { () async throws in try await stranger.cancelPairing(address) },
        ] {
            do {
                try await attempt()
                Issue.record("a stranger was listened to")
            } catch let failure as GatewayBusFailure {
                guard case .command(let refusal) = failure else {
                    Issue.record("\(failure)")
                    continue
                }
                #expect(refusal.code == .notFound)
            }
        }
        try await pairing.value
        await stranger.close()
        #expect(await listening.value == 0)
        await setup.client.close()
        _ = await following.value
        await setup.stop()
    }

    @Test func whoeverCancelsGivesThePairingUp() async throws {
        let gateway = FakeGateway()
        let setup = try await Connected.open(gateway)
        let news = await setup.client.pairingNews(of: address)
        let pairing = Task { try await setup.client.pair(address) }
        for await one in news {
            if case .asked(.enterPasskey, _) = one { break }
        }
        try await setup.client.cancelPairing(address)
        do {
            try await pairing.value
            Issue.record("it went on")
        } catch {}
        #expect(gateway.asked.suffix(2) == ["answer none", "answer none"])
        await setup.stop()
    }

    @Test func aClientThatGoesAwayGivesItUpToo() async throws {
        let gateway = FakeGateway()
        let setup = try await Connected.open(gateway)
        let other = try await GatewayBusClient.connect(.address(setup.bus.address))
        let news = await other.pairingNews(of: address)
        let pairing = Task { try? await other.pair(address) }
        for await one in news {
            if case .asked(.enterPasskey, _) = one { break }
        }
        await other.close()
        await pairing.value
        await eventually { gateway.asked.suffix(2) == ["answer none", "answer none"] }
        // The band is free for the next one.
        let following = await follow(setup.client) { _ in nil }
        await eventually {
            do {
                try await setup.client.pair(address)
                return true
            } catch { return false }
        }
        await setup.client.close()
        _ = await following.value
        await setup.stop()
    }

    @Test func noAnswerInTimeIsANo() async {
        let sent = Guarded<[String]>([])
        let talk = PairingTalk(address, with: ":1.1", limit: .milliseconds(1)) { signal in
            sent.withLock { $0.append(signal.member) }
        }
        #expect(await talk.ask(.enterPasskey) == nil)
        #expect(!talk.answer(.passkey(1)), "nothing is asked any more")
        talk.withdraw()
        #expect(sent.withLock { $0 } == ["PairingAsked", "PairingWithdrawn"])
        talk.end()
        #expect(await talk.ask(.comparePasskey(1)) == nil)
        #expect(sent.withLock { $0.count } == 2, "nobody is there to be asked")
    }

    @Test func answersAreJudged() throws {
        #expect(try PairingReply.reading(["Passkey": .uint32(999_999)]) == .passkey(999_999))
        #expect(try PairingReply.reading(["Accept": .bool(true)]) == .same)
        #expect(try PairingReply.reading(["Accept": .bool(false)]) == nil)
        for wrong: BusProperties in [
            [:], ["Passkey": .uint32(1_000_000)], ["Passkey": .string("123456")], ["Accept": .uint32(1)],
            ["Else": .bool(true)], ["Accept": .bool(true), "Passkey": .uint32(1)],
        ] {
            do {
                _ = try PairingReply.reading(wrong)
                Issue.record("\(wrong) was taken")
            } catch {
                #expect(error.code == .invalidArguments)
            }
        }
        for question in [
            PairingQuestion.enterPasskey, .comparePasskey(0), .showPasskey(999_999, entered: 6),
        ] {
            #expect(PairingQuestion(question.properties(seconds: .seconds(55))) == question)
        }
        #expect(PairingQuestion(["Kind": .string("sing")]) == nil)
    }
}
