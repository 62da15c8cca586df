import BandProfile
import CivilTime
import GatewayModel

/// `bandferry reconcile`: where the server and what is here differ, and what is done about it.
public struct ReconcileText {
    private let reports: [ReconcileReport]
    private let bands: [BandStatus]
    private let now: Timestamp

    public init(_ reports: [ReconcileReport], bands: [BandStatus], now: Timestamp) {
        self.reports = reports
        self.bands = bands
        self.now = now
    }

    public func rendered(for terminal: Terminal) -> String {
        guard !reports.isEmpty else {
            return "No bands yet: there is nothing to compare.\n"
        }
        return reports.map { rendered($0, for: terminal) }.joined(separator: "\n\n") + "\n"
    }

    private func rendered(_ report: ReconcileReport, for terminal: Terminal) -> String {
        let prose = terminal.forProse
        var lines = [wrapped("\(title(report)): \(summary(report))", width: prose.width, indent: "")]
        lines += report.differences.map {
            "  - " + wrapped(sentence($0), width: prose.width, indent: "    ").dropFirst(4)
        }
        let named = Set(report.differences.map(\.day)).count
        if named < report.differingDays {
            lines.append("  - ... and \(counted(report.differingDays - named, "more day")) like that.")
        }
        lines += ending(report).map { wrapped($0, width: prose.width, indent: "") }
        if let problem = report.problem {
            lines.append(Note(problem, now: now).rendered(subject: nil, for: prose))
        }
        return lines.joined(separator: "\n")
    }

    private func title(_ report: ReconcileReport) -> String {
        guard let band = bands.first(where: { $0.device == report.device }) else { return report.device.text }
        return printable(band.name.map { "\(band.address) (\($0))" } ?? band.address.description)
    }

    private func summary(_ report: ReconcileReport) -> String {
        if report.problem != nil, report.days == 0 { return "could not be compared." }
        let end = report.problem == nil ? "compared" : "were to be compared, and it ended before"
        let days = "\(counted(report.days, "day")) \(end)"
        if report.differingDays == 0 { return report.problem == nil ? "\(days), no difference." : "\(days)." }
        return
            "\(days), \(report.differingDays == 1 ? "1 differs" : "\(grouped(report.differingDays)) differ")."
    }

    // MARK: differences

    private func sentence(_ day: DayDifference) -> String {
        var parts: [String] = []
        if day.missing > 0 {
            let which = day.isUnclear ? "" : " (\(records(day)))"
            let doubt =
                day.isUnclear ? "; which of them are there can't be told, so all of them count" : ""
            parts.append("\(grouped(day.missing)) missing there\(which)\(doubt)")
        }
        if day.onlyThere > 0 { parts.append("\(grouped(day.onlyThere)) only there") }
        if day.elsewhere > 0 {
            parts.append("\(grouped(day.elsewhere)) there on another day, as their times were corrected")
        }
        return "\(Self.date(day.day)) (UTC), \(Self.name(day.type)): \(grouped(day.here)) here, "
            + "\(grouped(day.there)) there: \(parts.joined(separator: ", "))."
    }

    private func records(_ day: DayDifference) -> String {
        let shown = day.missingSeqs.prefix(3).map { range in
            range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
        }
        let more = day.missingSeqs.count > 3 ? " and more" : ""
        return "records \(shown.joined(separator: ", "))\(more) of ring \(day.ring)"
    }

    private func ending(_ report: ReconcileReport) -> [String] {
        var lines: [String] = []
        if report.missing > 0 {
            let samples = counted(report.missing, "sample")
            lines.append(
                report.isMarked
                    ? "\(samples) that the server lacks \(report.missing == 1 ? "goes" : "go") up again."
                    : "\(samples) would go up again; run it without --dry-run for that.")
        }
        if report.onlyThere > 0 {
            lines.append(
                "\(counted(report.onlyThere, "sample")) \(report.onlyThere == 1 ? "is" : "are") only at the server: another "
                    + "gateway's, or from before this database. Nothing needs to be done.")
        }
        if let days = report.expiredDays {
            lines.append(
                "\(counted(report.expired, "sample")) of \(Self.date(days.lowerBound)) to \(Self.date(days.upperBound)) "
                    + "have expired there: the server counts them and let them go. That is no difference.")
        }
        if report.waiting > 0 {
            lines.append(
                "\(counted(report.waiting, "sample")) \(report.waiting == 1 ? "is" : "are") still to go up.")
        }
        if report.kept > 0 {
            lines.append(
                "\(counted(report.kept, "sample")) \(report.kept == 1 ? "is" : "are") kept here: 'bandferry upload status' says why."
            )
        }
        return lines
    }

    // MARK: words

    private static func date(_ day: Int64) -> String { CivilDate(days: Int(clamping: day)).description }

    private static func name(_ type: SampleType) -> String {
        switch type {
        case .heartRate: "heart rate"
        case .steps: "steps"
        case .spo2: "oxygen saturation"
        case .sleepStage: "sleep stages"
        }
    }

    /// 1 when a comparison did not come to its end.
    public static func exitCode(_ reports: [ReconcileReport]) -> ExitCode {
        reports.contains { $0.problem != nil } ? .failed : .success
    }

    /// `F0:F1:F2:F3:F4:F5: day 12 of 31`.
    public static func progress(_ progress: ReconcileProgress) -> String {
        progress.total == 0
            ? "\(progress.device): asking the server"
            : "\(progress.device): day \(progress.done) of \(progress.total)"
    }

    // MARK: JSON

    public var json: JSONText { .array(reports.map(Self.json)) }

    private static func json(_ report: ReconcileReport) -> JSONText {
        .object([
            ("device_id", .string(report.device.text)), ("days", .number(report.days)),
            ("differing_days", .number(report.differingDays)), ("missing", .number(report.missing)),
            ("marked", .bool(report.isMarked)), ("only_there", .number(report.onlyThere)),
            ("expired", .number(report.expired)),
            ("expired_from", .optional(report.expiredDays) { .string(date($0.lowerBound)) }),
            ("expired_to", .optional(report.expiredDays) { .string(date($0.upperBound)) }),
            ("waiting", .number(report.waiting)), ("kept", .number(report.kept)),
            ("differences", .array(report.differences.map(json))),
            ("problem", .optional(report.problem, StatusText.json)),
        ])
    }

    private static func json(_ day: DayDifference) -> JSONText {
        .object([
            ("day", .string(date(day.day))), ("ring", .string(day.ring.description)),
            ("type", .string(day.type.name)), ("here", .number(day.here)), ("there", .number(day.there)),
            ("missing", .number(day.missing)), ("missing_seqs", UploadText.ranges(day.missingSeqs)),
            ("only_there", .number(day.onlyThere)), ("elsewhere", .number(day.elsewhere)),
            ("unclear", .bool(day.isUnclear)),
        ])
    }
}
