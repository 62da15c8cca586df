import BandProfile
import GatewayModel
import HTTPClient
import IngestAPI
import Testing

@testable import Uplink

/// What a server refuses is found, set aside, and holds up nothing else.
@Suite struct RefusalTests {
    @Test func aPoisonSampleIsFoundAndTheRestGoesUp() {
        let run = Run()
        run.outbox.add((1...1000).map { sample($0) })
        run.server.set(poison: { [17, 18, 700].contains($0.seq) })
        _ = run.untilItWaits()
        #expect(run.outbox.count(.confirmed) == 997)
        #expect(run.outbox.count(.quarantined("malformed")) == 3)
        #expect(run.outbox.state(700) == .quarantined("malformed"))
        #expect(run.problem == nil)
        #expect(run.posts < 70)
    }

    @Test func aServerThatRefusesEverythingGetsThreeSamplesSetAsideAndNotOneMore() {
        let run = Run()
        run.outbox.add((1...300).map { sample($0) })
        run.server.set(poison: { _ in true })
        run.pass(.seconds(86_400))
        #expect(run.outbox.count(.quarantined("malformed")) == 3)
        #expect(run.problem == "server_refuses")
        #expect(run.posts < 30 + 24)
        run.server.set(poison: nil)
        run.pass(.seconds(3700))
        #expect(run.outbox.count(.confirmed) == 297)
        #expect(run.problem == nil)
    }

    @Test func rejectedSamplesAreSetAsideAndHeldOnesTriedAgain() {
        let run = Run()
        run.outbox.add((1...10).map { sample($0) })
        run.server.set(rejection: { [2: .badTime, 4: .consentMissing][$0.seq] })
        _ = run.untilItWaits()
        #expect(run.outbox.state(2) == .quarantined("bad_time"))
        #expect(run.outbox.state(4) == .held)
        #expect(run.outbox.count(.confirmed) == 8)
        #expect(run.posts == 1)
        run.server.set(rejection: nil)
        run.pass(.seconds(3700))
        #expect(run.outbox.state(4) == .confirmed)
        #expect(run.outbox.state(2) == .quarantined("bad_time"))
    }

    @Test func aServerWithoutGzipGetsIdentityWithTheSameSyncID() {
        let run = Run()
        run.outbox.add((1...3).map { sample($0) })
        let bodies = Locked<[String]>([])
        run.server.set(fault: { request, proper in
            guard request.method == .post else { return nil }
            let isPacked = request.headers.contains(HTTPHeader("Content-Encoding", "gzip"))
            bodies.change { $0.append(isPacked ? "gzip" : "identity") }
            return isPacked
                ? .success(ModelServer.error(APIFailure(.unsupportedEncoding, ""))) : .success(proper())
        })
        _ = run.untilItWaits()
        #expect(bodies.value == ["gzip", "identity"])
        #expect(run.outbox.count(.confirmed) == 3)
        #expect(run.events.value.contains(.compressionOff))
    }

    @Test func aBandWhoseBatchTheServerCanNotTakeDoesNotHoldUpTheOther() {
        let run = Run()
        run.server.set(fault: { request, proper in
            // Only batches of A make the server fail.
            let response = proper()
            let isA = request.method == .post && !response.body.isEmpty
            guard isA, (try? BatchAnswer.decoded(response))?.ackSeq["spo2"] == 1 else {
                return .success(response)
            }
            return .success(HTTPResponse(status: 500))
        })
        var poisonous = sample(1)
        poisonous.type = .spo2
        run.outbox.add([poisonous] + (1...3000).map { sample($0, device: deviceB) })
        run.pass(.seconds(600))
        #expect(
            run.outbox.contents.value.rows.count { $0.key.device == deviceB && $0.value.state == .confirmed }
                == 3000)
        #expect(run.outbox.state(1) == .pending)
        #expect(run.problem == "server_error")
    }
}
