import GatewayModel

/// `bandferry replace`: the server's bands, and what came of taking some over.
public enum ReplaceText {
    public static func rendered(_ bands: [ServerBand], now: Timestamp, terminal: Terminal) -> String {
        guard !bands.isEmpty else {
            return "The server knows no band of this account.\n"
        }
        var table = TextTable([
            .init("DEVICE ID"), .init("ADDRESS"), .init("LAST CONTACT"), .init("NEWEST RECORD"),
            .init("SAMPLES", right: true), .init("HERE"), .init("OWNED BY"),
        ])
        for band in bands {
            table.add([
                band.device.text, band.address?.description ?? "?", TimeText.ago(band.lastContact, now: now),
                TimeText.ago(band.lastRecordedAt, now: now), grouped(band.samples),
                band.mode?.rawValue ?? "no", owner(band.lease),
            ])
        }
        return table.rendered(for: terminal) + "\n\n"
            + wrapped(
                "'bandferry replace DEVICE-ID' takes a band over from a gateway that is gone, 'bandferry replace --all' every "
                    + "band that is not owned here; --dry-run only looks.",
                width: terminal.forProse.width, indent: "") + "\n"
    }

    private static func owner(_ lease: BandLease?) -> String {
        guard let lease else { return "nobody" }
        if lease == .notKept { return "nobody" }
        return lease.isOurs ? "this gateway" : "\(lease.holder) until \(TimeText.short(lease.until))"
    }

    // MARK: what came of it

    public static func rendered(_ reports: [ReplaceReport], times: LocalTimes, terminal: Terminal) -> String {
        guard !reports.isEmpty else { return "Every band that the server knows is owned here already.\n" }
        return reports.map { rendered($0, times: times, terminal: terminal.forProse) }.joined(
            separator: "\n\n") + "\n"
    }

    private static func rendered(
        _ report: ReplaceReport, times: LocalTimes, terminal: Terminal
    ) -> String {
        let title = report.address.map { "\(report.device) (\($0))" } ?? report.device.text
        var lines = ["\(terminal.bold(title)): \(outcome(report.outcome))"]
        if report.outcome != .refused {
            for line in account(report, times: times) {
                lines.append("  - " + wrapped(line, width: terminal.width, indent: "    ").dropFirst(4))
            }
        }
        if let problem = report.problem {
            let note = Note(text: printable(problem.text), remedy: printable(problem.remedy))
            lines.append(note.rendered(subject: nil, for: terminal))
        }
        return lines.joined(separator: "\n")
    }

    private static func outcome(_ outcome: ReplaceReport.Outcome) -> String {
        switch outcome {
        case .takenOver: "taken over"
        case .refreshed: "owned here already; what the server knows was taken in"
        case .wouldTakeOver: "would be taken over"
        case .refused: "not taken over"
        }
    }

    private static func account(_ report: ReplaceReport, times: LocalTimes) -> [String] {
        var lines = report.rings.map { ring in
            ring.completeThrough.map {
                "Ring \(ring.ring): the server has all records up to \(grouped($0)); here it goes on at \(grouped(ring.nextSeq))."
            }
                ?? "Ring \(ring.ring): nobody told the server up to where it is complete; here it is read from record "
                + "\(grouped(ring.nextSeq)) on, and what is there already counts once."
        }
        if report.rings.isEmpty {
            lines.append("The server has no records of it; all that it holds is read.")
        }
        if report.gaps > 0 {
            lines.append(
                "\(counted(report.gaps, "gap")) \(report.gaps == 1 ? "is" : "are") known already and not reported anew."
            )
        }
        if report.maxVersion > 1 { lines.append("Corrections start above version \(report.maxVersion).") }
        if report.persons > 0 {
            lines.append(
                "\(counted(report.persons, "person")) came with it: 'bandferry person list' shows who.")
        }
        if let wearer = report.wearer {
            let time = times.stamp(wearer.until)
            lines.append(
                "\(printable(wearer.name)) wore it until \(times.moment(wearer.until)), says the server. Who wears it since is "
                    + "not known here. If it is the same person: bandferry assign \(report.device) "
                    + "\(printable(quoted(wearer.name))) --from \(time)")
        }
        lines.append(lease(report, times: times))
        return lines
    }

    private static func lease(_ report: ReplaceReport, times: LocalTimes) -> String {
        let notKept = "The server keeps no account of who owns bands: see that the other gateway stays off."
        guard let lease = report.lease else {
            return report.outcome == .wouldTakeOver ? "No gateway holds it." : notKept
        }
        if lease == .notKept { return notKept }
        if lease.isOurs {
            return "This gateway owns it now. Should the other one come back, it only observes."
        }
        return
            "Another gateway (\(printable(lease.holder))) still holds it until \(times.moment(lease.until)): until then it is "
            + "stored and uploaded here, and not acknowledged. If that gateway is at work, switch it off."
    }

    /// As a shell takes it.
    private static func quoted(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) || (0x61...0x7a).contains($0)
                || $0 == 0x5f || $0 == 0x2d || $0 >= 0x80
        }
        if isPlain { return text }
        return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
            + "'"
    }

    /// Of the first band that could not be taken over.
    public static func exitCode(_ reports: [ReplaceReport]) -> ExitCode {
        guard let refused = reports.first(where: { $0.outcome == .refused }) else { return .success }
        switch refused.problem?.code {
        case "lease_held", "address_taken": return .taken
        case "in_configuration": return .inConfiguration
        case "address_unknown": return .usage
        default: return .failed
        }
    }

    // MARK: JSON

    public static func json(_ bands: [ServerBand]) -> JSONText {
        .array(
            bands.map { band in
                .object([
                    ("device_id", .string(band.device.text)),
                    ("address", .optional(band.address) { .string($0.description) }),
                    ("last_contact", StatusText.time(band.lastContact)),
                    ("last_recorded_at", StatusText.time(band.lastRecordedAt)),
                    ("samples", .number(band.samples)),
                    ("mode", .optional(band.mode) { .string($0.rawValue) }),
                    ("lease", .optional(band.lease, StatusText.json)),
                ])
            })
    }

    public static func json(_ reports: [ReplaceReport]) -> JSONText { .array(reports.map(json)) }

    private static func json(_ report: ReplaceReport) -> JSONText {
        .object([
            ("device_id", .string(report.device.text)),
            ("address", .optional(report.address) { .string($0.description) }),
            ("outcome", .string(report.outcome.rawValue)),
            (
                "rings",
                .array(
                    report.rings.map { ring in
                        .object([
                            ("ring", .string(ring.ring.description)),
                            ("complete_through", .optional(ring.completeThrough) { .number($0) }),
                            ("next_seq", .number(ring.nextSeq)),
                        ])
                    })
            ),
            ("max_version", .number(report.maxVersion)), ("gaps", .number(report.gaps)),
            ("persons", .number(report.persons)),
            (
                "wearer",
                .optional(report.wearer) { wearer in
                    .object([
                        ("person", .string(wearer.person.text)), ("name", .string(wearer.name)),
                        ("until", StatusText.time(wearer.until)),
                    ])
                }
            ),
            ("lease", .optional(report.lease, StatusText.json)),
            ("problem", .optional(report.problem, StatusText.json)),
        ])
    }
}
