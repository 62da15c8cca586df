import BandProfile
import HistorySync
import RadioSchedule
import Testing

private let a = adapterAddress(0)
private let b = adapterAddress(1)

private func time(_ milliseconds: Int64) -> MonotonicTime { MonotonicTime(milliseconds: milliseconds) }

/// A schedule that has seen one adapter, or those named, and keeps bands 0..<count.
private func given(
    bands count: Int = 1, adapters: [BluetoothAddress] = [a], links: Int = 5, syncInterval: Int64 = 900_000
) -> RadioSchedule {
    var schedule = RadioSchedule(settings: RadioSettings(syncInterval: syncInterval, maxLinks: links))
    for index in 0..<count { _ = schedule.handle(.kept(bandAddress(index)), at: time(0)) }
    _ = schedule.handle(.seen(view(adapters)), at: time(0))
    return schedule
}

private func view(
    _ adapters: [BluetoothAddress] = [a], heard: [(Int, BluetoothAddress, Int)] = [], at: Int64 = 0,
    connected: [BluetoothAddress: Set<BluetoothAddress>] = [:]
) -> RadioView {
    RadioView(
        adapters: adapters.map { .init(address: $0, isPowered: true, connected: connected[$0] ?? []) },
        sightings: heard.map { .init(band: bandAddress($0.0), adapter: $0.1, rssi: $0.2, at: time(at)) })
}

@Suite struct ScheduleTests {
    @Test func aDueBandIsLookedForThenConnectedTo() {
        var schedule = RadioSchedule(settings: RadioSettings(syncInterval: 900_000, maxLinks: 5))
        #expect(schedule.handle(.kept(bandAddress(0)), at: time(0)) == [])
        #expect(schedule.handle(.seen(view()), at: time(0)) == [.startScan(a)])
        #expect(
            schedule.handle(.seen(view(heard: [(0, a, -60)], at: 100)), at: time(100))
                == [.stopScan(a), .connect(bandAddress(0), on: a)])
        #expect(schedule.handle(.linked(bandAddress(0)), at: time(400)) == [])
        #expect(schedule.handle(.ended(bandAddress(0), .caughtUp, jitter: 0), at: time(5_000)) == [])
        // No discovery before it is due again.
        #expect(schedule.handle(.timePassed, at: time(904_999)) == [])
        #expect(schedule.deadline(after: time(5_001)) == time(905_000))
        #expect(schedule.handle(.timePassed, at: time(905_000)) == [.startScan(a)])
    }

    @Test func nothingIsScannedForWhenNoSlotIsFree() {
        var schedule = given(bands: 2, links: 1)
        _ = schedule.handle(.seen(view(heard: [(0, a, -60)], at: 600)), at: time(600))
        _ = schedule.handle(.linked(bandAddress(0)), at: time(700))
        #expect(!schedule.isScanning)
        #expect(schedule.handle(.timePassed, at: time(60_000)) == [])
        #expect(
            schedule.handle(.ended(bandAddress(0), .caughtUp, jitter: 0), at: time(61_000)) == [.startScan(a)]
        )
    }

    @Test func linksOfOtherProgramsTakeSlots() {
        var schedule = RadioSchedule(settings: RadioSettings(syncInterval: 900_000, maxLinks: 2))
        _ = schedule.handle(.kept(bandAddress(0)), at: time(0))
        let others: Set<BluetoothAddress> = [BluetoothAddress(bits: 1), BluetoothAddress(bits: 2)]
        #expect(schedule.handle(.seen(view(connected: [a: others])), at: time(0)) == [])
        #expect(schedule.othersUse(a))
        #expect(schedule.handle(.seen(view()), at: time(10)) == [.startScan(a)])
    }

    @Test func theLimitCountsForEachAdapter() {
        var schedule = given(bands: 4, adapters: [a, b], links: 1)
        let heard = (0..<4).map { ($0, $0 % 2 == 0 ? a : b, -60) }
        let actions = schedule.handle(.seen(view([a, b], heard: heard, at: 1_000)), at: time(1_000))
        #expect(
            actions.contains(.connect(bandAddress(0), on: a))
                && actions.contains(.connect(bandAddress(1), on: b)))
        #expect(schedule.handle(.linked(bandAddress(0)), at: time(1_100)) == [])
        #expect(schedule.handle(.linked(bandAddress(1)), at: time(1_100)) == [])
        let next = schedule.handle(.ended(bandAddress(1), .caughtUp, jitter: 0), at: time(9_000))
        #expect(next == [.connect(bandAddress(3), on: b)])
    }

    @Test func theAdapterThatHearsItBestIsTaken() {
        var schedule = given(adapters: [a, b])
        let actions = schedule.handle(
            .seen(view([a, b], heard: [(0, a, -80), (0, b, -55)], at: 100)), at: time(100))
        #expect(actions.contains(.connect(bandAddress(0), on: b)))
        // Where it has just failed it is tried last.
        _ = schedule.handle(.ended(bandAddress(0), .failed(moved: false), jitter: 0), at: time(1_000))
        _ = schedule.handle(.timePassed, at: time(2_000))
        let second = schedule.handle(
            .seen(view([a, b], heard: [(0, a, -80), (0, b, -55)], at: 3_000)), at: time(3_000))
        #expect(second.contains(.connect(bandAddress(0), on: a)))
    }

    @Test func anAdapterThatComesBackUnderAnotherNameGoesOn() {
        var schedule = given()
        // The view names adapters by address: their number is nowhere in it.
        #expect(schedule.handle(.seen(view([])), at: time(100)) == [.stopScan(a)])
        #expect(!schedule.isScanning)
        #expect(schedule.handle(.seen(view([a])), at: time(5_000)) == [.startScan(a)])
    }

    @Test func anAbsentBandIsLookedForShortlyAndWithinAMinute() {
        var schedule = given()
        #expect(schedule.handle(.timePassed, at: time(9_999)) == [])
        #expect(schedule.handle(.timePassed, at: time(10_000)) == [.notHeard(bandAddress(0)), .stopScan(a)])
        #expect(schedule.handle(.timePassed, at: time(49_999)) == [])
        #expect(schedule.handle(.timePassed, at: time(50_000)) == [.startScan(a)])
        // Said once only: nothing is written every minute.
        #expect(schedule.handle(.timePassed, at: time(54_000)) == [.stopScan(a)])
        #expect(schedule.handle(.timePassed, at: time(94_000)) == [.startScan(a)])
        let heard = schedule.handle(.seen(view(heard: [(0, a, -60)], at: 94_500)), at: time(94_500))
        #expect(heard == [.stopScan(a), .connect(bandAddress(0), on: a)])
    }

    @Test func aBandThatIsAwayForWeeksIsLookedForMoreSeldom() {
        var schedule = given()
        var now: Int64 = 0
        var starts: [Int64] = []
        while now < 8 * 86_400_000 {
            guard let next = schedule.deadline(after: time(now)) else { break }
            now = next.milliseconds
            if schedule.handle(.timePassed, at: next).contains(.startScan(a)) { starts.append(now) }
        }
        let gaps = zip(starts, starts.dropFirst()).map { $1 - $0 }
        #expect(gaps.first == 44_000 && gaps.last == 304_000)
        let counters = schedule.counters(at: time(now))
        #expect(counters.scanMilliseconds < now / 10)
    }

    @Test func anAttemptIsOnlyMadeWhileTheBandWasHeardJustNow() {
        var schedule = given(bands: 2, links: 1)
        _ = schedule.handle(.seen(view(heard: [(0, a, -60), (1, a, -60)], at: 100)), at: time(100))
        _ = schedule.handle(.linked(bandAddress(0)), at: time(200))
        // Its advertisement is older than BlueZ keeps a stranger: it is looked for again first.
        #expect(
            schedule.handle(.ended(bandAddress(0), .caughtUp, jitter: 0), at: time(30_000)) == [.startScan(a)]
        )
    }

    @Test func aFailureHasToBeHeardAgainAndWaits() {
        var schedule = given()
        _ = schedule.handle(.seen(view(heard: [(0, a, -60)], at: 100)), at: time(100))
        #expect(
            schedule.handle(.ended(bandAddress(0), .failed(moved: false), jitter: 0), at: time(1_000)) == [])
        #expect(schedule.handle(.timePassed, at: time(1_999)) == [])
        #expect(schedule.handle(.timePassed, at: time(2_000)) == [.startScan(a)])
        #expect(schedule.pause(of: bandAddress(0)) == BandPause(failures: 1, pause: 1_000))
    }

    @Test func whoFailsGoesBehindThoseWhoWait() {
        var schedule = given(bands: 3, links: 1)
        let all = [(0, a, -60), (1, a, -60), (2, a, -60)]
        _ = schedule.handle(.seen(view(heard: all, at: 100)), at: time(100))
        var order: [BluetoothAddress] = []
        var now: Int64 = 100
        for _ in 0..<4 {
            now += 1_500
            let next = schedule.handle(
                .ended(bandAddress(order.count % 3), .failed(moved: false), jitter: 0), at: time(now))
            _ = schedule.handle(.seen(view(heard: all, at: now)), at: time(now))
            for case .connect(let band, _) in next { order.append(band) }
            if next.isEmpty { break }
        }
        #expect(order.prefix(2) == [bandAddress(1), bandAddress(2)])
    }

    @Test func whoWasForgottenBeforeItsAttemptKeepsItsPlaceAndItsPause() {
        var schedule = given(bands: 2, links: 1)
        var now: Int64 = 100
        for _ in 0..<7 {
            let actions = schedule.handle(
                .seen(view(heard: [(0, a, -60), (1, a, -60)], at: now)), at: time(now))
            // Both wait, and it is the turn of the same one again.
            #expect(actions.contains(.connect(bandAddress(0), on: a)))
            let next = schedule.handle(.ended(bandAddress(0), .forgotten, jitter: 0), at: time(now + 10))
            #expect(schedule.pause(of: bandAddress(0)) == BandPause())
            // Nobody waits for it meanwhile.
            #expect(next == [.connect(bandAddress(1), on: a)])
            _ = schedule.handle(.ended(bandAddress(1), .forgotten, jitter: 0), at: time(now + 20))
            #expect(schedule.handle(.timePassed, at: time(now + 2_009)).isEmpty)
            #expect(schedule.handle(.timePassed, at: time(now + 2_010)) == [.startScan(a)])
            now += 2_100
        }
        _ = schedule.handle(.seen(view(heard: [(0, a, -60)], at: now)), at: time(now))
        _ = schedule.handle(.ended(bandAddress(0), .forgotten, jitter: 0), at: time(now + 10))
        #expect(schedule.pause(of: bandAddress(0)) == BandPause(failures: 1, pause: 1_000))
    }

    @Test func whatBlueZHasForgottenIsHeardAgainFirst() {
        var schedule = given(bands: 2, links: 1)
        _ = schedule.handle(.seen(view(heard: [(0, a, -60), (1, a, -60)], at: 100)), at: time(100))
        _ = schedule.handle(.linked(bandAddress(0)), at: time(200))
        let known = RadioView(
            adapters: [
                .init(address: a, isPowered: true, known: [bandAddress(0)])
            ])
        _ = schedule.handle(.seen(known), at: time(5_000))
        #expect(
            schedule.handle(.ended(bandAddress(0), .caughtUp, jitter: 0), at: time(6_000)) == [.startScan(a)])
    }

    @Test func anAdapterThatRefusesItsFirstLinkIsTriedLessAndLessOften() {
        var schedule = given()
        var now: Int64 = 0
        for failures in 1...5 {
            now += 400_000
            _ = schedule.handle(.timePassed, at: time(now))
            let actions = schedule.handle(.seen(view(heard: [(0, a, -60)], at: now)), at: time(now))
            #expect(actions.contains(.connect(bandAddress(0), on: a)))
            _ = schedule.handle(.ended(bandAddress(0), .noSlot, jitter: 0), at: time(now + 10))
            #expect(
                schedule.pause(of: bandAddress(0)) == BandPause(failures: failures, pause: 500 << failures))
        }
    }

    @Test func aLookThatIsCutShortGoesOnLater() {
        var schedule = given(bands: 2, syncInterval: 6_000)
        var now: Int64 = 0
        // Band 0 is there and due every 6 s; band 1 is away.
        var isHeard = false
        while now < 60_000 {
            now += 500
            let actions = schedule.handle(
                .seen(view(heard: isHeard ? [(0, a, -60)] : [], at: now)), at: time(now))
            isHeard = schedule.isScanning
            guard actions.contains(.connect(bandAddress(0), on: a)) else { continue }
            _ = schedule.handle(.linked(bandAddress(0)), at: time(now + 100))
            _ = schedule.handle(.ended(bandAddress(0), .caughtUp, jitter: 0), at: time(now + 300))
        }
        // 10 s for the first look, then 4 of every 10 and a little more.
        let counters = schedule.counters(at: time(now))
        #expect(counters.missedLooks >= 4 && counters.scanMilliseconds < 36_000)
    }

    @Test func askingWaitsForNoPause() {
        var schedule = given()
        _ = schedule.handle(.seen(view(heard: [(0, a, -60)], at: 100)), at: time(100))
        _ = schedule.handle(.ended(bandAddress(0), .needsHelp, jitter: 0), at: time(1_000))
        #expect(schedule.handle(.timePassed, at: time(600_000)) == [])
        #expect(schedule.handle(.asked(bandAddress(0)), at: time(600_000)) == [.startScan(a)])
        #expect(schedule.handle(.timePassed, at: time(620_000)) == [.notHeard(bandAddress(0)), .stopScan(a)])
    }

    /// Band 0 is linked, band 1 waits to be connected to, 2 and 3 are away, and the look for them has waited too long.
    private func waitingForALook() -> RadioSchedule {
        var schedule = given(bands: 4, links: 2)
        _ = schedule.handle(.seen(view(heard: [(0, a, -60)], at: 600)), at: time(600))
        // The attempt keeps the adapter from listening.
        _ = schedule.handle(.timePassed, at: time(700))
        _ = schedule.handle(.linked(bandAddress(0)), at: time(40_000))
        return schedule
    }

    @Test func askingForAbsentBandsInTurnKeepsNoConnectionWaiting() {
        var schedule = waitingForALook()
        #expect(schedule.isScanning)
        var connectedAt: Int64?
        var now: Int64 = 40_000
        while now < 200_000, connectedAt == nil {
            now += 500
            // Two clients that ask again and again, for bands that are not there.
            var actions = schedule.handle(.asked(bandAddress(2 + Int(now / 500) % 2)), at: time(now))
            actions += schedule.handle(
                .seen(view(heard: [(1, a, -60)], at: now, connected: [a: [bandAddress(0)]])), at: time(now))
            if actions.contains(.connect(bandAddress(1), on: a)) { connectedAt = now }
        }
        #expect((connectedAt ?? .max) < 60_000, "connected at \(connectedAt ?? -1)")
    }

    @Test func whoeverAsksAgainAndAgainIsAnswered() {
        var schedule = given()
        var answers: [Int64] = []
        for now in stride(from: Int64(100), to: 60_000, by: 500) {
            let actions = schedule.handle(.asked(bandAddress(0)), at: time(now))
            if actions.contains(.notHeard(bandAddress(0))) { answers.append(now) }
        }
        #expect(answers.first.map { $0 <= 20_600 } == true, "\(answers)")
    }

    @Test func whoHasALinkIsKnown() {
        var schedule = given(bands: 2, adapters: [a, b])
        _ = schedule.handle(.seen(view([a, b], heard: [(0, a, -60)], at: 600)), at: time(600))
        #expect(schedule.use(of: a) == RadioUse(), "an attempt is no link yet")
        _ = schedule.handle(.linked(bandAddress(0)), at: time(700))
        #expect(schedule.use(of: a) == RadioUse(byBands: true))
        #expect(schedule.use(of: b) == RadioUse(byBandsAnywhere: true))
        #expect(schedule.use(of: nil) == RadioUse(byBandsAnywhere: true))
        let stranger = BluetoothAddress(bits: 1)
        _ = schedule.handle(
            .seen(view([a, b], connected: [a: [bandAddress(0)], b: [stranger, bandAddress(1)]])),
            at: time(800))
        // The link of band 1 is taken over at once, as an attempt.
        #expect(
            schedule.use(of: b) == RadioUse(byBandsAnywhere: true, byOthers: true, byOthersAnywhere: true))
    }

    @Test func askingWithoutAnAdapterIsAnsweredAtOnce() {
        var schedule = given()
        _ = schedule.handle(.seen(view([])), at: time(100))
        #expect(schedule.handle(.asked(bandAddress(0)), at: time(200)) == [.noAdapter(bandAddress(0))])
    }

    @Test func whoReturnsDoesNotWaitForItsPause() {
        var schedule = given()
        var now: Int64 = 100
        for _ in 0..<10 {
            _ = schedule.handle(.asked(bandAddress(0)), at: time(now))
            _ = schedule.handle(.seen(view(heard: [(0, a, -60)], at: now)), at: time(now))
            _ = schedule.handle(.ended(bandAddress(0), .failed(moved: false), jitter: 0), at: time(now + 10))
            now += 1_000
        }
        _ = schedule.handle(.asked(bandAddress(0)), at: time(now))
        _ = schedule.handle(.timePassed, at: time(now + 20_000))
        let heard = schedule.handle(
            .seen(view(heard: [(0, a, -60)], at: now + 25_000)), at: time(now + 25_000))
        #expect(heard.contains(.connect(bandAddress(0), on: a)))
    }

    @Test func aLeftOverLinkIsTakenOverWhereItIs() {
        var schedule = RadioSchedule(settings: RadioSettings(syncInterval: 900_000, maxLinks: 1))
        _ = schedule.handle(.kept(bandAddress(0)), at: time(0))
        let actions = schedule.handle(.seen(view([a, b], connected: [b: [bandAddress(0)]])), at: time(0))
        #expect(actions == [.connect(bandAddress(0), on: b)])
    }

    @Test func aRefusedLinkTeachesTheLimit() {
        var schedule = given(bands: 3, links: 8)
        let all = [(0, a, -60), (1, a, -60), (2, a, -60)]
        _ = schedule.handle(.seen(view(heard: all, at: 100)), at: time(100))
        _ = schedule.handle(.linked(bandAddress(0)), at: time(200))
        let now = view(heard: [], connected: [a: [bandAddress(0)]])
        _ = schedule.handle(.seen(now), at: time(200))
        #expect(schedule.handle(.ended(bandAddress(1), .noSlot, jitter: 0), at: time(300)) == [])
        #expect(schedule.handle(.timePassed, at: time(20_000)) == [])
        #expect(schedule.counters(at: time(300)).refusedLinks == 1)
        // An hour later it is tried again.
        #expect(schedule.handle(.seen(now), at: time(3_600_300)) == [.startScan(a)])
    }

    @Test func listeningRunsBesideConnections() {
        var schedule = given()
        _ = schedule.handle(.seen(view(heard: [(0, a, -60)], at: 100)), at: time(100))
        _ = schedule.handle(.linked(bandAddress(0)), at: time(200))
        #expect(schedule.handle(.listen(10_000), at: time(300)) == [.startScan(a)])
        #expect(schedule.handle(.ended(bandAddress(0), .again, jitter: 0), at: time(1_000)) == [])
        let actions = schedule.handle(.seen(view(heard: [(0, a, -60)], at: 2_000)), at: time(2_000))
        #expect(actions == [.connect(bandAddress(0), on: a)])
        #expect(schedule.handle(.timePassed, at: time(10_300)) == [.stopScan(a)])
    }

    @Test func discoveryThatFailsIsTriedAgainMoreAndMoreSeldom() {
        var schedule = given()
        var now: Int64 = 0
        var starts: [Int64] = []
        _ = schedule.handle(.scanFailed(a), at: time(0))
        while starts.count < 6, let next = schedule.deadline(after: time(now)) {
            now = next.milliseconds
            guard schedule.handle(.timePassed, at: next).contains(.startScan(a)) else { continue }
            starts.append(now)
            #expect(schedule.handle(.scanFailed(a), at: next) == [])
        }
        #expect(starts == [2_000, 6_000, 14_000, 30_000, 62_000, 94_000])
        // That nobody was heard means nothing then.
        #expect(schedule.counters(at: time(now)).missedLooks == 0)
    }

    @Test func whoIsNotLookedForBecauseDiscoveryFailsIsTold() {
        var schedule = given(bands: 2)
        #expect(schedule.missedForWantOfDiscovery(at: time(0)) == [])
        _ = schedule.handle(.scanFailed(a), at: time(0))
        #expect(schedule.missedForWantOfDiscovery(at: time(0)) == [])
        #expect(schedule.handle(.timePassed, at: time(2_000)).contains(.startScan(a)))
        #expect(schedule.missedForWantOfDiscovery(at: time(2_000)) == [])
        _ = schedule.handle(.scanFailed(a), at: time(2_000))
        #expect(schedule.missedForWantOfDiscovery(at: time(2_000)) == [bandAddress(0), bandAddress(1)])
        // One look that works, and all is well.
        #expect(schedule.handle(.timePassed, at: time(6_000)).contains(.startScan(a)))
        _ = schedule.handle(.timePassed, at: time(120_000))
        #expect(schedule.missedForWantOfDiscovery(at: time(120_000)) == [])
    }

    @Test func aForgottenBandCountsUntilItsLinkIsGone() {
        var schedule = given(bands: 2, links: 1)
        _ = schedule.handle(.seen(view(heard: [(0, a, -60), (1, a, -60)], at: 100)), at: time(100))
        _ = schedule.handle(.linked(bandAddress(0)), at: time(200))
        #expect(schedule.handle(.dropped(bandAddress(0)), at: time(300)) == [])
        let next = schedule.handle(.ended(bandAddress(0), .again, jitter: 0), at: time(2_000))
        #expect(next == [.connect(bandAddress(1), on: a)])
        #expect(schedule.pause(of: bandAddress(0)) == nil)
    }

    @Test func anAdapterThatHearsNobodyAnyMoreIsToldOncePerHour() {
        var schedule = given()
        _ = schedule.handle(.seen(view(heard: [(0, a, -60)], at: 100)), at: time(100))
        _ = schedule.handle(.ended(bandAddress(0), .caughtUp, jitter: 0), at: time(1_000))
        var told: [Int64] = []
        var now: Int64 = 1_000
        while now < 4 * 3_600_000, let next = schedule.deadline(after: time(now)) {
            now = next.milliseconds
            if schedule.handle(.timePassed, at: next).contains(.deaf(a)) { told.append(now) }
        }
        #expect(told.count == 3)
    }

    @Test func aSightingFromTheFutureIsTakenAsNow() {
        var schedule = given(bands: 2, links: 1)
        _ = schedule.handle(.seen(view(heard: [(0, a, -60), (1, a, -60)], at: 1 << 40)), at: time(100))
        _ = schedule.handle(.linked(bandAddress(0)), at: time(200))
        #expect(
            schedule.handle(.ended(bandAddress(0), .caughtUp, jitter: 0), at: time(60_000)) == [.startScan(a)]
        )
    }

    @Test func countersAddUp() {
        var schedule = given()
        _ = schedule.handle(.seen(view(heard: [(0, a, -60)], at: 1_000)), at: time(1_000))
        _ = schedule.handle(.linked(bandAddress(0)), at: time(1_500))
        #expect(schedule.counters(at: time(2_000)).linksHeld == [a: 1])
        _ = schedule.handle(.ended(bandAddress(0), .failed(moved: true), jitter: 0), at: time(4_500))
        _ = schedule.handle(.asked(bandAddress(0)), at: time(4_500))
        _ = schedule.handle(.seen(view(heard: [(0, a, -60)], at: 5_500)), at: time(5_500))
        _ = schedule.handle(.linked(bandAddress(0)), at: time(6_000))
        _ = schedule.handle(.ended(bandAddress(0), .caughtUp, jitter: 0), at: time(8_000))
        let counters = schedule.counters(at: time(9_000))
        #expect(counters.scanMilliseconds == 2_000 && counters.attemptMilliseconds == 1_000)
        #expect(counters.linkMilliseconds == 5_000 && counters.attempts == 2 && counters.reconnects == 1)
        #expect(counters.caughtUp == 1 && counters.failedAttempts == 0 && counters.scans == 2)
    }
}

@Suite struct BandPauseTests {
    @Test func aRestartKeepsItAndAClockStepLocksNobodyOut() {
        let pause = BandPause(failures: 9, pause: 256_000)
        #expect(pause.left(sinceFailure: 56_000) == 200_000)
        #expect(pause.left(sinceFailure: 400_000) == 0)
        // The clock went back, or far ahead.
        #expect(pause.left(sinceFailure: -86_400_000) == 256_000)
        #expect(pause.left(sinceFailure: .max) == 0)
        #expect(BandPause(failures: -3, pause: .max).pause <= 1_125_000)
        #expect(BandPause(failures: .max, pause: -5) == BandPause(failures: .max, pause: 0))
    }

    @Test func itDoublesUpToTheMostWithJitterOfAQuarter() {
        var schedule = given()
        var pauses: [Int64] = []
        var now: Int64 = 100
        for _ in 0..<12 {
            _ = schedule.handle(.asked(bandAddress(0)), at: time(now))
            _ = schedule.handle(.seen(view(heard: [(0, a, -60)], at: now)), at: time(now))
            _ = schedule.handle(.ended(bandAddress(0), .failed(moved: false), jitter: 0), at: time(now + 10))
            pauses.append(schedule.pause(of: bandAddress(0))?.pause ?? 0)
            now += 100
        }
        #expect(pauses.prefix(4) == [1_000, 2_000, 4_000, 8_000] && pauses.last == 300_000)
        _ = schedule.handle(.asked(bandAddress(0)), at: time(now))
        _ = schedule.handle(.seen(view(heard: [(0, a, -60)], at: now)), at: time(now))
        _ = schedule.handle(.ended(bandAddress(0), .failed(moved: true), jitter: 99), at: time(now + 10))
        #expect(schedule.pause(of: bandAddress(0)) == BandPause(failures: 1, pause: 1_250))
    }

    // MARK: bands that are left alone, and bands that may be worth while

    /// A band that was looked for, connected to, and is left alone for an hour from second 1 on.
    private func resting() -> RadioSchedule {
        var schedule = given()
        _ = schedule.handle(.seen(view(heard: [(0, a, -60)], at: 100)), at: time(100))
        _ = schedule.handle(.ended(bandAddress(0), .rest(3_600_000), jitter: 0), at: time(1_000))
        return schedule
    }

    @Test func aBandThatIsLeftAloneIsNeitherLookedForNorConnectedTo() {
        var schedule = resting()
        #expect(schedule.deadline(after: time(60_000)) == time(3_601_000))
        // However often it is heard.
        for at: Int64 in [2_000, 60_000, 3_600_999] {
            #expect(schedule.handle(.seen(view(heard: [(0, a, -60)], at: at)), at: time(at)) == [])
            #expect(schedule.handle(.due(bandAddress(0)), at: time(at)) == [])
        }
        #expect(
            schedule.handle(.seen(view(heard: [(0, a, -60)], at: 3_601_000)), at: time(3_601_000))
                == [.connect(bandAddress(0), on: a)])
    }

    @Test func whoAsksForABandThatIsLeftAloneIsServed() {
        var schedule = resting()
        #expect(schedule.handle(.asked(bandAddress(0)), at: time(60_000)) == [.startScan(a)])
        #expect(
            schedule.handle(.seen(view(heard: [(0, a, -60)], at: 61_000)), at: time(61_000))
                == [.stopScan(a), .connect(bandAddress(0), on: a)])
        _ = schedule.handle(.ended(bandAddress(0), .rest(3_600_000), jitter: 0), at: time(62_000))
        #expect(schedule.handle(.timePassed, at: time(3_601_000)) == [])
        #expect(schedule.handle(.timePassed, at: time(3_662_000)) == [.startScan(a)])
    }

    @Test func aRestMayEndBefore() {
        var schedule = resting()
        #expect(schedule.handle(.restEnded(bandAddress(0)), at: time(60_000)) == [.startScan(a)])
        // Of one that does not rest nothing has ended.
        var other = given()
        _ = other.handle(.seen(view(heard: [(0, a, -60)], at: 100)), at: time(100))
        _ = other.handle(.ended(bandAddress(0), .caughtUp, jitter: 0), at: time(1_000))
        #expect(other.handle(.restEnded(bandAddress(0)), at: time(60_000)) == [])
    }

    /// Where its distance may be the cause, it matters whether it goes away.
    @Test func aBandInDoubtIsLookedForWhileItRests() {
        var schedule = given()
        _ = schedule.handle(.seen(view(heard: [(0, a, -60)], at: 100)), at: time(100))
        _ = schedule.handle(.ended(bandAddress(0), .doubtfulRest(900_000), jitter: 0), at: time(1_000))
        #expect(schedule.handle(.timePassed, at: time(40_999)) == [])
        #expect(schedule.handle(.timePassed, at: time(41_000)) == [.startScan(a)])
        // It is there: it is not connected to, and left alone until the next look.
        #expect(
            schedule.handle(.seen(view(heard: [(0, a, -60)], at: 41_500)), at: time(41_500)) == [.stopScan(a)]
        )
        #expect(schedule.handle(.timePassed, at: time(81_499)) == [])
        #expect(schedule.handle(.timePassed, at: time(81_500)) == [.startScan(a)])
        // It is away: whoever keeps it is told, ends the rest, and it is connected to when it is back.
        #expect(
            schedule.handle(.timePassed, at: time(91_500)) == [.notHeard(bandAddress(0)), .stopScan(a)])
        #expect(schedule.handle(.restEnded(bandAddress(0)), at: time(91_600)) == [.startScan(a)])
        #expect(
            schedule.handle(.seen(view(heard: [(0, a, -60)], at: 92_000)), at: time(92_000))
                == [.stopScan(a), .connect(bandAddress(0), on: a)])
    }

    @Test func aDoubtAtTheStartIsLookedForToo() {
        var schedule = RadioSchedule(settings: RadioSettings(syncInterval: 900_000, maxLinks: 5))
        _ = schedule.handle(
            .kept(bandAddress(0), rest: 600_000, isLookedForAtRest: true), at: time(0))
        #expect(schedule.handle(.seen(view(at: 0)), at: time(0)) == [.startScan(a)])
    }

    @Test func aBandThatRestsAtTheStartGoesOnResting() {
        var schedule = RadioSchedule(settings: RadioSettings(syncInterval: 900_000, maxLinks: 5))
        _ = schedule.handle(.kept(bandAddress(0), rest: 5_000), at: time(0))
        #expect(schedule.handle(.seen(view(heard: [(0, a, -60)], at: 0)), at: time(0)) == [])
        #expect(schedule.handle(.timePassed, at: time(5_000)) == [.connect(bandAddress(0), on: a)])
    }

    @Test func aBandThatBecomesDueIsSyncedBeforeItsTimeAndNotBeforeItsPause() {
        var schedule = given()
        _ = schedule.handle(.seen(view(heard: [(0, a, -60)], at: 100)), at: time(100))
        _ = schedule.handle(.ended(bandAddress(0), .caughtUp, jitter: 0), at: time(1_000))
        #expect(schedule.handle(.timePassed, at: time(60_000)) == [])
        #expect(schedule.handle(.due(bandAddress(0)), at: time(60_000)) == [.startScan(a)])
        _ = schedule.handle(.seen(view(heard: [(0, a, -60)], at: 60_100)), at: time(60_100))
        _ = schedule.handle(.ended(bandAddress(0), .needsHelp, jitter: 0), at: time(61_000))
        #expect(schedule.handle(.due(bandAddress(0)), at: time(62_000)) == [])
    }

    @Test func aBandThatBecomesDueInASessionIsSyncedOnceMore() {
        var schedule = given()
        _ = schedule.handle(.seen(view(heard: [(0, a, -60)], at: 100)), at: time(100))
        _ = schedule.handle(.linked(bandAddress(0)), at: time(200))
        #expect(schedule.handle(.due(bandAddress(0)), at: time(300)) == [])
        #expect(
            schedule.handle(.ended(bandAddress(0), .caughtUp, jitter: 0), at: time(1_000)) == [.startScan(a)])
        _ = schedule.handle(.seen(view(heard: [(0, a, -60)], at: 1_100)), at: time(1_100))
        #expect(schedule.handle(.ended(bandAddress(0), .caughtUp, jitter: 0), at: time(2_000)) == [])
    }

    // MARK: who waits is answered

    private let others: Set<BluetoothAddress> = [BluetoothAddress(bits: 1), BluetoothAddress(bits: 2)]

    @Test func whoWaitsIsToldThatOthersHoldAllLinks() {
        var schedule = given(links: 2)
        _ = schedule.handle(.seen(view(connected: [a: others])), at: time(0))
        // The look that ran ends without it; then somebody asks.
        _ = schedule.handle(.timePassed, at: time(20_000))
        #expect(schedule.handle(.asked(bandAddress(0)), at: time(100_000)) == [])
        #expect(schedule.handle(.asked(bandAddress(0)), at: time(120_000)) == [])
        #expect(schedule.deadline(after: time(120_001)) == time(130_000))
        #expect(schedule.handle(.timePassed, at: time(129_999)) == [])
        #expect(schedule.handle(.timePassed, at: time(130_000)) == [.refused(bandAddress(0), .noSlot)])
        // Once; and it is looked for when there is room again.
        #expect(schedule.handle(.timePassed, at: time(190_000)) == [])
        #expect(schedule.handle(.seen(view()), at: time(200_000)) == [.startScan(a)])
    }

    @Test func whoWaitsForASlotThatATurnOfOursHoldsWaitsOn() {
        var schedule = given(bands: 2, links: 1)
        _ = schedule.handle(.seen(view(heard: [(0, a, -60)], at: 600)), at: time(600))
        _ = schedule.handle(.linked(bandAddress(0)), at: time(700))
        _ = schedule.handle(.asked(bandAddress(1)), at: time(1_000))
        #expect(schedule.handle(.timePassed, at: time(300_000)) == [])
        #expect(
            schedule.handle(.ended(bandAddress(0), .caughtUp, jitter: 0), at: time(301_000)) == [
                .startScan(a)
            ])
    }

    @Test func whoWaitsIsToldThatDiscoveryFails() {
        var schedule = given()
        _ = schedule.handle(.asked(bandAddress(0)), at: time(1_000))
        var now: Int64 = 1_000
        var actions = schedule.handle(.scanFailed(a), at: time(now))
        while !actions.contains(where: { if case .refused = $0 { true } else { false } }), now < 600_000 {
            now += 500
            actions = schedule.handle(.timePassed, at: time(now))
            if actions.contains(.startScan(a)) {
                now += 100
                actions = schedule.handle(.scanFailed(a), at: time(now))
            }
        }
        #expect(actions.contains(.refused(bandAddress(0), .noDiscovery)))
        #expect((31_000...32_000).contains(now), "\(now)")
        // The next one who asks waits as long, and is told as well.
        _ = schedule.handle(.asked(bandAddress(0)), at: time(now + 100))
        #expect(schedule.deadline(after: time(now + 100)) != nil)
    }

    @Test func oneAdapterThatCanListenIsEnough() {
        var schedule = given(adapters: [a, b], links: 2)
        _ = schedule.handle(.seen(view([a, b], connected: [a: others])), at: time(100))
        _ = schedule.handle(.asked(bandAddress(0)), at: time(100))
        var told: [RadioAction] = []
        for now in stride(from: Int64(500), through: 60_000, by: 500) {
            told += schedule.handle(.timePassed, at: time(now))
        }
        #expect(told.contains(.notHeard(bandAddress(0))))
        #expect(!told.contains(.refused(bandAddress(0), .noSlot)))
    }
}
