import Conditions
import GatewayModel

/// This host's clock and disk, and the way to the server.
extension Doctor {
    /// Milliseconds. A commit waits for some of them, and a band's packets meanwhile.
    static let slowSync: Int64 = 250
    /// Fewer say nothing of a 99th percentile. Where no more were made in the time that there was, the median tells.
    static let enoughSyncs = 20
    /// Megabytes of a million bytes, whatever floor is configured.
    static let littleSpace: Int64 = 500
    static let noSpace: Int64 = 50
    /// A floor is near when so much of it is left above it, as a part of it.
    static let nearFloor: Int64 = 4

    static func host(_ facts: DoctorFacts) -> [Finding] {
        var findings: [Finding] = []
        switch facts.clock {
        case nil, .synchronised: break
        case .plausible: findings.append(Finding(.clockUnsynchronised))
        case .implausible: findings.append(Finding(.clockImplausible))
        }
        if let disk = facts.disk {
            findings += [space(disk, floor: facts.configuration.freeSpaceFloor), speed(disk)].compactMap {
                $0
            }
        }
        if let problem = facts.server?.problem {
            findings.append(Finding(problem.condition, problem.parameters))
        }
        return findings
    }

    private static func space(_ disk: DiskFacts, floor: Int64) -> Finding? {
        guard let bytes = disk.freeBytes else { return nil }
        let free = bytes / 1_000_000
        let room = disk.roomBytes ?? bytes
        let parameters: Condition.Parameters = [
            "free": String(free), "directory": disk.directory, "floor": String(floor / 1_000_000),
        ]
        if floor > 0, room < floor { return Finding(.spaceBelowFloor, parameters) }
        if free < noSpace { return Finding(.spaceGone, parameters) }
        let isNearFloor = floor > 0 && room - floor < floor / nearFloor
        return free < littleSpace || isNearFloor ? Finding(.spaceLow, parameters) : nil
    }

    private static func speed(_ disk: DiskFacts) -> Finding? {
        let times = disk.syncMicroseconds.sorted()
        guard let slowest = times.last else { return nil }
        guard times.count >= enoughSyncs else {
            // One write that took all the time is no more than one; half of them are.
            let median = times[(times.count - 1) / 2] / 1000
            guard disk.ranOutOfTime, median >= slowSync else { return nil }
            return Finding(
                .diskVerySlow,
                [
                    "directory": disk.directory, "count": String(times.count), "median": String(median),
                    "slowest": String(slowest / 1000),
                ])
        }
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
