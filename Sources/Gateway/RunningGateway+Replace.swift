import BandProfile
import GatewayBus
import GatewayModel
import IngestAPI
import Store
import Uplink
import UploadDecisions

/// Taking over the bands of a gateway that is lost, from what the server knows of them.
extension RunningGateway {
    /// Who owns them is asked of so many.
    private static let leaseLimit = 50

    func serverBands() async throws -> [ServerBand] {
        let server = try server()
        let plan = try await plan(ReplaceRequest(bands: []), server)
        let gateway = try await storing { try await store.gatewayID() }
        var bands: [ServerBand] = []
        for state in plan.devices {
            guard let device = DeviceID(state.deviceID) else { continue }
            let local = plan.bands.first { $0.device == device }
            var band = ServerBand(device: device, address: plan.knownAddress(of: device))
            band.lastContact = state.status?.lastContact.map { Timestamp(milliseconds: $0.milliseconds) }
            band.lastRecordedAt = state.lastRecordedAt.map { Timestamp(milliseconds: $0.milliseconds) }
            band.samples = state.counts.values.reduce(0, +)
            band.mode = local.flatMap { $0.adopted ? $0.mode : nil }
            band.lease = local?.lease
            if local?.lease?.isSaidToBeOurs != true, bands.count < Self.leaseLimit {
                band.lease = try await asking { try await server.leaseHolder(of: device, gateway: gateway) }
            }
            bands.append(band)
        }
        return bands
    }

    func replace(_ request: ReplaceRequest) async throws -> [ReplaceReport] {
        let server = try server()
        var reports: [ReplaceReport] = []
        for step in try await plan(request, server).steps() {
            reports.append(try await take(step, request, server))
        }
        haveChanged()
        return reports
    }

    private func plan(_ request: ReplaceRequest, _ server: Uploader) async throws -> ReplacePlan {
        let devices = try await asking { try await server.serverDevices() }
        return ReplacePlan(
            request: request, devices: devices, bands: try await storing { try await store.bandStatuses() },
            configuration: configuration)
    }

    // MARK: one band

    private func take(
        _ step: ReplacePlan.Step, _ request: ReplaceRequest, _ server: Uploader
    ) async throws -> ReplaceReport {
        var report = ReplaceReport(device: step.device, address: step.address, outcome: .refused)
        report.maxVersion = step.state.maxVersion
        report.problem = step.problem
        guard step.problem == nil, let address = step.address else { return report }
        report.lease = try await lease(of: step, isDryRun: request.isDryRun, server)
        if let lease = report.lease, !lease.isOurs, !request.isForced, !step.isOwned {
            report.problem = .leaseHeld(lease)
            return report
        }
        do {
            try await take(step, at: address, request, server, into: &report)
        } catch {
            if !request.isDryRun { await giveBack(report.lease, of: step, server) }
            throw error
        }
        return report
    }

    /// A lease that was got for a takeover which then failed would keep others from the band.
    private func giveBack(_ lease: BandLease?, of step: ReplacePlan.Step, _ server: Uploader) async {
        guard lease?.isOurs == true, !step.isOwned else { return }
        do {
            try await server.releaseLease(of: step.device, gateway: try await store.gatewayID())
        } catch {
            log.warning(
                "the lease of a band that was not taken over could not be given back",
                [("device", .text(step.device.text)), ("reason", .text("\(error)"))])
        }
    }

    private func take(
        _ step: ReplacePlan.Step, at address: BluetoothAddress, _ request: ReplaceRequest, _ server: Uploader,
        into report: inout ReplaceReport
    ) async throws {
        let gaps = try await asking { try await server.serverGaps(of: step.device) }
        report.gaps = gaps.count
        if request.isDryRun {
            report.outcome = .wouldTakeOver
            report.rings = step.rings.map {
                .init(
                    ring: $0.ring, completeThrough: $0.completeThrough,
                    nextSeq: UInt32(clamping: Int64($0.completeThrough ?? 0) + 1))
            }
            report.wearer = try await wearer(of: step, server, learn: false).wearer
            return
        }
        let (wearer, learnt) = try await wearer(of: step, server, learn: true)
        (report.wearer, report.persons) = (wearer, learnt)
        let read = try await storing {
            try await store.takeOver(
                address: address, device: step.device, name: nil, rings: step.rings,
                maxVersion: ServerDeviceState.version(step.state.maxVersion), gaps: gaps)
        }
        if let lease = report.lease {
            try await storing { try await store.noteLease(lease, of: step.device) }
        }
        report.rings = read.map { ring, next in
            .init(
                ring: ring, completeThrough: step.rings.first { $0.ring == ring }?.completeThrough,
                nextSeq: next)
        }
        report.outcome = step.isOwned ? .refreshed : .takenOver
        if !step.isOwned {
            try await changing(address) { try await storing { try await keepAnew(address) } }
        }
        server.lookAtLeases(of: step.device)
        log.notice(
            "a band was taken over from what the server knows of it",
            [
                ("device", .text(step.device.text)), ("rings", .count(report.rings.count)),
                ("gaps", .count(report.gaps)), ("outcome", .text(report.outcome.rawValue)),
                ("lease", .text(report.lease.map { $0.isOurs ? "ours" : "another's" } ?? "none")),
            ])
    }

    /// Asked for, and in a dry run only looked at.
    private func lease(
        of step: ReplacePlan.Step, isDryRun: Bool, _ server: Uploader
    ) async throws -> BandLease? {
        let gateway = try await storing { try await store.gatewayID() }
        let known = try await storing { try await store.lease(of: step.device) }
        if isDryRun, known?.isSaidToBeOurs == true { return known }
        return try await asking {
            isDryRun
                ? try await server.leaseHolder(of: step.device, gateway: gateway)
                : try await server.requestLease(of: step.device, gateway: gateway)
        }
    }

    // MARK: persons

    /// Who wore it on the last day of which the server has something. Persons who are not known here are added, with their
    /// zones, under the name that was shared or else under their id.
    private func wearer(
        of step: ReplacePlan.Step, _ server: Uploader, learn: Bool
    ) async throws -> (wearer: ReplaceReport.Wearer?, learnt: Int) {
        guard let last = step.state.lastRecordedAt else { return (nil, 0) }
        let wearers: [(person: PersonID, until: Timestamp)]
        do {
            wearers = try await server.wearers(of: step.device, on: last.dayNumber)
        } catch {
            // A token that may not read samples takes bands over all the same.
            log.info("who wore the band can't be read from the server", [("reason", .text(error.text))])
            return (nil, 0)
        }
        var persons = try await storing { try await store.persons() }
        var learnt = 0
        for (id, _) in wearers where learn && !persons.contains(where: { $0.id == id }) {
            let record = try await asking { try await server.serverPerson(id) }
            let person = Person(
                id: id, name: Self.name(record?.label, of: id, among: persons),
                zones: (record?.zones ?? []).filter { IngestAPI.isZoneName($0.zone) }.map {
                    ZoneStay(zone: $0.zone, from: Timestamp(milliseconds: $0.from.milliseconds))
                })
            guard try await storing({ try await store.addPerson(person) }) else { continue }
            persons.append(person)
            learnt += 1
        }
        guard let (id, until) = wearers.last else { return (nil, learnt) }
        // Who wears it since is known here.
        let assignments = try await storing { try await store.assignments(of: step.device) }
        if assignments.contains(where: { $0.from <= until && $0.to.map { $0 > until } ?? true }) {
            return (nil, learnt)
        }
        let name = persons.first { $0.id == id }?.name ?? id.text
        return (ReplaceReport.Wearer(person: id, name: name, until: until), learnt)
    }

    private static func name(_ label: String?, of id: PersonID, among persons: [Person]) -> String {
        guard let label, (1...64).contains(label.count), label.first != " ", label.last != " ",
            !label.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7f }),
            !persons.contains(where: { $0.name == label || $0.id.text == label })
        else { return id.text }
        return label
    }

    private func asking<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let problem as UploadProblem {
            throw CommandFailure(problem)
        }
    }
}

extension ReplacePlan.Step {
    /// The oldest first.
    var rings: [KnownRing] {
        state.rings.sorted { $0.firstSeen < $1.firstSeen }.compactMap { KnownRing($0) }
    }
}
