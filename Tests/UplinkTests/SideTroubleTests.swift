import GatewayModel
import HTTPClient
import IngestAPI
import Locking
import Testing

@testable import Uplink

/// Samples go up though what is beside them does not.
@Suite struct SideTroubleTests {
    /// Which requests fail.
    enum Place: CaseIterable {
        case putGaps, readCauses, readBack, putStatus, lookAtState

        func isIt(_ request: HTTPRequest) -> Bool {
            switch self {
            case .putGaps: request.method == .put && request.url.hasSuffix("gaps")
            case .readCauses, .readBack: request.method == .get && request.url.hasSuffix("gaps")
            case .putStatus: request.url.hasSuffix("status")
            case .lookAtState: request.method == .get && request.url.hasSuffix(deviceA.text)
            }
        }
    }

    static let troubles: [Result<HTTPResponse, HTTPFailure>] = [
        .success(HTTPResponse(status: 500)),
        .success(ModelServer.error(APIFailure(.serverError, ""))),
        .success(HTTPResponse(status: 503, headers: [HTTPHeader("Retry-After", "2")])),
        .success(ModelServer.error(APIFailure(.forbidden, ""))),
        .success(ModelServer.error(APIFailure(.notFound, ""))),
        .success(ModelServer.error(APIFailure(.methodNotAllowed, ""))),
        .success(HTTPResponse(status: 404, body: Array("<html>".utf8))),
        .success(HTTPResponse(status: 200, body: Array("<html>".utf8))),
        .success(HTTPResponse(status: 511)),
        .failure(HTTPFailure(.answerTooLarge, "")), .failure(HTTPFailure(.connectionLost, "")),
        .failure(HTTPFailure(.timedOut, "")),
    ]

    @Test(arguments: Place.allCases, troubles.indices)
    func samplesGoUpThoughSomethingBesideThemDoesNot(_ place: Place, _ index: Int) {
        let run = Run()
        run.outbox.add((1...10).map { sample($0) })
        _ = run.untilItWaits()
        if place == .readBack { run.server.contents.change { $0.putAnswer = HTTPResponse(status: 204) } }
        let gap = Gap(
            ring: ring, firstSeq: 9_000, lastSeq: 9_001,
            cause: place == .readCauses ? .freedElsewhere : .lostByBand)
        run.outbox.contents.change { $0.gaps[deviceA] = [gap] }
        let trouble = Self.troubles[index]
        let clock = run.clock
        let (tries, inARow, longest) = (Locked(0), Locked(0), Locked(0))
        run.server.set(fault: { request, _ in
            if request.method == .post { inARow.change { $0 = 0 } }
            guard place.isIt(request) else { return nil }
            tries.change { $0 += 1 }
            let row = inARow.change { row in
                row += 1
                return row
            }
            longest.change { $0 = max($0, row) }
            if case .failure(let failure) = trouble, failure.code == .timedOut {
                clock.advance(by: .seconds(60))
            }
            return trouble
        })
        // A history, and then a sample a minute for two hours.
        run.clock.advance(by: .seconds(7300))
        run.outbox.add((11...3010).map { sample($0) })
        run.outbox.contents.change { $0.reports[deviceA] = DeviceReport(batteryPercent: 99) }
        while run.outbox.count(.pending) > 0, tries.value < 50 { _ = run.worker.step(wasWoken: false) }
        #expect(run.outbox.count(.confirmed) == 3010 && longest.value <= 1, "a batch after each that failed")
        let outbox = run.outbox
        for minute in UInt32(1)...120 {
            outbox.add([sample(3010 + minute)])
            outbox.contents.change { $0.reports[deviceA] = DeviceReport(batteryPercent: Int(minute % 100)) }
            run.pass(.seconds(60))
        }
        run.pass(.seconds(130))
        #expect(run.outbox.count(.confirmed) == 3130)
        #expect(tries.value > 0 && tries.value < 60, "\(tries.value)")
        if place == .putGaps || place == .putStatus { #expect(run.problem == "report_refused") }
        // It comes right by itself.
        run.server.set(fault: nil)
        run.pass(.seconds(3700))
        #expect(run.outbox.contents.value.sentGaps[deviceA] == [gap])
        #expect(run.server.contents.value.reports[deviceA.text]?.batteryPercent == 20)
        #expect(run.problem == nil)
    }

    /// A defect of one device at the server is no other's.
    @Test func aDeviceWhoseStateCanNotBeReadKeepsNoOtherWaiting() {
        let run = Run()
        run.outbox.add((1...600).map { sample($0) } + (1...600).map { sample($0, device: deviceB) })
        run.server.set(fault: { request, _ in
            // B comes first.
            request.method == .get && request.url.hasSuffix(deviceB.text)
                ? .success(HTTPResponse(status: 500)) : nil
        })
        run.pass(.seconds(120))
        #expect(run.outbox.count(.confirmed) == 600)
        let outbox = run.outbox
        for minute in UInt32(1)...60 {
            outbox.add([sample(600 + minute)])
            run.pass(.seconds(60))
        }
        #expect(run.outbox.count(.confirmed) == 660 && run.problem == "server_error")
        run.server.set(fault: nil)
        run.pass(.seconds(901))
        #expect(run.outbox.count(.confirmed) == 1260 && run.problem == nil)
    }

    /// What goes wrong with one report is not the other's, nor another device's.
    @Test func gapsThatFailKeepNoStatusWaiting() {
        let run = Run()
        run.outbox.add([sample(1), sample(2, device: deviceB)])
        _ = run.untilItWaits()
        run.server.set(fault: { request, _ in
            Place.putGaps.isIt(request) && request.url.contains(deviceA.text)
                ? .success(HTTPResponse(status: 500)) : nil
        })
        let gap = Gap(ring: ring, firstSeq: 90, lastSeq: 91, cause: .lostByBand)
        run.outbox.contents.change {
            $0.gaps = [deviceA: [gap], deviceB: [gap]]
            $0.reports[deviceA] = DeviceReport(batteryPercent: 80)
        }
        run.pass(.seconds(400))
        #expect(run.server.contents.value.reports[deviceA.text]?.batteryPercent == 80)
        #expect(run.server.contents.value.gaps[deviceB.text]?.count == 1)
        #expect(run.problem == "report_refused")
    }

    /// A token that the server takes for nothing, and a server that asks for silence, are for every request.
    @Test func whatIsAboutEveryRequestStopsSamplesToo() {
        for code in [APIErrorCode.authenticationFailed, .rateLimited] {
            let run = Run()
            run.outbox.add([sample(1)])
            _ = run.untilItWaits()
            run.server.set(fault: { request, _ in
                Place.putGaps.isIt(request) ? .success(ModelServer.error(APIFailure(code, ""))) : nil
            })
            run.outbox.contents.change {
                $0.gaps[deviceA] = [Gap(ring: ring, firstSeq: 90, lastSeq: 91, cause: .lostByBand)]
            }
            run.outbox.add([sample(2)])
            run.clock.advance(by: .seconds(61))
            _ = run.worker.step(wasWoken: false)
            #expect((run.worker.step(wasWoken: false)) > .zero && run.outbox.count(.pending) == 1)
            #expect(run.problem == code.rawValue)
        }
    }

    /// "Try it now" is for what is beside the samples, too.
    @Test func aPersonsWordEndsTheWaitsOfReports() {
        let run = Run()
        run.outbox.add([sample(1)])
        _ = run.untilItWaits()
        run.server.set(fault: { request, _ in
            Place.putGaps.isIt(request) ? .success(HTTPResponse(status: 500)) : nil
        })
        run.outbox.contents.change {
            $0.gaps[deviceA] = [Gap(ring: ring, firstSeq: 90, lastSeq: 91, cause: .lostByBand)]
        }
        run.pass(.seconds(3000))
        run.server.set(fault: nil)
        run.worker.uploadNow(OneShot())
        _ = run.untilItWaits()
        #expect(run.outbox.contents.value.sentGaps[deviceA]?.count == 1)
    }
}
