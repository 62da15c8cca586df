import BandProfile
import GatewayModel
import IngestAPI
import Locking
import Store
import UploadDecisions

/// A comparison of all that is here of a band with what the server has, a request or a slice of days a step. What the server
/// lacks is marked day by day, and goes up again as everything else: a kill in between loses nothing.
extension UploadWorker {
    /// Days that are compared in one step as long as they agree.
    private static let daysPerStep = 16

    /// False = another one is under way.
    func reconcile(_ run: ReconcileRun) -> Bool {
        // What was begun without a person gives way: it comes again.
        guard commands.reconciliation?.isForGaps ?? true else { return false }
        if let device = commands.reconciliation?.device { lookForGaps(of: device) }
        commands.reconciliation = run
        showReconciling()
        return true
    }

    /// Another gateway syncs the band, too, and may have brought what is named as missing here.
    func lookForGaps(of device: DeviceID) { commands.gapLooks[device] = clock.monotonic }

    /// Begins the next look that is due, when nothing else is compared.
    private func beginGapLook(now: Duration) {
        let due = commands.gapLooks.filter { $0.value <= now }.keys.sorted { $0.text < $1.text }
        for device in due where commands.reconciliation == nil {
            commands.gapLooks[device] = nil
            do {
                guard try !openedOutbox().openGaps(of: device).isEmpty else { continue }
            } catch {
                commands.gapLooks[device] = now + settings.intervals.refusedReport
                continue
            }
            commands.reconciliation = ReconcileRun(
                device: device, firstDay: nil, isDryRun: true, isForGaps: true,
                limits: settings.intervals.limits.backOff, answer: OneShot())
        }
    }

    /// How long to wait before the next step of it; nil = there is none.
    func stepReconcile(now: Duration) -> Duration? {
        beginGapLook(now: now)
        guard let run = commands.reconciliation else { return nil }
        if let notBefore = run.notBefore, notBefore > now { return notBefore - now }
        if let until = host.budget.wait(now: now) { return until - now }
        guard let token = currentToken() else {
            return endReconcile(schedule.problem ?? .authenticationFailed)
        }
        guard schedule.mayAsk(now: now) else { return endReconcile(schedule.problem ?? .rateLimited) }
        do {
            let outbox = try openedOutbox()
            switch run.phase {
            case .readState: try readCounts(of: run, outbox, token: token)
            case .readRanges: try readRanges(of: run, outbox, token: token)
            case .readFirst(let day, let older):
                try readFirst(day, thenCount: older, of: run, token: token)
            case .countOlder(let days): try countOlder(days, outbox)
            case .compare: try compareDays(outbox)
            case .read(let reading): try read(reading, of: run, outbox, token: token)
            }
        } catch {
            return endReconcile(.outbox("\(error)"))
        }
        _ = takeTraffic()
        showReconciling()
        return commands.reconciliation.map { $0.notBefore.map { max(.zero, $0 - now) } ?? .zero }
    }

    @discardableResult
    func endReconcile(_ problem: UploadProblem?) -> Duration? {
        guard let run = commands.reconciliation else { return nil }
        var report = run.report
        if run.isForGaps, problem != nil {
            commands.gapLooks[run.device] = clock.monotonic + settings.intervals.refusedReport
        }
        report.problem = problem.map { Problem(explained($0), since: clock.wall) }
        commands.reconciliation?.answer.set(report)
        commands.reconciliation = nil
        showReconciling()
        if problem == nil, report.isMarked, let lacking = run.lacking { settleLacking(lacking, after: run) }
        if report.missing > 0, report.isMarked {
            nextLook = min(nextLook, clock.monotonic + settings.intervals.merge)
        }
        return nil
    }

    /// - Parameter lacking: before anything was marked.
    private func settleLacking(_ lacking: Int, after run: ReconcileRun) {
        let left = lacking - run.report.missing
        guard run.firstDay == nil else { return noteLacking(max(0, left), of: run.device) }
        // All that is here was compared: the rest was let go, here or there.
        guard (try? openedOutbox().letBe(left, of: run.device)) != nil else { return }
        noteLacking(0, of: run.device)
    }

    private func showReconciling() {
        board.reconciling = commands.reconciliation.flatMap { run in
            run.isForGaps
                ? nil
                : ReconcileProgress(
                    device: run.device, done: run.report.days - run.days.count, total: run.report.days)
        }
    }

    // MARK: what the server counts

    private func readCounts(of run: ReconcileRun, _ outbox: any UploadOutbox, token: String) throws {
        let (decision, state) = StatusTable.decideState(
            server.deviceState(run.device, token: token), device: run.device.text, wallTime: wallTime)
        guard isAnswered(decision, of: run) else { return }
        commands.reconciliation?.counts = state?.counts ?? [:]
        let there = state.map(\.count) ?? 0
        commands.reconciliation?.lacking = try there.map { try outbox.lacking(run.device, there: $0) }
        commands.reconciliation?.phase = .readRanges
    }

    private func readRanges(of run: ReconcileRun, _ outbox: any UploadOutbox, token: String) throws {
        let (decision, list) = StatusTable.decideRanges(
            server.ranges(of: run.device, token: token), wallTime: wallTime)
        guard isAnswered(decision, of: run) else { return }
        commands.reconciliation?.ranges = list ?? []
        commands.reconciliation?.gaps = try outbox.openGaps(of: run.device)
        commands.reconciliation?.begin(
            daysHere: try outbox.days(of: run.device), keptFrom: try outbox.keptFrom())
    }

    private func readFirst(
        _ day: Int64, thenCount older: [Int64], of run: ReconcileRun, token: String
    ) throws {
        let outcome = server.samples(
            of: run.device, ComparisonPlan.Window(day: day), cursor: nil, token: token)
        let (decision, page) = StatusTable.decidePage(outcome, wallTime: wallTime)
        if decision != .waitForCredentials(.forbidden) {
            guard isAnswered(decision, of: run) else { return }
            commands.reconciliation?.expiry.saw(page?.samples ?? [])
        }
        commands.reconciliation?.phase = .countOlder(days: older)
    }

    private func countOlder(_ days: [Int64], _ outbox: any UploadOutbox) throws {
        guard let device = commands.reconciliation?.device else { return }
        for day in days.prefix(Self.daysPerStep) {
            for part in try outbox.storedDay(day, of: device) {
                commands.reconciliation?.expiry.count(APISampleType(part.type), part.times)
            }
        }
        let rest = Array(days.dropFirst(Self.daysPerStep))
        commands.reconciliation?.phase = rest.isEmpty ? .compare : .countOlder(days: rest)
    }

    // MARK: days

    private func compareDays(_ outbox: any UploadOutbox) throws {
        for _ in 0..<Self.daysPerStep {
            guard let run = commands.reconciliation else { return }
            guard let number = run.days.first else {
                endReconcile(nil)
                return
            }
            let parts = try outbox.storedDay(number, of: run.device)
            var day = DayReconciliation(day: number, parts: parts, there: run.there(on: number))
            for (part, seqs) in day.onlyThere {
                guard let ring = RingID(part.ring) else { continue }
                let type = SampleType(part.type)
                // What is named as missing has to be looked for.
                if run.gaps[ring]?.contains(where: { $0.overlaps(seqs) }) == true { continue }
                if try !outbox.hasStored(seqs, type, in: ring, of: run.device) { day.isForeign(part) }
            }
            commands.reconciliation?.days.removeFirst()
            for part in parts {
                commands.reconciliation?.report.waiting += part.waiting
                commands.reconciliation?.report.kept += part.kept
            }
            if day.differing.isEmpty { continue }
            let reading = ReconcileRun.Reading(day: day, parts: parts, pending: [number])
            if day.wantsSamples {
                commands.reconciliation?.phase = .read(reading)
                return
            }
            try settle(reading, outbox)
            if case .read = commands.reconciliation?.phase { return }
        }
    }

    /// A page of the first day that is pending; with none left the day is settled.
    private func read(
        _ reading: ReconcileRun.Reading, of run: ReconcileRun, _ outbox: any UploadOutbox, token: String
    ) throws {
        guard let number = reading.pending.first else { return try settle(reading, outbox) }
        var reading = reading
        let window = ComparisonPlan.Window(day: number)
        let outcome = server.samples(of: run.device, window, cursor: reading.cursor, token: token)
        let (decision, page) = StatusTable.decidePage(outcome, wallTime: wallTime)
        if decision == .waitForCredentials(.forbidden) {
            // It may upload and not read: what differs is known, and not which samples.
            reading.day.couldNotRead()
            reading.pending = []
            reading.hasLookedElsewhere = true
            return try settle(reading, outbox)
        }
        guard isAnswered(decision, of: run) else { return }
        if number == reading.day.day {
            reading.day.saw(page?.samples ?? [])
        } else {
            for stored in page?.samples ?? [] {
                let part = DayReconciliation.Part(ring: stored.ring, type: stored.sample.type)
                reading.elsewhere[part, default: []].insert(stored.sample.seq)
            }
        }
        reading.cursor = page?.nextCursor
        reading.pages += 1
        if reading.cursor == nil || reading.pages >= ReconcileRun.pageLimit {
            reading.pending.removeFirst()
            reading.cursor = nil
            reading.pages = 0
        }
        if reading.pending.isEmpty { return try settle(reading, outbox) }
        commands.reconciliation?.phase = .read(reading)
    }

    /// Says how the day differs, marks what is missing, and goes on with the next; or looks elsewhere first.
    private func settle(_ reading: ReconcileRun.Reading, _ outbox: any UploadOutbox) throws {
        guard let run = commands.reconciliation else { return }
        let day = reading.day
        if !reading.hasLookedElsewhere {
            var reading = reading
            reading.hasLookedElsewhere = true
            reading.pending = Set(
                day.differing.flatMap { part in
                    let absent = day.absent(part).filtered { _, time in !hasExpired(part, time, run) }
                    return run.ranges.otherDays(holding: absent.seqs, of: part, not: day.day)
                }
            ).sorted()
            if !reading.pending.isEmpty {
                commands.reconciliation?.phase = .read(reading)
                return
            }
        }
        for part in day.differing { try settle(part, reading, of: run, outbox) }
        commands.reconciliation?.phase = .compare
    }

    private func settle(
        _ part: DayReconciliation.Part, _ reading: ReconcileRun.Reading, of run: ReconcileRun,
        _ outbox: any UploadOutbox
    ) throws {
        // A ring whose name is none can't be one of a band's.
        guard let ring = RingID(part.ring) else { return }
        let day = reading.day
        var absent = day.absent(part)
        let type = SampleType(part.type)
        var difference = DayDifference(
            day: day.day, ring: ring, type: type, here: day.countHere(part), there: day.countThere(part))
        let moved = reading.elsewhere[part] ?? []
        difference.elsewhere = absent.seqs.count { moved.contains($0) }
        absent = absent.filtered { seq, _ in !moved.contains(seq) }
        let left = absent.filtered { _, time in !hasExpired(part, time, run) }
        commands.reconciliation?.noteExpired(absent.seqs.count - left.seqs.count, on: day.day)
        absent = left
        let isOld = absent.times.contains { run.expiry.isOlder($0) }
        difference.isUnclear =
            !absent.seqs.isEmpty
            && (day.isUnreadable || isOld && run.expiry.verdict(part.type) == .unclear)
        difference.missing = absent.seqs.count
        difference.missingSeqs = absent.runs(limit: KeptSamples.rangeLimit)
        let strangers = day.strangers(part)
        let known = try outbox.stored(strangers, type, in: ring, of: run.device)
        difference.onlyThere =
            day.foreign.contains(part) ? difference.there : strangers.count - known.count
        let found = run.missing(strangers.filter { !known.contains($0) }, in: ring)
        commands.reconciliation?.report.healed += found.count
        if run.healsGaps, !found.isEmpty { try outbox.heal(found, in: ring, of: run.device) }
        if !run.isDryRun, !absent.seqs.isEmpty {
            try outbox.markUnconfirmed(absent.seqs, in: ring, of: run.device)
        }
        if difference.missing > 0 || difference.onlyThere > 0 { commands.reconciliation?.note(difference) }
    }

    private func hasExpired(_ part: DayReconciliation.Part, _ time: Int64, _ run: ReconcileRun) -> Bool {
        run.expiry.isOlder(time) && run.expiry.verdict(part.type) == .expired
    }

    // MARK: answers

    /// False = it is tried again later, or it ended.
    private func isAnswered(_ decision: UploadDecision, of run: ReconcileRun) -> Bool {
        let now = clock.monotonic
        let device = run.device.text
        switch decision {
        case .taken, .unknownDevice:
            schedule.requestEnded(.taken, device: device, now: now, using: &random)
            commands.reconciliation?.backOff.reset()
            commands.reconciliation?.notBefore = nil
            return true
        case .waitForCredentials(let problem):
            if problem != .forbidden {
                schedule.requestEnded(decision, device: device, now: now, using: &random)
            }
            endReconcile(problem)
        case .pause:
            schedule.requestEnded(decision, device: device, now: now, using: &random)
            endReconcile(.rateLimited)
        case .backOff(let problem, let retryAfter):
            if run.backOff.failures + 1 >= ReconcileRun.failureLimit {
                endReconcile(problem)
            } else {
                let wait = commands.reconciliation?.backOff.next(retryAfter: retryAfter, using: &random)
                commands.reconciliation?.notBefore = now + (wait ?? .zero)
            }
        case .passOver(let refusal), .halve(let refusal), .quarantine(let refusal):
            endReconcile(.reportRefused(code: refusal.code))
        case .settle, .sendIdentity: endReconcile(.encodingRefused)
        case .stop: endReconcile(.noAnswer(.aborted))
        }
        return false
    }
}

extension DayReconciliation.Here {
    fileprivate func filtered(_ keep: (UInt32, Int64) -> Bool) -> Self {
        let kept = seqs.indices.filter { keep(seqs[$0], times[$0]) }
        return Self(seqs: kept.map { seqs[$0] }, times: kept.map { times[$0] })
    }

    fileprivate func runs(limit: Int) -> [ClosedRange<UInt32>] {
        var runs: [ClosedRange<UInt32>] = []
        for seq in seqs {
            if let last = runs.last, last.upperBound < .max, last.upperBound + 1 == seq {
                runs[runs.count - 1] = last.lowerBound...seq
            } else if runs.count < limit {
                runs.append(seq...seq)
            } else {
                break
            }
        }
        return runs
    }
}
