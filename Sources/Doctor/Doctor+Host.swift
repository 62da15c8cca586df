import Conditions
import GatewayModel

/// This host's clock and disk, and the way to the server.
extension Doctor {
    /// Milliseconds. A commit waits for some of them, and a band's packets meanwhile.
    static let slowSync: Int64 = 250
    /// Fewer say nothing of a 99th percentile.
    static let enoughSyncs = 20
    /// Megabytes of a million bytes.
    static let littleSpace: Int64 = 500
    static let noSpace: Int64 = 50

    static func host(_ facts: DoctorFacts) -> [Finding] {
        var findings: [Finding] = []
        switch facts.clock {
        case nil, .synchronised: break
        case .plausible: findings.append(Finding(.clockUnsynchronised))
        case .implausible: findings.append(Finding(.clockImplausible))
        }
        if let disk = facts.disk { findings += [space(disk), speed(disk)].compactMap { $0 } }
        if let problem = facts.server?.problem {
            findings.append(Finding(problem.condition, problem.parameters))
        }
        return findings
    }

    private static func space(_ disk: DiskFacts) -> Finding? {
        guard let bytes = disk.freeBytes else { return nil }
        let free = bytes / 1_000_000
        guard free < littleSpace else { return nil }
        let parameters: Condition.Parameters = ["free": String(free), "directory": disk.directory]
        return free < noSpace ? Finding(.spaceGone, parameters) : Finding(.spaceLow, parameters)
    }

    private static func speed(_ disk: DiskFacts) -> Finding? {
        let times = disk.syncMicroseconds.sorted()
        guard times.count >= enoughSyncs, let slowest = times.last else { return nil }
        // The nearest rank: of 100 the 99th.
        let p99 = times[(times.count * 99 + 99) / 100 - 1] / 1000
        guard p99 >= slowSync else { return nil }
        return Finding(
            .diskSlow,
            [
                "directory": disk.directory, "count": String(times.count), "p99": String(p99),
                "slowest": String(slowest / 1000),
            ])
    }
}
