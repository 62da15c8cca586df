import GatewayModel

/// `bandferry upload status`.
public enum UploadText {
    public static func rendered(_ status: UploadStatus, times: LocalTimes, terminal: Terminal, now: Timestamp)
        -> String
    {
        var parts = [
            [head(status, terminal: terminal)] + facts(status, times: times, now: now).map { "  " + $0 }
        ].map { $0.joined(separator: "\n") }
        let waiting = status.bands.filter { $0.pending > 0 }
        if !waiting.isEmpty { parts.append(bandTable(waiting).rendered(for: terminal)) }
        let kept = status.bands.flatMap { band in band.kept.map { (band, $0) } }
        if !kept.isEmpty { parts.append(keptTable(kept, times: times).rendered(for: terminal)) }
        let notes = notes(status, now: now).map { $0.rendered(subject: nil, for: terminal.forProse) }
        if !notes.isEmpty { parts.append(notes.joined(separator: "\n")) }
        return parts.joined(separator: "\n\n") + "\n"
    }

    private static func head(_ status: UploadStatus, terminal: Terminal) -> String {
        guard let url = status.url else { return "No server is configured: samples are kept here only." }
        return "\(terminal.bold("Upload")) to \(printable(url)): \(state(status))"
    }

    private static func state(_ status: UploadStatus) -> String {
        switch status.state {
        case .off: "off"
        case .sending: "sending"
        case .waiting: status.problem == nil ? "waiting for something to send" : "waiting"
        case .paused: "paused"
        case .stopped: "bandferryd is not running"
        }
    }

    private static func facts(_ status: UploadStatus, times: LocalTimes, now: Timestamp) -> [String] {
        let flying = status.inFlight > 0 ? ", \(grouped(status.inFlight)) of them in flight" : ""
        var facts = [("pending", counted(status.pending, "sample") + flying)]
        if let pause = status.pause {
            let end = pause.until.map { "until \(times.moment($0))" } ?? "until 'bandferry upload resume'"
            facts.append(("paused", "\(TimeText.ago(pause.since, now: now)), \(end)"))
        }
        if let until = status.waitsUntil, until > now, status.state != .paused {
            facts.append(("next try", "\(TimeText.ago(until, now: now)), at \(times.moment(until))"))
        }
        if let metered = status.metered { facts.append(("history", UploadWords.rest(metered))) }
        facts.append(("last success", TimeText.ago(status.lastSuccess, now: now)))
        if let code = status.lastErrorCode {
            let isOver = status.problem == nil && status.state != .stopped ? "; it is over" : ""
            facts.append(
                ("last error", "\(printable(code)), \(TimeText.ago(status.lastErrorAt, now: now))\(isOver)"))
        }
        let width = facts.map(\.0.count).max() ?? 0
        return facts.map { $0 + String(repeating: " ", count: width - $0.count + 2) + $1 }
    }

    // MARK: tables

    private static func bandTable(_ bands: [UploadBand]) -> TextTable {
        var table = TextTable([.init("BAND"), .init("PENDING", right: true)])
        for band in bands { table.add([title(band), grouped(band.pending)]) }
        return table
    }

    private static func keptTable(_ kept: [(UploadBand, KeptSamples)], times: LocalTimes) -> TextTable {
        var table = TextTable([
            .init("BAND"), .init("KEPT HERE"), .init("CODE"), .init("SAMPLES", right: true), .init("RECORDS"),
            .init("RECORDED"),
        ])
        for (band, samples) in kept {
            table.add([
                title(band), UploadWords.reason(samples.reason), samples.code, grouped(samples.count),
                records(samples), time(samples, times: times),
            ])
        }
        return table
    }

    private static func title(_ band: UploadBand) -> String {
        band.name.map { "\(band.address) (\($0))" } ?? band.address.description
    }

    /// `3 to 4, 9 of ring b5e5d00d`.
    private static func records(_ samples: KeptSamples) -> String {
        let shown = samples.ranges.prefix(3).map { range in
            range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
        }
        let more = samples.ranges.count > 3 ? " and more" : ""
        return shown.joined(separator: ", ") + more + " of ring \(samples.ring)"
    }

    private static func time(_ samples: KeptSamples, times: LocalTimes) -> String {
        guard let from = samples.from, let to = samples.to else { return "not known" }
        return from == to ? times.moment(from) : times.span(from, to)
    }

    // MARK: what to do

    private static func notes(_ status: UploadStatus, now: Timestamp) -> [Note] {
        var notes: [Note] = []
        if status.state == .stopped {
            notes.append(
                Note(
                    text: "bandferryd is not running: nothing goes up.",
                    remedy: "systemctl start bandferryd; journalctl -u bandferryd says why it ended."))
            if let code = status.lastErrorCode, let advice = UploadWords.advice(code) {
                notes.append(Note(text: "Its last failure was \(printable(code)).", remedy: advice))
            }
        }
        if let pause = status.pause { notes.append(Note(pause.problem, now: now)) }
        if let problem = status.problem { notes.append(Note(problem, now: now)) }
        let reasons = Set(status.bands.flatMap(\.kept).map(\.reason))
        notes += KeptSamples.Reason.allCases.filter(reasons.contains).map { reason in
            Note(text: UploadWords.sentence(reason), remedy: UploadWords.remedy(reason))
        }
        return notes
    }
}
