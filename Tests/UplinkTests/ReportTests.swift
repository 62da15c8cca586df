import BandProfile
import GatewayModel
import HTTPClient
import IngestAPI
import Testing

@testable import Uplink

/// Gaps, status and `complete_through`.
@Suite struct ReportTests {
    let gap = Gap(
        ring: ring, firstSeq: 11, lastSeq: nil, after: Timestamp(milliseconds: 1000), before: nil,
        cause: .lostByBand, healedAt: nil)

    @Test func gapsGoUpWhenTheyChange() {
        let run = Run()
        run.outbox.add((1...10).map { sample($0) })
        _ = run.untilItWaits()
        let gap = gap
        run.outbox.contents.change { $0.gaps[deviceA] = [gap] }
        run.pass(.seconds(61))
        #expect(
            run.server.contents.value.gaps[deviceA.text]
                == [
                    APIGap(
                        ring: "b5e5d00d", firstSeq: 11, lastSeq: nil, after: APITime(milliseconds: 1000),
                        cause: .lostByBand)
                ])
        let puts = run.log.count { $0.hasPrefix("PUT gaps") }
        run.pass(.seconds(3600))
        #expect(run.log.count { $0.hasPrefix("PUT gaps") } == puts)
        var healed = gap
        healed.healedAt = Timestamp(milliseconds: 2000)
        run.outbox.contents.change { $0.gaps[deviceA] = [healed] }
        run.pass(.seconds(61))
        #expect(run.server.contents.value.gaps[deviceA.text]?.first?.healedAt == APITime(milliseconds: 2000))
    }

    /// Gap 11 to 11 went up, and an older version of it, 11 to 40, came to the server after it.
    private func lateGap(isRestKnown: Bool) -> Run {
        let run = Run()
        run.outbox.add((1...10).map { sample($0) })
        if isRestKnown { run.outbox.add((12...40).map { sample($0) }) }
        _ = run.untilItWaits()
        let sent = Gap(ring: ring, firstSeq: 11, lastSeq: 11, cause: .lostByBand)
        run.outbox.contents.change { $0.sentGaps[deviceA] = [sent] }
        run.pass(.seconds(3600))
        run.server.contents.change {
            $0.gaps[deviceA.text] = [
                APIGap(ring: "b5e5d00d", firstSeq: 11, lastSeq: 40, cause: .lostByBand)
            ]
        }
        return run
    }

    @Test func anOldGapThatCameLateIsPutRightAfterAStart() {
        let run = lateGap(isRestKnown: true)
        run.pass(.seconds(3600))
        #expect(run.server.contents.value.gaps[deviceA.text]?.first?.lastSeq == 40, "nobody looks")
        run.restart()
        run.pass(.seconds(61))
        #expect(run.server.contents.value.gaps[deviceA.text]?.map(\.lastSeq) == [11])
    }

    @Test func aLongerGapOfAnotherGatewayStays() {
        let run = lateGap(isRestKnown: false)
        run.restart()
        run.pass(.seconds(3600))
        #expect(run.server.contents.value.gaps[deviceA.text]?.map(\.lastSeq) == [40])
    }

    @Test func anOldGapThatCameLateIsPutRightAfterARequestThatWasNotAnswered() {
        let run = lateGap(isRestKnown: true)
        run.server.set(fault: { request, _ in
            request.method == .put ? .failure(HTTPFailure(.timedOut, "")) : nil
        })
        let another = Gap(ring: ring, firstSeq: 50, lastSeq: 50, cause: .lostByBand)
        run.outbox.contents.change { $0.gaps[deviceA] = [another] }
        run.pass(.seconds(61))
        run.server.set(fault: nil)
        run.pass(.seconds(3600))
        #expect(
            run.server.contents.value.gaps[deviceA.text]?.map { [$0.firstSeq, $0.lastSeq ?? 0] }
                == [[50, 50], [11, 11]])
    }

    @Test func gapsGoAgainOnceTheServerKnowsTheDeviceAgain() {
        let run = Run()
        run.outbox.add((1...10).map { sample($0) })
        _ = run.untilItWaits()
        let sent = Gap(ring: ring, firstSeq: 11, lastSeq: 11, cause: .lostByBand)
        run.outbox.contents.change { $0.sentGaps[deviceA] = [sent] }
        run.server.contents.change { $0 = ModelServer.Contents() }
        run.restart()
        run.pass(.seconds(61))
        #expect(run.server.contents.value.gaps.isEmpty)
        run.outbox.add((12...20).map { sample($0) })
        run.pass(.seconds(61))
        #expect(run.server.contents.value.gaps[deviceA.text]?.map(\.firstSeq) == [11])
    }

    static let silentAnswers = [HTTPResponse(status: 204), HTTPResponse(status: 200, body: Array("{}".utf8))]

    static let liars: [HTTPResponse] =
        silentAnswers + [
            HTTPResponse(status: 200, body: Array("<html>log in</html>".utf8)),
            HTTPResponse(status: 200, body: Array("ok".utf8)),
            HTTPResponse(status: 200, body: Array(#"{"gaps":[]}"#.utf8)),
            HTTPResponse(status: 201, body: Array(#"{"gaps":[{"ring":"b5e5d00d","first_seq":12}]}"#.utf8)),
            // The same gap as it was before.
            HTTPResponse(
                status: 200, body: Array(#"{"gaps":[{"ring":"b5e5d00d","first_seq":11,"last_seq":12}]}"#.utf8)
            ),
        ]

    /// `complete_through` passes over a gap that was sent: it has to be at the server.
    @Test(arguments: liars) func whatTheServerDoesNotShowIsNotSent(_ lie: HTTPResponse) {
        for isWholeServer in [true, false] {
            let tries = Locked(0)
            let run = Run()
            run.outbox.add((1...10).map { sample($0) })
            _ = run.untilItWaits()
            run.server.set(fault: { request, _ in
                guard isWholeServer || request.method == .put else { return nil }
                tries.change { $0 += 1 }
                return .success(lie)
            })
            let gap = gap
            run.outbox.contents.change {
                $0.gaps[deviceA] = [gap]
                $0.reports[deviceA] = DeviceReport(batteryPercent: 80)
            }
            run.pass(.seconds(3000))
            #expect(run.outbox.contents.value.sentGaps[deviceA] ?? [] == [])
            #expect(run.problem != nil, "a person is told")
            #expect(tries.value < 60)
            run.server.set(fault: nil)
            run.pass(.seconds(86_400))
            #expect(run.server.contents.value.gaps[deviceA.text]?.count == 1)
            #expect(run.outbox.contents.value.sentGaps[deviceA]?.count == 1)
            #expect(run.server.contents.value.reports[deviceA.text]?.batteryPercent == 80)
            #expect(run.problem == nil)
        }
    }

    /// A server that keeps what it had, and says that it took what was put.
    @Test(arguments: [true, false]) func anOldVersionOfAGapIsNotTheNewOne(isReadBack: Bool) {
        let run = Run()
        run.outbox.add((1...10).map { sample($0) })
        _ = run.untilItWaits()
        let old = GapList(gaps: [APIGap(gap)])
        run.server.contents.change { $0.gaps[deviceA.text] = old.gaps }
        let body = isReadBack ? Array("{}".utf8) : (try? APIJSON.encode(old)) ?? []
        run.server.set(fault: { request, _ in
            guard request.method == .put else { return nil }
            return .success(HTTPResponse(status: 200, body: body))
        })
        var healed = gap
        healed.healedAt = Timestamp(milliseconds: 2000)
        let put = healed
        run.outbox.contents.change { $0.gaps[deviceA] = [put] }
        run.pass(.seconds(3000))
        #expect(run.outbox.contents.value.sentGaps[deviceA] ?? [] == [])
        run.server.set(fault: nil)
        run.pass(.seconds(3601))
        #expect(run.outbox.contents.value.sentGaps[deviceA] == [put])
    }

    /// Ingest API 1 does not say what a PUT is answered with.
    @Test(arguments: silentAnswers) func whatIsNotShownIsReadBack(_ answer: HTTPResponse) {
        let run = Run()
        run.server.contents.change { $0.putAnswer = answer }
        run.outbox.add((1...10).map { sample($0) })
        let gap = gap
        run.outbox.contents.change {
            $0.gaps[deviceA] = [gap]
            $0.reports[deviceA] = DeviceReport(batteryPercent: 80)
        }
        run.pass(.seconds(7200))
        #expect(run.outbox.contents.value.sentGaps[deviceA]?.count == 1)
        #expect(run.log.count { $0.hasPrefix("PUT gaps") } <= 2)
        #expect((1...3).contains(run.log.count { $0.hasPrefix("PUT status") }))
        #expect(run.outbox.count(.confirmed) == 10 && run.problem == nil)
    }

    /// What every request is answered with is no answer: the outage is not over, and its waits grow.
    @Test(arguments: silentAnswers.indices) func aStatusThatIsNotShownEndsNoOutage(_ index: Int) {
        let run = Run()
        run.outbox.add((1...10).map { sample($0) })
        run.outbox.contents.change { $0.reports[deviceA] = DeviceReport(batteryPercent: 80) }
        _ = run.untilItWaits()
        let answer = Self.silentAnswers[index]
        let statuses = Locked(0)
        run.server.set(fault: { request, _ in
            if request.url.hasSuffix("status") { statuses.change { $0 += 1 } }
            return .success(answer)
        })
        run.outbox.add([sample(11)])
        let battery = Locked(0)
        let outbox = run.outbox
        run.pass(.seconds(20_000)) {
            let percent = battery.change { battery in
                battery = (battery + 1) % 100
                return battery
            }
            outbox.contents.change { $0.reports[deviceA] = DeviceReport(batteryPercent: percent) }
        }
        #expect(statuses.value > 0, "it was tried")
        let isOver = run.events.value.contains { event in
            if case .problemEnded = event { true } else { false }
        }
        #expect(!isOver && run.problem == "not_this_api")
        run.server.set(fault: nil)
        run.pass(.seconds(1801))
        #expect(run.outbox.count(.confirmed) == 11 && run.problem == nil)
    }

    @Test func aRefusalIsOverWhenTheServerSaysThatItTakesThem() {
        for answer in Self.silentAnswers {
            let run = Run()
            run.outbox.add((1...10).map { sample($0) })
            _ = run.untilItWaits()
            run.server.set(fault: { request, _ in
                request.method == .put ? .success(ModelServer.error(.malformed(""))) : nil
            })
            run.outbox.contents.change { $0.reports[deviceA] = DeviceReport(batteryPercent: 80) }
            run.pass(.seconds(600))
            #expect(run.problem == "report_refused")
            run.server.contents.change { $0.putAnswer = answer }
            run.server.set(fault: nil)
            run.pass(.seconds(3700))
            #expect(run.problem == nil)
        }
    }

    @Test func whoFreedRecordsIsNotOverruledByWhoFoundThemGone() {
        let run = Run()
        run.outbox.add((1...10).map { sample($0) })
        _ = run.untilItWaits()
        let exact = APIGap(ring: "b5e5d00d", firstSeq: 11, lastSeq: 12, cause: .unreadable)
        run.server.contents.change { $0.gaps[deviceA.text] = [exact] }
        let found = Gap(ring: ring, firstSeq: 11, lastSeq: 12, cause: .freedElsewhere)
        run.outbox.contents.change { $0.gaps[deviceA] = [found] }
        run.pass(.seconds(61))
        #expect(run.server.contents.value.gaps[deviceA.text] == [exact])
        #expect(run.outbox.contents.value.sentGaps[deviceA]?.map(\.cause) == [.unreadable])
    }

    /// What a server says to `GET …/gaps` that never shows them, and what may be a log-in page that passes.
    static let neverShown: [Result<HTTPResponse, HTTPFailure>] = [
        .success(ModelServer.error(APIFailure(.forbidden, ""))),
        .success(ModelServer.error(APIFailure(.notFound, ""))),
        .success(ModelServer.error(APIFailure(.methodNotAllowed, ""))),
        .failure(HTTPFailure(.answerTooLarge, "")),
    ]
    static let unreadable: [Result<HTTPResponse, HTTPFailure>] =
        neverShown + [
            .success(HTTPResponse(status: 404, body: Array("<html>".utf8))),
            .success(HTTPResponse(status: 200, body: Array("<html>".utf8))),
            .success(HTTPResponse(status: 500)),
            .failure(HTTPFailure(.timedOut, "")),
        ]

    // Indices, as an answer is no argument of a test by itself.
    @Test(arguments: unreadable.indices) func gapsGoUpThoughTheServersMayNotBeRead(_ index: Int) {
        let run = Run()
        run.outbox.add((1...10).map { sample($0) })
        _ = run.untilItWaits()
        let answer = Self.unreadable[index]
        run.server.set(fault: { request, _ in
            request.method == .get && request.url.hasSuffix("gaps") ? answer : nil
        })
        let exact = APIGap(ring: "b5e5d00d", firstSeq: 11, lastSeq: 12, cause: .unreadable)
        run.server.contents.change { $0.gaps[deviceA.text] = [exact] }
        let found = Gap(ring: ring, firstSeq: 11, lastSeq: 12, cause: .freedElsewhere)
        let other = Gap(ring: ring, firstSeq: 20, lastSeq: 30, cause: .lostByBand)
        run.outbox.contents.change { $0.gaps[deviceA] = [found, other] }
        run.pass(.seconds(61))
        let isNeverShown = index < Self.neverShown.count
        #expect(
            run.outbox.contents.value.sentGaps[deviceA]?.contains(other) == true, "the others need not wait")
        let causes = Set(run.server.contents.value.gaps[deviceA.text]?.map(\.cause) ?? [])
        #expect(causes == [isNeverShown ? .freedElsewhere : .unreadable, .lostByBand])
        // Others are answered, so it is no outage: some minutes are enough.
        for seq in UInt32(41)...60 {
            run.outbox.add([sample(seq)])
            run.pass(.seconds(60))
        }
        let later = Set(run.server.contents.value.gaps[deviceA.text]?.map(\.cause) ?? [])
        #expect(later == [.freedElsewhere, .lostByBand])
        #expect(run.problem == nil && run.outbox.count(.confirmed) == 30)
    }

    /// A portal's page, and then the server itself.
    @Test func onePageOfSomethingElseOverrulesNobody() {
        let run = Run()
        run.outbox.add((1...10).map { sample($0) })
        _ = run.untilItWaits()
        let exact = APIGap(ring: "b5e5d00d", firstSeq: 11, lastSeq: 12, cause: .unreadable)
        run.server.contents.change { $0.gaps[deviceA.text] = [exact] }
        let pages = Locked(3)
        run.server.set(fault: { request, _ in
            guard request.method == .get, request.url.hasSuffix("gaps"),
                pages.change({ left in
                    left -= 1
                    return left >= 0
                })
            else { return nil }
            return .success(HTTPResponse(status: 200, body: Array("<html>".utf8)))
        })
        let found = Gap(ring: ring, firstSeq: 11, lastSeq: 12, cause: .freedElsewhere)
        run.outbox.contents.change { $0.gaps[deviceA] = [found] }
        run.pass(.seconds(120))
        #expect(run.server.contents.value.gaps[deviceA.text] == [exact])
        #expect(run.outbox.contents.value.sentGaps[deviceA]?.map(\.cause) == [.unreadable])
    }

    @Test(arguments: unreadable.indices) func samplesDoNotWaitForGapsThatAreNotShown(_ index: Int) {
        let run = Run()
        let answer = Self.unreadable[index]
        run.server.contents.change { $0.putAnswer = HTTPResponse(status: 204) }
        run.outbox.add((1...10).map { sample($0) })
        _ = run.untilItWaits()
        run.server.set(fault: { request, _ in
            request.method == .get && request.url.hasSuffix("gaps") ? answer : nil
        })
        let gap = gap
        run.outbox.contents.change { $0.gaps[deviceA] = [gap] }
        run.pass(.seconds(61))
        run.outbox.add((11...20).map { sample($0) })
        run.pass(.seconds(61))
        #expect(run.outbox.count(.confirmed) == 20)
        #expect(run.outbox.contents.value.sentGaps[deviceA] ?? [] == [], "nobody has seen it there")
        run.server.set(fault: nil)
        run.pass(.seconds(3700))
        #expect(run.outbox.contents.value.sentGaps[deviceA] == [gap] && run.problem == nil)
    }

    @Test func aServerThatIsInTroubleIsNotAskedForMore() {
        let run = Run()
        run.outbox.add((1...10).map { sample($0) })
        _ = run.untilItWaits()
        let (tries, puts) = (Locked(0), Locked(0))
        run.server.set(fault: { request, _ in
            tries.change { $0 += 1 }
            if request.method == .put, request.url.hasSuffix("gaps") { puts.change { $0 += 1 } }
            return .success(ModelServer.error(APIFailure(.serverError, "")))
        })
        let found = Gap(ring: ring, firstSeq: 11, lastSeq: 12, cause: .freedElsewhere)
        run.outbox.contents.change { $0.gaps[deviceA] = [found] }
        run.outbox.add([sample(20)])
        run.pass(.seconds(3600))
        #expect(puts.value == 0 && tries.value < 50, "\(tries.value)")
        run.server.set(fault: nil)
        run.pass(.seconds(1900))
        #expect(run.server.contents.value.gaps[deviceA.text]?.map(\.cause) == [.freedElsewhere])
        #expect(run.outbox.count(.confirmed) == 11 && run.problem == nil)
    }

    /// A server that drops some of a list has the others.
    @Test(arguments: [1, 40]) func whatTheServerShowsOfAListIsSent(_ dropped: Int) {
        for isReadBack in [true, false] {
            let run = Run()
            run.outbox.add((1...10).map { sample($0) })
            _ = run.untilItWaits()
            let gaps = (0..<200).map {
                Gap(ring: ring, firstSeq: 100 + 2 * $0, lastSeq: 100 + 2 * $0, cause: .overwritten)
            }
            let lost = Set(gaps.dropFirst(50).prefix(dropped).map(\.firstSeq))
            let contents = run.server.contents
            run.server.set(fault: { request, proper in
                guard request.method == .put, request.url.hasSuffix("gaps") else { return nil }
                _ = proper()
                let kept = contents.change { contents -> [APIGap] in
                    contents.gaps[deviceA.text]?.removeAll { lost.contains($0.firstSeq) }
                    return contents.gaps[deviceA.text] ?? []
                }
                let body = isReadBack ? Array("{}".utf8) : (try? APIJSON.encode(GapList(gaps: kept))) ?? []
                return .success(HTTPResponse(status: 200, body: body))
            })
            run.outbox.contents.change { $0.gaps[deviceA] = gaps }
            run.pass(.seconds(3000))
            #expect(run.outbox.contents.value.sentGaps[deviceA]?.count == 200 - dropped)
            #expect(run.log.count { $0.hasPrefix("PUT gaps") } <= 2 && run.problem == "report_refused")
            run.server.set(fault: nil)
            run.pass(.seconds(7300))
            #expect(run.outbox.contents.value.sentGaps[deviceA]?.count == 200 && run.problem == nil)
        }
    }

    /// Many that are refused among many that are not: a batch after each refusal, and the ledger is read once.
    @Test func aBurstOfRefusalsLetsSamplesGoAndReadsTheLedgerOnce() {
        let run = Run()
        run.outbox.add((1...10).map { sample($0) })
        _ = run.untilItWaits()
        let gaps = (0..<300).map {
            Gap(ring: ring, firstSeq: 5000 + 2 * $0, lastSeq: 5000 + 2 * $0, cause: .freedElsewhere)
        }
        let (refusals, inARow, longest) = (Locked(0), Locked(0), Locked(0))
        run.server.set(fault: { request, _ in
            if request.method == .post { inARow.change { $0 = 0 } }
            guard request.method == .put, request.url.hasSuffix("gaps"),
                let list = try? APIJSON.decode(GapList.self, from: request.body),
                list.gaps.contains(where: { $0.firstSeq % 6 == 0 })
            else { return nil }
            refusals.change { $0 += 1 }
            let row = inARow.change { row in
                row += 1
                return row
            }
            longest.change { $0 = max($0, row) }
            return .success(ModelServer.error(.malformed("")))
        })
        run.outbox.contents.change { $0.gaps[deviceA] = gaps }
        let before = run.log.count
        run.outbox.add((11...4010).map { sample($0) })
        var steps = 0
        while run.outbox.count(.pending) > 0, steps < 200 {
            run.clock.advance(by: .seconds(8))
            _ = run.worker.step(wasWoken: false)
            steps += 1
        }
        #expect(run.outbox.count(.confirmed) == 4010 && longest.value == 1)
        run.pass(.seconds(600))
        #expect(refusals.value <= 100, "\(refusals.value)")
        #expect(run.log.dropFirst(before).count { $0 == "GET gaps" } <= 12, "once a minute")
        run.pass(.seconds(7 * 3600))
        #expect(run.outbox.contents.value.sentGaps[deviceA]?.count == 200, "all that it takes")
    }

    /// A status is refused and out of date then: the server has the one that is right.
    @Test func aRefusedStatusThatIsNotTrueAnyMoreIsNoTrouble() {
        let run = Run()
        run.outbox.add((1...10).map { sample($0) })
        run.outbox.contents.change { $0.reports[deviceA] = DeviceReport(batteryPercent: 80) }
        _ = run.untilItWaits()
        run.server.set(fault: { request, _ in
            request.url.hasSuffix("status") ? .success(ModelServer.error(.malformed(""))) : nil
        })
        run.outbox.contents.change { $0.reports[deviceA] = DeviceReport(batteryPercent: 79) }
        run.pass(.seconds(600))
        #expect(run.problem == "report_refused")
        run.outbox.contents.change { $0.reports[deviceA] = DeviceReport(batteryPercent: 80) }
        run.pass(.seconds(3700))
        #expect(run.problem == nil)
    }

    /// A server that goes on saying that it does not know the device, though it takes its samples.
    @Test func aServerThatNeverKnowsADeviceIsNotAskedAfterEachBatch() {
        let run = Run()
        let tries = Locked(0)
        run.server.set(fault: { request, _ in
            guard request.method == .put else { return nil }
            tries.change { $0 += 1 }
            return .success(ModelServer.error(APIFailure(.unknownDevice, "")))
        })
        let gap = gap
        run.outbox.contents.change { $0.gaps[deviceA] = [gap] }
        for seq in UInt32(1)...118 {
            run.outbox.add([sample(seq)])
            run.pass(.seconds(60))
        }
        #expect(run.outbox.count(.confirmed) == 118)
        #expect((1...4).contains(tries.value), "\(tries.value)")
    }

    @Test(arguments: [(-1, 0), (0, 0), (7, 7), (Int.max, 4_503_599_627_370_495)])
    func thereIsAVersionAboveWhatTheServerClaims(claimed: Int, taken: Int) {
        #expect(ServerDeviceState(DeviceState(deviceID: "a", maxVersion: claimed)).maxVersion == taken)
    }

    @Test func completeThroughOfABatchGoesUpWithIt() {
        let run = Run()
        run.outbox.add((1...10).map { sample($0) })
        run.outbox.contents.change { $0.completeThrough = 10 }
        _ = run.untilItWaits()
        #expect(run.server.contents.value.completeThrough[deviceA.text] == 10)
    }

    @Test func aPartOfABatchDoesNotClaimToBeComplete() {
        let run = Run()
        run.outbox.add((1...10).map { sample($0) })
        run.outbox.contents.change { $0.completeThrough = 10 }
        run.server.set(poison: { $0.seq == 9 })
        // Two batches: 400 for all ten, then the first half.
        while run.posts < 2 { _ = run.worker.step(wasWoken: false) }
        #expect(run.outbox.count(.confirmed) == 5)
        #expect(run.server.contents.value.completeThrough.isEmpty)
    }

    @Test func aStatusGoesUpAfterTheHistoryAndThenOnChangeAndNotOften() {
        let run = Run()
        run.outbox.add((1...1000).map { sample($0) })
        run.outbox.contents.change { $0.reports[deviceA] = DeviceReport(batteryPercent: 80, unsent: 0) }
        _ = run.untilItWaits()
        #expect(run.log.last == "PUT status \(deviceA)")
        #expect(run.server.contents.value.reports[deviceA.text]?.batteryPercent == 80)
        run.pass(.seconds(3600))
        #expect(run.log.count { $0.hasPrefix("PUT status") } == 1)
        let battery = Locked(79)
        let outbox = run.outbox
        run.pass(.seconds(3600)) {
            battery.change { $0 = ($0 + 1) % 100 }
            let percent = battery.value
            outbox.contents.change { $0.reports[deviceA] = DeviceReport(batteryPercent: percent, unsent: 0) }
        }
        let puts = run.log.count { $0.hasPrefix("PUT status") }
        #expect(puts > 8 && puts <= 14, "one in five minutes")
    }

    @Test func aDeviceUnknownToTheServerIsNotAskedAboutWithoutEnd() {
        let run = Run()
        let gap = gap
        run.outbox.contents.change {
            $0.gaps[deviceA] = [gap]
            $0.reports[deviceA] = DeviceReport(batteryPercent: 80)
        }
        run.pass(.seconds(7200))
        #expect(run.log.count < 10)
        #expect(run.problem == nil)
        // The first batch makes it known; then the rest follows at once.
        run.outbox.add([sample(1)])
        run.pass(.seconds(61))
        #expect(run.server.contents.value.gaps[deviceA.text]?.count == 1)
        #expect(run.server.contents.value.reports[deviceA.text] != nil)
    }

    /// Gaps that are refused are nothing to the status, and a batch is no reason to try them again.
    @Test func refusedGapsKeepNoStatusFromGoing() {
        let run = Run()
        run.outbox.add((1...10).map { sample($0) })
        _ = run.untilItWaits()
        let gap = gap
        run.outbox.contents.change { $0.gaps[deviceA] = [gap] }
        let tries = Locked(0)
        run.server.set(fault: { request, _ in
            guard request.url.hasSuffix("gaps"), request.method == .put else { return nil }
            tries.change { $0 += 1 }
            return .success(ModelServer.error(.malformed("gaps")))
        })
        let outbox = run.outbox
        // A batch a minute: one at each step would never let time pass.
        for seq in UInt32(11)...60 {
            outbox.add([sample(seq)])
            outbox.contents.change { $0.reports[deviceA] = DeviceReport(batteryPercent: Int(seq)) }
            run.pass(.seconds(60))
        }
        #expect(tries.value == 1, "\(tries.value)")
        #expect(run.log.count { $0.hasPrefix("PUT status") } >= 5)
        #expect(run.problem == "report_refused", "though samples and the status go")
        run.server.set(fault: nil)
        run.pass(.seconds(3700))
        #expect(run.outbox.contents.value.sentGaps[deviceA] == [gap] && run.problem == nil)
    }

    /// A server has room for so many gaps of a device.
    @Test func gapsThatFitGoThoughNotAllDo() {
        let run = Run()
        run.outbox.add((1...10).map { sample($0) })
        _ = run.untilItWaits()
        let contents = run.server.contents
        run.server.set(fault: { request, _ in
            guard request.url.hasSuffix("gaps"), request.method == .put,
                let list = try? APIJSON.decode(GapList.self, from: request.body),
                (contents.value.gaps[deviceA.text]?.count ?? 0) + list.gaps.count > 60
            else { return nil }
            return .success(ModelServer.error(.batchTooLarge("gaps")))
        })
        let gaps = (0..<200).map {
            Gap(ring: ring, firstSeq: 100 + 2 * $0, lastSeq: 100 + 2 * $0, cause: .overwritten)
        }
        run.outbox.contents.change { $0.gaps[deviceA] = gaps }
        run.pass(.seconds(61))
        #expect(run.server.contents.value.gaps[deviceA.text]?.count == 60)
        #expect(run.outbox.contents.value.sentGaps[deviceA]?.count == 60)
        #expect(run.problem == "report_refused" && run.log.count < 40)
        run.server.set(fault: nil)
        run.pass(.seconds(3700))
        #expect(run.server.contents.value.gaps[deviceA.text]?.count == 200 && run.problem == nil)
    }

    @Test func refusedGapsDoNotStopSamples() {
        let run = Run()
        let gap = gap
        run.outbox.add((1...10).map { sample($0) })
        run.outbox.contents.change { $0.gaps[deviceA] = [gap] }
        run.server.set(fault: { request, _ in
            request.method == .put ? .success(ModelServer.error(.malformed("gaps"))) : nil
        })
        run.pass(.seconds(600))
        #expect(run.problem == "report_refused")
        run.outbox.add((11...20).map { sample($0) })
        run.pass(.seconds(61))
        #expect(run.outbox.count(.confirmed) == 20)
        #expect(run.log.count < 12)
    }
}
