import GatewayModel

/// How `bandferry upload now`, `pause`, `resume` and `retry` ended.
public enum UploadReportText {
    public static func rendered(_ report: UploadReport, waited: Int, terminal: Terminal) -> String {
        if waited == 0, report.problem == nil {
            return "The upload begins. 'bandferry upload status' shows how it goes.\n"
        }
        var sentences = [waited == 0 ? "The upload does not begin." : went(report)]
        if waited > 0, report.isCut {
            sentences.append(
                "\(counted(report.left, "sample")) \(report.left == 1 ? "is" : "are") still to go after "
                    + "\(TimeText.span(Int64(waited))): the upload goes on by itself.")
        } else if report.problem == nil, report.left > 0 {
            sentences.append(
                "\(counted(report.left, "sample")) \(report.left == 1 ? "is" : "are") kept back: "
                    + "'bandferry upload status' says why.")
        } else if report.left > 0 {
            sentences.append(
                "\(counted(report.left, "sample")) \(report.left == 1 ? "is" : "are") still here.")
        } else if report.problem == nil {
            sentences.append("Nothing is left.")
        }
        let text = wrapped(sentences.joined(separator: " "), width: terminal.width, indent: "")
        guard let problem = report.problem else { return text + "\n" }
        let note = Note(text: printable(problem.text), remedy: printable(problem.remedy))
        return text + "\n" + note.rendered(subject: nil, for: terminal) + "\n"
    }

    private static func went(_ report: UploadReport) -> String {
        report.sent == 0 ? "Nothing went up." : "\(counted(report.sent, "sample")) went up."
    }

    public static func exitCode(_ report: UploadReport, waited: Int) -> ExitCode {
        report.problem == nil && (waited == 0 || !report.isCut) ? .success : .failed
    }

    public static func paused(_ pause: UploadPause, times: LocalTimes) -> String {
        let end =
            pause.until.map { "until \(times.moment($0)), or until" } ?? "until"
        return "The upload is paused \(end) 'bandferry upload resume'. Bands go on being synced."
    }

    public static func retried(_ count: Int) -> String {
        count == 0
            ? "The server has refused nothing that is kept here."
            : "\(counted(count, "sample")) that the server refused \(count == 1 ? "goes" : "go") up again. "
                + "'bandferry upload status' shows what becomes of them."
    }

    // MARK: JSON

    public static func json(_ report: UploadReport) -> JSONText {
        .object([
            ("sent", .number(report.sent)), ("left", .number(report.left)),
            ("timed_out", .bool(report.isCut)), ("problem", .optional(report.problem, StatusText.json)),
            ("waits_until", StatusText.time(report.waitsUntil)),
        ])
    }

    public static func json(retried count: Int) -> JSONText { .object([("samples", .number(count))]) }
}
