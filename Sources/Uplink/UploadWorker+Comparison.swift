import GatewayModel
import IngestAPI
import UploadDecisions

/// What another gateway said better: read from the server after everything else, a page a step.
extension UploadWorker {
    /// Samples of one comparison.
    private static let sliceLimit = 2_000
    /// What the server has on which day is read anew after this time.
    private static let rangesAge = Duration.seconds(600)

    /// A slice that is being compared.
    struct Comparison {
        let pending: PendingComparison
        var plan: ComparisonPlan
        /// In the first window.
        var cursor: String?
    }

    /// False = there is nothing to compare now.
    func compare(
        _ outbox: any UploadOutbox, awake: [DeviceID], resting: Set<DeviceID>, token: String, now: Duration
    ) throws -> Bool {
        guard comparisonSchedule.isDue(now: now) else { return false }
        guard let current = comparison else {
            guard let pending = try outbox.nextComparison(limit: Self.sliceLimit, skipping: resting) else {
                return try sweep(awake, outbox, now: now)
            }
            comparison = Comparison(pending: pending, plan: ComparisonPlan(pending))
            return true
        }
        if let window = current.plan.windows.first {
            try read(window, of: current, outbox, token: token)
        } else if current.plan.wantsRanges {
            try readRanges(of: current, outbox, token: token, now: now)
        } else {
            try end(current, outbox)
        }
        return true
    }

    private func end(_ current: Comparison, _ outbox: any UploadOutbox) throws {
        comparison = nil
        try outbox.endComparison(current.pending)
    }

    private func read(
        _ window: ComparisonPlan.Window, of current: Comparison, _ outbox: any UploadOutbox, token: String
    ) throws {
        let device = current.pending.device
        let outcome = server.samples(of: device, window, cursor: current.cursor, token: token)
        let (decision, page) = StatusTable.decidePage(outcome, wallTime: wallTime)
        guard try ended(decision, of: current, outbox) else { return }
        guard let page else { return try end(current, outbox) }
        let samples = page.samples.compactMap { Sample($0) }.filter { $0.device == device }
        let report = try outbox.adopt(samples, of: device)
        if report.marked > 0 { hooks.storeMarked() }
        if report.adopted > 0 { board.log(.adopted(device: device, count: report.adopted)) }
        comparison?.plan.saw(page.samples, isLast: page.nextCursor == nil)
        let isSameWindow = comparison?.plan.windows.first.map { $0.from == window.from } ?? false
        comparison?.cursor = isSameWindow ? page.nextCursor : nil
    }

    private func readRanges(
        of current: Comparison, _ outbox: any UploadOutbox, token: String, now: Duration
    ) throws {
        let device = current.pending.device
        if let known = ranges, known.device == device, now < known.readAt + Self.rangesAge {
            comparison?.plan.take(known.list)
            return
        }
        let (decision, list) = StatusTable.decideRanges(
            server.ranges(of: device, token: token), wallTime: wallTime)
        guard try ended(decision, of: current, outbox) else { return }
        guard let list else { return try end(current, outbox) }
        ranges = (device, now, list)
        comparison?.plan.take(list)
    }

    /// True = answered as it should be.
    private func ended(
        _ decision: UploadDecision, of current: Comparison, _ outbox: any UploadOutbox
    ) throws -> Bool {
        let device = current.pending.device.text
        let wasForbidden = comparisonSchedule.isForbidden
        switch comparisonSchedule.ended(
            decision, device: device, schedule: &schedule, now: clock.monotonic, using: &random)
        {
        case .answered: return true
        case .refused: try end(current, outbox)
        case .failed:
            // Begun anew when it is due again.
            comparison = nil
            if comparisonSchedule.isForbidden, !wasForbidden { board.log(.readingForbidden) }
        }
        return false
    }

    /// Where another gateway is at work, some of what lies here is compared from time to time.
    private func sweep(_ devices: [DeviceID], _ outbox: any UploadOutbox, now: Duration) throws -> Bool {
        for device in devices {
            let last = notes[device]?.sweptAt
            guard last.map({ now >= $0 + settings.intervals.sweep }) ?? true, try outbox.isShared(device)
            else {
                continue
            }
            notes[device]?.sweptAt = now
            lookForGaps(of: device)
            if try outbox.sweep(device, count: settings.intervals.sweepCount) { return true }
        }
        return false
    }
}

extension ComparisonPlan {
    init(_ pending: PendingComparison) {
        self.init(
            ring: pending.ring.description,
            pending.moments.map {
                Moment(seq: $0.seq, time: $0.time.milliseconds, bound: $0.boundMilliseconds)
            })
    }
}
