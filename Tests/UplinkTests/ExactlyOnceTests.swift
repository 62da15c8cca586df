import GatewayModel
import HTTPClient
import IngestAPI
import Testing

@testable import Uplink

/// Any run of faults, then quiet: the server holds each good sample once in its newest version, and only the bad ones are
/// set aside.
@Suite struct ExactlyOnceTests {
    @Test(arguments: 1...60 as ClosedRange<UInt64>)
    func everySampleArrivesOnceWhateverHappens(_ seed: UInt64) {
        let random = Locked(SeededRandom(seed: seed))
        func roll(_ count: Int) -> Int { random.change { Int.random(in: 0..<count, using: &$0) } }

        var intervals = UploadIntervals()
        intervals.limits.batchSize = 40
        let run = Run(seed: seed, intervals: intervals)
        let total = UInt32(20 + roll(200))
        let poisonous = Set((0..<roll(4)).map { _ in UInt32(1 + roll(Int(total))) })
        run.outbox.add((1...total).map { sample($0) } + (1...total / 2).map { sample($0, device: deviceB) })
        run.server.set(poison: { poisonous.contains($0.seq) && $0.seq > total / 2 })
        let bad = poisonous.filter { $0 > total / 2 }
        let outbox = run.outbox
        run.server.set(fault: { request, proper in
            switch random.change({ Int.random(in: 0..<14, using: &$0) }) {
            case 0: return .failure(HTTPFailure(.timedOut, ""))
            case 1:
                _ = proper()
                return .failure(HTTPFailure(.connectionLost, ""))
            case 2: return .success(HTTPResponse(status: 503))
            case 3:
                _ = proper()
                return .success(HTTPResponse(status: 500))
            case 4: return .success(HTTPResponse(status: 200, body: Array("<html>".utf8)))
            case 5: return .success(HTTPResponse(status: 302))
            case 6: return .success(ModelServer.error(APIFailure(.rateLimited, "")))
            case 7:
                guard request.method == .post, var answer = try? BatchAnswer.decoded(proper()) else {
                    return nil
                }
                answer.ackSeq = answer.ackSeq.mapValues { $0 / 2 }
                return .success(HTTPResponse(status: 200, body: (try? APIJSON.encode(answer)) ?? []))
            case 8:
                outbox.correct(random.change { UInt32.random(in: 1...total, using: &$0) })
                return .success(proper())
            case 9:
                outbox.contents.change { $0.failsToWrite = true }
                return .success(proper())
            default: return nil
            }
        })
        for step in 0..<200 {
            if roll(40) == 0 { run.restart() }
            run.pass(.seconds(roll(20)))
            outbox.contents.change { $0.failsToWrite = false }
            if step % 50 == 0 { run.wake() }
        }
        run.server.set(fault: nil)
        run.pass(.seconds(3 * 3600))

        let contents = run.server.contents.value
        let rows = run.outbox.contents.value.rows
        #expect(contents.brokenPromises.isEmpty, "seed \(seed)")
        // Three bad ones in a row with nothing behind them leave the server under suspicion; a bad one that is
        // corrected then stays to be sent.
        let isSuspected = bad.count >= 3 && run.problem == "server_refuses"
        for (key, row) in rows {
            let isBad = key.device == deviceA && bad.contains(key.seq)
            let isRight =
                isBad
                ? row.state == .quarantined("malformed") || isSuspected && row.state == .pending
                : row.state == .confirmed
            #expect(isRight, "seed \(seed), seq \(key.seq): \(row.state)")
            let type: APISampleType = key.seq % 3 == 0 ? .steps : .heartRate
            let stored = contents.samples[.init(device: key.device.text, type: type, seq: key.seq)]
            if !isBad {
                #expect(stored?.sample.version == row.sample.version, "seed \(seed), seq \(key.seq)")
            }
        }
        #expect(contents.samples.count == rows.count - bad.count, "seed \(seed)")
        #expect(run.problem == nil || isSuspected, "seed \(seed): \(run.problem ?? "")")
    }
}
