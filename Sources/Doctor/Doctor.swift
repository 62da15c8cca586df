import Conditions
import GatewayModel

/// Facts in, findings out. Nothing here looks at anything.
public enum Doctor {
    /// `words`: how figures and times of bands are written.
    public static func diagnose(_ facts: DoctorFacts, words: ConditionWords = .plain) -> Diagnosis {
        var findings =
            configuration(facts) + daemon(facts) + bluetooth(facts) + host(facts) + unfinished(facts)
        // What the daemon says too is said closer here.
        let own = Set(findings.filter { $0.subject == nil }.map(\.code))
        findings += said(facts, words).filter { $0.subject != nil || !own.contains($0.code) }
        var unique: [Finding] = []
        for finding in findings
        where !unique.contains(where: { $0.code == finding.code && $0.subject == finding.subject })
            || finding.isListed
        {
            unique.append(finding)
        }
        // Of one severity in the order in which they were found: what is nearer to the cause comes first.
        let sorted = Condition.Severity.allCases.sorted(by: >).flatMap { severity in
            unique.filter { $0.severity == severity }
        }
        return Diagnosis(
            findings: sorted, checked: DoctorCheck.allCases.filter { facts.done.contains($0) },
            daemon: facts.daemon.state)
    }

    // MARK: the gateway

    private static func configuration(_ facts: DoctorFacts) -> [Finding] {
        let file = facts.configuration.file
        return facts.configuration.errors.map { Finding(.configurationInvalid, ["note": $0, "file": file]) }
            + facts.configuration.warnings.map { Finding(.configurationIgnored, ["note": $0, "file": file]) }
    }

    private static func daemon(_ facts: DoctorFacts) -> [Finding] {
        switch facts.daemon.state {
        case .running, .unknown: []
        case .stopped: [Finding(.notRunning)]
        case .offTheBus: [Finding(.notOnBus, ["file": "/usr/share/dbus-1/system.d/org.bandferry.conf"])]
        case .silent: [Finding(.daemonSilent, ["reason": facts.daemon.reason])]
        case .notPermitted: [Finding(.busNotPermitted, ["service": "bandferryd", "group": "bandferry"])]
        }
    }

    /// What the daemon knows, or wrote down before it stopped.
    private static func said(_ facts: DoctorFacts, _ words: ConditionWords) -> [Finding] {
        guard let status = facts.daemon.status else { return [] }
        return status.problems.map { Finding($0) }
            + status.bands.flatMap { band in
                band.conditions(words).map { Finding($0, subject: band.name ?? band.address.description) }
            }
    }

    private static func unfinished(_ facts: DoctorFacts) -> [Finding] {
        DoctorCheck.allCases.compactMap { check in
            facts.unfinished[check].map {
                Finding(.checkUnfinished, ["what": check.words, "seconds": String($0.components.seconds)])
            }
        }
            + DoctorCheck.allCases.compactMap { check in
                facts.notPermitted[check].map {
                    Finding(.checkNotPermitted, ["what": check.words, "reason": $0])
                }
            }
    }
}

extension Finding {
    /// There may be several of it, each about something else.
    fileprivate var isListed: Bool {
        [
            Condition.configurationInvalid, .configurationIgnored, .checkUnfinished, .checkNotPermitted,
            .heldByAnotherProgramNow, .slotsUsedUp, .adapterBlocked, .adapterBlockedHard,
        ].contains { $0.code == code }
    }
}
