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
    }

    /// Bands that came or went since the last look are seen by then.
    private static let lookInterval = Duration.seconds(60)

    /// False = there is none to ask for now.
    func keepLeases(_ outbox: any UploadOutbox, token: String, now: Duration) throws -> Bool {
        guard now >= commands.leases.lookAt, commands.leases.schedule.isDue(now: now) else { return false }
        var next = now + Self.lookInterval
        for band in try outbox.leasedBands() {
            if !band.isOwn {
                guard band.lease?.isOurs == true else { continue }
                try giveBack(band.device, outbox, token: token)
                return true
            }
            guard band.wasMet || band.lease != nil, notes[band.device]?.isStateRead == true else { continue }
            if let dueAt = commands.leases.dueAt[band.device], dueAt > now {
                next = min(next, dueAt)
                continue
            }
            try request(band, outbox, token: token)
            return true
        }
        commands.leases.lookAt = next
        return false
    }

    /// When the next lease is due that is not overdue: an overdue one waits with everything else.
    func nextLease(after now: Duration) -> Duration? {
        commands.leases.dueAt.values.filter { $0 > now }.min()
    }

    /// A band was taken over, say: its lease is asked for now.
    func lookAtLeases(of device: DeviceID) {
        commands.leases.dueAt[device] = nil
        commands.leases.lookAt = .zero
        nextLook = min(nextLook, clock.monotonic)
    }

    private func request(_ band: LeasedBand, _ outbox: any UploadOutbox, token: String) throws {
        let device = band.device
        let ours = try outbox.gatewayID()
        let term = settings.intervals.lease
        let request = LeaseRequest(gatewayID: ours, ttlSeconds: max(1, Int(term / .seconds(1))))
        let (decision, value) = StatusTable.decideLease(
            server.putLease(request, of: device, token: token), wallTime: wallTime)
        let now = clock.monotonic
        if decision.saysThatThereAreNoLeases, band.lease == nil {
            // Nobody ever hears of another owner there: the band is this gateway's, as without a server.
            try outbox.noteLease(
                BandLease(isOurs: true, holder: ours, until: Timestamp(milliseconds: 0)), of: device)
            board.log(.lease(device: device, isOurs: true))
        }
        guard leaseEnded(decision, of: device, now: now) else { return }
        guard let lease = value.flatMap({ BandLease($0, ours: ours) }) else {
            return commands.leases.dueAt[device] = now + term
        }
        if lease.isOurs {
            commands.leases.held[device] = nil
            commands.leases.dueAt[device] = now + term / 3
        } else {
            let left = Duration.milliseconds(lease.until.milliseconds - clock.wall.milliseconds)
            commands.leases.dueAt[device] =
                now + commands.leases.held[device, default: HeldWait()].next(left: left)
        }
        if lease != band.lease { try outbox.noteLease(lease, of: device) }
        if lease.isOurs != band.lease?.isOurs { board.log(.lease(device: device, isOurs: lease.isOurs)) }
    }

    private func giveBack(_ device: DeviceID, _ outbox: any UploadOutbox, token: String) throws {
        let (decision, _) = StatusTable.decideLease(
            server.deleteLease(of: device, gateway: try outbox.gatewayID(), token: token), wallTime: wallTime)
        guard leaseEnded(decision, of: device, now: clock.monotonic) else { return }
        try outbox.noteLease(nil, of: device)
    }

    /// True = answered as it should be.
    private func leaseEnded(_ decision: UploadDecision, of device: DeviceID, now: Duration) -> Bool {
        switch commands.leases.schedule.ended(
            decision, device: device.text, schedule: &schedule, now: now, using: &random)
        {
        case .answered: return true
        case .refused: commands.leases.dueAt[device] = now + settings.intervals.refusedReport
        case .failed: break
        }
        return false
    }
}

extension UploadDecision {
    /// A server from before there were leases does not know the path.
    fileprivate var saysThatThereAreNoLeases: Bool {
        guard case .passOver(let refusal) = self else { return false }
        return [APIErrorCode.notFound, .methodNotAllowed].contains { $0.rawValue == refusal.code }
    }
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
        }
    }
}
