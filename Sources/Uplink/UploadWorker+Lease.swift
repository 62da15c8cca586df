import GatewayModel
import IngestAPI
import Store
import UploadDecisions

/// Leases: the gateway that is to own a band asks the server for it, and keeps it. Ingest API 1: "The owner acks; others
/// observe."
extension UploadWorker {
    struct LeaseNotes {
        /// When a band's lease is asked for next; a band that is not here, at once.
        var dueAt: [DeviceID: Duration] = [:]
        /// Nothing is due before then.
        var lookAt = Duration.zero
        /// Of bands that another gateway holds.
        var held: [DeviceID: HeldWait] = [:]
        var schedule: SideSchedule
        /// A session that asks is answered at once until then: the server could not be reached a moment ago, for whatever
        /// band. What it answered of one band says nothing of another.
        var silentUntil: Duration?
        /// The server was reached and did not take the token: nothing that it said before counts until it says more.
        var isTokenRefused = false
        /// Bands of which a session was told that.
        var toldRefused: Set<DeviceID> = []
    }

    /// Bands that came or went since the last look are seen by then.
    private static let lookInterval = Duration.seconds(60)
    /// Sessions may follow each other every second.
    private static let silence = Duration.seconds(10)

    /// False = there is none to ask for now.
    ///
    /// A band that was never met is left to whoever meets it: a gateway that is configured for a band far away must not keep
    /// it from the one beside it. Its first session asks.
    func keepLeases(_ outbox: any UploadOutbox, token: String, now: Duration) throws -> Bool {
        guard now >= commands.leases.lookAt, commands.leases.schedule.isDue(now: now) else { return false }
        var next = now + Self.lookInterval
        for band in try outbox.leasedBands() {
            if !band.isOwn {
                guard band.lease?.isOurs == true, band.lease != .notKept else { continue }
                try giveBack(band.device, outbox, token: token)
                return true
            }
            guard band.wasMet || band.lease != nil, notes[band.device]?.isStateRead == true else { continue }
            if let dueAt = commands.leases.dueAt[band.device], dueAt > now {
                next = min(next, dueAt)
                continue
            }
            if let lease = try request(band, outbox, token: token).lease {
                // A session that was told so observes, and one from before goes on as the owner.
                let observes = commands.leases.toldRefused.remove(band.device) != nil
                let isOther = lease.isOurs != band.lease?.isOurs ?? false
                if isOther || (observes && lease.isOurs) { hooks.ownerChanged(band.device) }
            }
            return true
        }
        commands.leases.lookAt = next
        return false
    }

    /// When the next lease is due that is not overdue: an overdue one waits with everything else.
    func nextLease(after now: Duration) -> Duration? {
        commands.leases.dueAt.values.filter { $0 > now }.min()
    }

    /// A band was taken over, or the server has answered for the first time: its lease is asked for now, whatever was in vain
    /// before.
    func lookAtLeases(of device: DeviceID) {
        commands.leases.schedule.surroundingsChanged()
        commands.leases.silentUntil = nil
        commands.leases.dueAt[device] = nil
        commands.leases.lookAt = .zero
        nextLook = min(nextLook, clock.monotonic)
    }

    /// For a session that may acknowledge nothing before: the gateway's own waits do not hold it up.
    func askLease(of device: DeviceID, until: Duration) -> LeaseReply {
        let now = clock.monotonic
        // Where it gets none, the first answer that there is ends its waiting.
        commands.leases.lookAt = .zero
        // The upload may have been told so meanwhile; then it is not asked again before long.
        if schedule.isTokenRefused { commands.leases.isTokenRefused = true }
        if let reply = askedLease(of: device, until: until, now: now) {
            commands.leases.toldRefused.remove(device)
            return .said(reply)
        }
        guard commands.leases.isTokenRefused else { return .unanswered }
        commands.leases.toldRefused.insert(device)
        return .refused
    }

    /// Nil = the server could not be asked, or did not say it.
    private func askedLease(of device: DeviceID, until: Duration, now: Duration) -> BandLease? {
        guard until > now, commands.leases.silentUntil.map({ $0 <= now }) ?? true,
            let token = currentToken(), commands.leases.schedule.mayAsk(now: now), schedule.mayAsk(now: now),
            let outbox = try? openedOutbox(),
            let band = try? outbox.leasedBands().first(where: { $0.device == device }), band.isOwn
        else { return nil }
        let answer = try? request(band, outbox, token: token, within: until - now)
        // It waits for no budget, but is part of it.
        _ = takeTraffic()
        commands.leases.silentUntil = answer?.isOutage == true ? clock.monotonic + Self.silence : nil
        return answer?.lease
    }

    /// - Returns: nil = it was not said who owns it; `isOutage`: nobody who could say so was reached.
    private func request(
        _ band: LeasedBand, _ outbox: any UploadOutbox, token: String, within deadline: Duration? = nil
    ) throws -> (lease: BandLease?, isOutage: Bool) {
        let device = band.device
        let ours = try outbox.gatewayID()
        let term = settings.intervals.lease
        let request = LeaseRequest(gatewayID: ours, ttlSeconds: max(1, Int(term / .seconds(1))))
        let (decision, value) = StatusTable.decideLease(
            server.putLease(request, of: device, token: token, within: deadline), isAsked: true,
            wallTime: wallTime)
        let now = clock.monotonic
        let outcome = leaseEnded(decision, of: device, now: now)
        guard let lease = value.flatMap({ BandLease($0, ours: ours) }) else {
            // A server may know a device by its first batch alone.
            if outcome == .answered { commands.leases.dueAt[device] = now + Self.lookInterval }
            return (nil, decision.isOutage)
        }
        commands.leases.isTokenRefused = false
        if lease == .notKept {
            commands.leases.held[device] = nil
        } else if lease.isOurs {
            commands.leases.held[device] = nil
            commands.leases.dueAt[device] = now + term / 3
        } else {
            let left = Duration.milliseconds(lease.until.milliseconds - clock.wall.milliseconds)
            commands.leases.dueAt[device] =
                now + commands.leases.held[device, default: HeldWait()].next(left: left)
        }
        if lease != band.lease { try outbox.noteLease(lease, of: device) }
        if lease != .notKept, lease.isOurs != band.lease?.isOurs {
            board.log(.lease(device: device, isOurs: lease.isOurs))
        }
        return (lease, false)
    }

    private func giveBack(_ device: DeviceID, _ outbox: any UploadOutbox, token: String) throws {
        let decision = StatusTable.decideLeaseReturn(
            server.deleteLease(of: device, gateway: try outbox.gatewayID(), token: token), wallTime: wallTime)
        // One that the server will not take back ends by itself.
        guard leaseEnded(decision, of: device, now: clock.monotonic) != .failed else { return }
        try outbox.noteLease(nil, of: device)
    }

    private func leaseEnded(
        _ decision: UploadDecision, of device: DeviceID, now: Duration
    ) -> SideSchedule.Outcome {
        let wasForbidden = commands.leases.schedule.isForbidden
        let outcome = commands.leases.schedule.ended(
            decision, device: device.text, schedule: &schedule, now: now, using: &random)
        if case .waitForCredentials = decision { commands.leases.isTokenRefused = true }
        if outcome == .answered { commands.leases.isTokenRefused = false }
        if outcome == .refused { commands.leases.dueAt[device] = now + settings.intervals.refusedReport }
        if commands.leases.schedule.isForbidden, !wasForbidden { board.log(.leaseForbidden) }
        showLeases()
        return outcome
    }

    func showLeases() {
        board.show(
            leaseProblem: commands.leases.schedule.isForbidden ? .leaseForbidden : nil, now: clock.wall)
    }
}

/// What a session is told that asked who owns its band.
public enum LeaseReply: Equatable, Sendable {
    case said(BandLease)
    /// The server was reached, and says nothing to this token: whose the band is now, nobody here knows.
    case refused
    /// It could not be asked.
    case unanswered
}

extension BandLease {
    /// Nil = nobody holds it.
    init?(_ decision: LeaseDecision, ours: String) {
        switch decision {
        case .granted(let answer):
            guard let holder = answer.holder, let until = answer.expiresAt else { return nil }
            self.init(
                isOurs: holder == ours, holder: holder, until: Timestamp(milliseconds: until.milliseconds))
        case .held(let holder, let until):
            self.init(
                isOurs: holder == ours, holder: holder, until: Timestamp(milliseconds: until.milliseconds))
        case .notKept:
            self = .notKept
        }
    }
}
