import GatewayBus
import GatewayModel
import Uplink

/// The command that compares with the server.
extension RunningGateway {
    func reconcile(_ band: String?, days: Int?, isDryRun: Bool) async throws -> [ReconcileReport] {
        let server = try server()
        if let progress = server.reconciling { throw Self.isReconciling(progress) }
        let devices: [DeviceID]
        if let band {
            devices = [try await device(called: band)]
        } else {
            devices = try await storing { try await store.bandStatuses().map(\.device) }
        }
        let showing = Task { [weak self] in
            while !Task.isCancelled {
                await self?.showProgress()
                try? await Task.sleep(for: .milliseconds(500))
            }
        }
        defer { showing.cancel() }
        var reports: [ReconcileReport] = []
        for device in devices {
            guard let report = await server.reconcile(device, days: days, isDryRun: isDryRun) else {
                throw Self.isReconciling(server.reconciling)
            }
            reports.append(report)
            log.notice(
                "compared with the server",
                [
                    ("device", .text(device.text)), ("days", .count(report.days)),
                    ("missing", .count(report.missing)), ("only_there", .count(report.onlyThere)),
                    ("marked", .text(report.isMarked ? "yes" : "no")),
                    ("problem", .text(report.problem?.code ?? "none")),
                ])
            // What keeps the server from answering keeps it from answering about the next band, too.
            if report.problem != nil { break }
        }
        haveChanged()
        return reports
    }

    private func showProgress() { parts.changed() }

    private static func isReconciling(_ progress: ReconcileProgress?) -> CommandFailure {
        let what = progress.map { " of \($0.device), day \($0.done) of \($0.total)" } ?? ""
        return CommandFailure(
            .inProgress, "a comparison\(what) is under way already; try again when it has ended")
    }
}
