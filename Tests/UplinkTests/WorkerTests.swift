import BandProfile
import GatewayModel
import HTTPClient
import IngestAPI
import Testing

@testable import Uplink

/// The whole uploader but its thread and its socket, step by step.
@Suite struct WorkerTests {
    @Test func aHistoryGoesUpInBatchesOf500AndThenTheWorkerRests() throws {
        let run = Run()
        run.outbox.add((1...1201).map { sample($0) })
        let wait = try #require(run.untilItWaits())
        #expect(wait >= .seconds(59))
        #expect(run.server.contents.value.batchSizes == [500, 500, 201])
        #expect(run.outbox.count(.confirmed) == 1201)
        #expect(run.server.contents.value.samples.count == 1201)
        #expect(run.board.snapshot.pending == 0)
        #expect(run.board.snapshot.lastSuccess != nil)
        #expect(run.problem == nil)
        #expect(run.server.contents.value.tokens == ["Bearer secret"])
    }

    @Test func theServersStateIsReadBeforeAnythingOfADeviceIsSent() {
        let run = Run()
        run.outbox.add([sample(1), sample(2, device: deviceB)])
        _ = run.untilItWaits()
        let log = run.log
        #expect(Set(log.prefix(2)) == ["GET \(deviceA)", "GET \(deviceB)"])
        #expect(run.states.value.count == 2)
        // At each start, not at each batch.
        run.outbox.add([sample(5)])
        run.pass(.seconds(120))
        #expect(run.log.count { $0.hasPrefix("GET") } == 2)
        run.restart()
        _ = run.untilItWaits()
        #expect(run.log.count { $0.hasPrefix("GET") } == 4)
    }

    @Test func aSampleCarriesEveryFieldOfTheContract() throws {
        let run = Run()
        var odd = sample(7, version: 4, value: 180)
        odd.offsetMinutes = nil
        odd.timeUncertain = true
        odd.timeBoundMilliseconds = 250
        odd.provenance = .user
        odd.recordedAt = Timestamp(milliseconds: -62_167_219_200_001)
        odd.wearer = .person(try #require(PersonID(#"p"1\,{}"#)))
        run.outbox.add([odd])
        _ = run.untilItWaits()
        let stored = try #require(run.server.contents.value.samples.values.first?.sample)
        #expect(
            stored
                == APISample(
                    type: .heartRate, seq: 7, value: 180, recordedAt: .earliest, tzOffsetMinutes: nil,
                    version: 4,
                    provenance: .user, bandTimeMilliseconds: odd.bandTimeMilliseconds, clockID: 3, flags: 1,
                    timeBoundMilliseconds: 250, timeUncertain: true, person: .assigned(#"p"1\,{}"#)))
    }

    @Test func whoWoreTheBandIsSaidInThreeWays() throws {
        let run = Run()
        var samples = [sample(1), sample(2), sample(4)]
        samples[1].wearer = .nobody
        samples[2].wearer = .person(try #require(PersonID("p_1")))
        run.outbox.add(samples)
        _ = run.untilItWaits()
        let stored = run.server.contents.value.samples.values.sorted { $0.sample.seq < $1.sample.seq }
        #expect(stored.map(\.sample.person) == [.unchanged, .cleared, .assigned("p_1")])
    }

    @Test func aBatchIsTheSameOnlyWithTheSameContent() throws {
        let anna = try #require(PersonID("p_anna"))
        let changes: [(inout Sample) -> Void] = [
            { $0.type = .spo2 }, { $0.seq = 9 }, { $0.value = 9 }, { $0.recordedAt.milliseconds += 1 },
            { $0.offsetMinutes = nil }, { $0.version = 2 }, { $0.provenance = .user },
            { $0.bandTimeMilliseconds += 1 }, { $0.clockID = 9 }, { $0.flags = 0 },
            { $0.timeUncertain = true },
            { $0.timeBoundMilliseconds = 9 }, { $0.wearer = .nobody }, { $0.wearer = .person(anna) },
        ]
        var variants = [sample(7)]
        for change in changes {
            variants.append(sample(7))
            change(&variants[variants.count - 1])
        }
        let prints = variants.map { BatchFingerprint(ring: ring, completeThrough: 1, samples: [$0]) }
        for (index, print) in prints.enumerated() {
            #expect(prints.firstIndex(of: print) == index)
            #expect(BatchFingerprint(ring: ring, completeThrough: 2, samples: [variants[index]]) != print)
        }
    }

    @Test func twoDevicesTakeTurns() {
        let run = Run()
        run.outbox.add((1...2000).map { sample($0) } + (1...2000).map { sample($0, device: deviceB) })
        _ = run.untilItWaits()
        let posts = run.log.filter { $0.hasPrefix("POST") }
        #expect(posts.count == 8)
        for pair in zip(posts, posts.dropFirst()) { #expect(pair.0 != pair.1) }
    }

    @Test func aRowCorrectedWhileItsBatchIsUnderWayGoesAgain() {
        let run = Run()
        run.outbox.add((1...5).map { sample($0) })
        let outbox = run.outbox
        let isFirst = Locked(true)
        run.server.set(fault: { request, proper in
            let response = proper()
            if request.method == .post,
                isFirst.change({ first in
                    defer { first = false }; return first
                })
            {
                outbox.correct(3)
            }
            return .success(response)
        })
        _ = run.untilItWaits()
        #expect(run.outbox.count(.confirmed) == 5)
        #expect(run.posts == 2)
        let key = ModelServer.Key(device: deviceA.text, type: .steps, seq: 3)
        #expect(run.server.contents.value.samples[key]?.sample.version == 2)
    }

    @Test func aHealedGapBelowWhatWentUpIsSentToo() {
        let run = Run()
        run.outbox.add((100...110).map { sample($0) })
        _ = run.untilItWaits()
        run.outbox.add((1...9).map { sample($0) })
        run.pass(.seconds(61))
        #expect(run.server.contents.value.samples.count == 20)
    }

    @Test func commitsWithinASecondGoUpTogether() {
        let run = Run()
        _ = run.untilItWaits()
        for seq in 1...50 as ClosedRange<UInt32> {
            run.outbox.add([sample(seq)])
            let wait = run.worker.step(wasWoken: true)
            #expect(wait > .zero && wait <= .seconds(1))
            run.clock.advance(by: .milliseconds(10))
        }
        #expect(run.posts == 0)
        run.clock.advance(by: .milliseconds(500))
        _ = run.untilItWaits()
        #expect(run.posts == 1)
        #expect(run.outbox.count(.confirmed) == 50)
    }
}
