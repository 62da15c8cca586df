import GatewayModel
import HTTPClient
import IngestAPI
import Store
import Testing

@testable import Uplink

/// What another gateway said: when it is looked for, and how often.
@Suite struct ComparisonTests {
    /// A run whose samples the server has from somebody else.
    private func run(_ seqs: ClosedRange<UInt32> = 1...10) -> Run {
        let run = Run()
        run.server.contents.change { contents in
            for seq in seqs {
                let theirs = sample(seq)
                let type: APISampleType = theirs.type == .steps ? .steps : .heartRate
                contents.samples[.init(device: deviceA.text, type: type, seq: seq)] = .init(
                    sample: APISample(
                        type: type, seq: seq, value: theirs.value,
                        recordedAt: APITime(milliseconds: theirs.recordedAt.milliseconds + 7),
                        tzOffsetMinutes: 60,
                        bandTimeMilliseconds: theirs.bandTimeMilliseconds, clockID: 3, flags: 1,
                        timeBoundMilliseconds: 5, person: .assigned("p_1")))
            }
        }
        run.outbox.add(seqs.map { sample($0) })
        return run
    }

    private func pages(_ run: Run) -> Int { run.log.count { $0 == "GET samples" } }

    @Test func aBatchThatTheServerKnewIsComparedOnce() throws {
        let run = run()
        run.outbox.contents.change { $0.sharing.report = AdoptionReport(adopted: 10, marked: 4) }
        _ = run.untilItWaits()
        #expect(run.outbox.count(.confirmed) == 10)
        // Once for the batch, and once for all that lies here, because somebody else is there.
        #expect(pages(run) == 2)
        #expect(run.outbox.contents.value.sharing.sweeps == [deviceA])
        let offered = run.outbox.contents.value.sharing.offered.prefix(10)
        #expect(offered.map(\.seq) == Array(1...10))
        let first = try #require(offered.first)
        #expect(first.offsetMinutes == 60 && first.timeBoundMilliseconds == 5 && first.ring == ring)
        let person = try #require(PersonID("p_1"))
        #expect(first.wearer == .person(person))
        #expect(run.marks.value == 2)
        #expect(run.events.value.contains(.adopted(device: deviceA, count: 10)))
        #expect(run.outbox.contents.value.sharing.toCompare.isEmpty)
    }

    @Test func samplesGoFirst() {
        let run = run(1...10)
        run.outbox.add((11...1_200).map { sample($0) })
        _ = run.untilItWaits()
        #expect(run.log.lastIndex { $0.hasPrefix("POST") } ?? 99 < run.log.firstIndex(of: "GET samples") ?? 0)
        #expect(
            run.log.firstIndex { $0.hasPrefix("PUT status") } ?? 0 < run.log.firstIndex(of: "GET samples")
                ?? 0)
    }

    @Test func whatIsNewIsNotCompared() {
        let run = Run()
        run.outbox.add((1...10).map { sample($0) })
        run.pass(.seconds(86_400))
        #expect(pages(run) == 0)
        #expect(run.outbox.contents.value.sharing.sweeps.isEmpty)
    }

    @Test(arguments: [false, true])
    func aRetryWhoseAnswerWasLostIsComparedWhereSomebodyElseIsAtWork(_ isShared: Bool) {
        let run = Run()
        run.outbox.add((1...10).map { sample($0) })
        if isShared { run.outbox.contents.change { $0.sharing.shared = [deviceA] } }
        let isFirst = Locked(true)
        run.server.set(fault: { request, proper in
            guard request.method == .post,
                isFirst.change({ first in
                    defer { first = false }; return first
                })
            else { return nil }
            _ = proper()
            return .failure(HTTPFailure(.connectionLost, ""))
        })
        run.pass(.seconds(60))
        #expect(run.outbox.count(.confirmed) == 10)
        #expect((pages(run) > 0) == isShared)
    }

    @Test func pagesAreReadOneByOneToTheEnd() {
        let run = run(1...30)
        run.server.contents.change { $0.pageSize = 7 }
        _ = run.untilItWaits()
        #expect(pages(run) == 5)
        #expect(run.outbox.contents.value.sharing.offered.map(\.seq) == Array(1...30))
    }

    @Test func aServerWithPagesWithoutEndIsLeftAtTheLimit() {
        let run = run(1...30)
        run.server.set(fault: { request, proper in
            guard request.url.contains("/v1/samples?") else { return nil }
            _ = proper()
            return .success(
                HTTPResponse(status: 200, body: Array(#"{"samples":[],"next_cursor":"again"}"#.utf8)))
        })
        #expect(run.untilItWaits() != nil)
        #expect(pages(run) <= 20)
        #expect(run.outbox.contents.value.sharing.toCompare.isEmpty)
    }

    @Test func aSampleThatCanNotBeReadSpoilsNoOther() {
        let run = run(1...3)
        run.server.set(fault: { request, proper in
            guard request.url.contains("/v1/samples?") else { return nil }
            let text = String(decoding: proper().body, as: UTF8.self)
            return .success(
                HTTPResponse(status: 200, body: Array(text.replacing(#""seq":2"#, with: #""seq":-2"#).utf8)))
        })
        _ = run.untilItWaits()
        #expect(run.outbox.contents.value.sharing.offered.map(\.seq) == [1, 3])
    }

    // MARK: a server that does not let it read

    @Test func whatIsForbiddenIsAskedAgainSlowlyUntilTheTokenChanges() {
        let run = run()
        run.server.set(fault: { request, proper in
            guard request.url.contains("/v1/samples?") else { return nil }
            _ = proper()
            guard request.headers.contains(HTTPHeader("Authorization", "Bearer new")) else {
                return .success(ModelServer.error(APIFailure(.forbidden, "")))
            }
            return nil
        })
        run.pass(.seconds(86_400))
        #expect((22...25).contains(pages(run)), "once an hour")
        #expect(run.problem == nil)
        #expect(run.events.value.count { $0 == .readingForbidden } == 1)
        run.outbox.add([sample(77)])
        run.pass(.seconds(61))
        #expect(run.outbox.state(77) == .confirmed)
        run.directory.write("new\n", to: "token")
        run.pass(.seconds(61))
        #expect(run.outbox.contents.value.sharing.offered.count >= 10)
    }

    @Test func aServerThatFailsToReadIsAskedSeldomAndGetsItsSamples() {
        let run = run()
        run.server.set(fault: { request, proper in
            guard request.url.contains("/v1/samples?") else { return nil }
            _ = proper()
            return .success(HTTPResponse(status: 500))
        })
        run.pass(.seconds(86_400))
        #expect(pages(run) < 86_400 / 450 + 20)
        #expect(run.problem == nil)
        run.outbox.add([sample(77)])
        run.pass(.seconds(61))
        #expect(run.outbox.state(77) == .confirmed)
        run.server.set(fault: nil)
        run.pass(.seconds(901))
        #expect(run.outbox.contents.value.sharing.toCompare.isEmpty)
    }

    @Test func aRefusalEndsTheComparison() {
        let run = run()
        run.server.set(fault: { request, _ in
            request.url.contains("/v1/samples?") ? .success(ModelServer.error(.malformed("no"))) : nil
        })
        run.pass(.seconds(3600))
        #expect(run.outbox.contents.value.sharing.toCompare.isEmpty)
        #expect(run.problem == nil)
    }

    // MARK: other gateways

    @Test func aStatusOfSomebodyElseIsNoticedAndWhatLiesHereIsCompared() {
        let run = Run()
        run.outbox.add((1...10).map { sample($0) })
        let outbox = run.outbox
        let battery = Locked(80)
        run.pass(.seconds(3 * 3600)) {
            battery.change { $0 = $0 == 80 ? 79 : 80 }
            let percent = battery.value
            outbox.contents.change { $0.reports[deviceA] = DeviceReport(batteryPercent: percent) }
        }
        #expect(run.outbox.contents.value.sharing.shared.isEmpty, "its own status is nobody else's")
        // Somebody else puts one, each time just after this gateway did.
        let server = run.server
        run.pass(.seconds(3 * 3600)) {
            battery.change { $0 = $0 == 80 ? 79 : 80 }
            let percent = battery.value
            outbox.contents.change { $0.reports[deviceA] = DeviceReport(batteryPercent: percent) }
            server.contents.change { $0.reports[deviceA.text] = DeviceReport(batteryPercent: 5) }
        }
        #expect(run.outbox.contents.value.sharing.shared == [deviceA])
        #expect(run.outbox.contents.value.sharing.sweeps.count == 1)
        #expect(pages(run) == 1)
        run.pass(.seconds(86_400))
        #expect(run.outbox.contents.value.sharing.sweeps.count == 3)
    }

    @Test func aStatusIsLookedAtBeforeItIsReplaced() {
        let run = Run()
        run.outbox.add((1...10).map { sample($0) })
        let outbox = run.outbox
        outbox.contents.change { $0.reports[deviceA] = DeviceReport(batteryPercent: 80) }
        run.pass(.seconds(5400))
        // Somebody else was there, and a moment later this gateway has something to say.
        run.server.contents.change { $0.reports[deviceA.text] = DeviceReport(batteryPercent: 5) }
        outbox.contents.change { $0.reports[deviceA] = DeviceReport(batteryPercent: 79) }
        run.pass(.seconds(3 * 3600))
        #expect(run.server.contents.value.reports[deviceA.text]?.batteryPercent == 79)
        #expect(run.outbox.contents.value.sharing.shared == [deviceA])
    }

    @Test func aNewerCorrectionOfSomebodyElseIsNoticed() {
        let run = Run()
        run.outbox.add((1...10).map { sample($0) })
        _ = run.untilItWaits()
        run.server.contents.change { $0.maxVersion = 5 }
        run.pass(.seconds(3 * 3600))
        #expect(run.outbox.contents.value.sharing.shared == [deviceA])
    }

    @Test func theStateIsReadAgainSeldom() {
        let run = Run()
        run.outbox.add((1...10).map { sample($0) })
        run.pass(.seconds(86_400))
        #expect((10...13).contains(run.log.count { $0 == "GET \(deviceA)" }))
    }

    // MARK: versions

    @Test func correctionsThatWaitGoAboveWhatTheServerHasSeenBeforeAnyIsSent() {
        let run = Run()
        run.server.contents.change { contents in
            contents.maxVersion = 5
            contents.samples[.init(device: deviceA.text, type: .heartRate, seq: 1)] = .init(
                sample: APISample(
                    type: .heartRate, seq: 1, value: 72, recordedAt: APITime(milliseconds: 0),
                    tzOffsetMinutes: nil,
                    version: 5, bandTimeMilliseconds: sample(1).bandTimeMilliseconds, clockID: 3, flags: 1))
        }
        // The state can't be had at first: nothing is sent.
        let isDown = Locked(true)
        run.server.set(fault: { request, proper in
            guard request.method == .get, isDown.value else { return nil }
            return .success(HTTPResponse(status: 503))
        })
        run.outbox.add([sample(1, version: 2), sample(2), sample(4, version: 3)])
        run.pass(.seconds(600))
        #expect(run.posts == 0)
        isDown.change { $0 = false }
        run.pass(.seconds(901))
        #expect(run.outbox.count(.confirmed) == 3)
        #expect(run.outbox.contents.value.rows.values.map(\.sample.version).sorted() == [1, 6, 6])
        let key = ModelServer.Key(device: deviceA.text, type: .heartRate, seq: 1)
        #expect(run.server.contents.value.samples[key]?.sample.version == 6)
        #expect(run.events.value.contains(.versionsRaised(device: deviceA, count: 2)))
    }

    @Test func atAStartAVersionThatTheServerHasSeenIsNotTakenForOurs() {
        let run = Run()
        run.server.contents.change { $0.maxVersion = 2 }
        run.outbox.add([sample(1), sample(2)])
        _ = run.untilItWaits()
        // Restored from an old copy, in which the next correction got the number that a lost one had.
        run.outbox.contents.change { $0.sharing.floors[deviceA] = [2] }
        run.outbox.correct(1)
        run.restart()
        _ = run.untilItWaits()
        #expect(run.outbox.contents.value.rows.values.map(\.sample.version).sorted() == [1, 3])
        // Within the run it is what was sent.
        run.outbox.correct(2)
        run.server.contents.change { $0.maxVersion = 3 }
        run.pass(.seconds(3 * 3600))
        #expect(run.outbox.contents.value.rows.values.map(\.sample.version).sorted() == [2, 3])
    }

    @Test func aBandThatComesWhileALookIsUnderWayIsAskedAboutFirst() {
        let run = Run()
        run.outbox.add((1...1_500).map { sample($0) })
        while run.posts < 1 { _ = run.worker.step(wasWoken: false) }
        run.outbox.add((1...10).map { sample($0, device: deviceB) })
        _ = run.untilItWaits()
        let log = run.log
        #expect(log.firstIndex(of: "GET \(deviceB)") ?? 99 < log.firstIndex(of: "POST \(deviceB)") ?? 0)
        #expect(run.outbox.count(.confirmed) == 1_510)
    }
}
