import GatewayModel

/// One gap as sentences.
struct GapSentence {
    let gap: Gap
    let times: LocalTimes

    /// `No data from 3 Oct 14:05 to 9 Oct 08:12 +02:00 (5 days 18 h).`
    var period: String {
        switch (gap.after, gap.before) {
        case (let after?, let before?) where after < before:
            let length = Self.length((before.milliseconds - after.milliseconds) / 1000)
            return "No data from \(times.span(after, before)) (\(length))."
        case (_?, let before?):
            // The neighbours were timed by two clocks that do not agree.
            return "Data is missing at about \(times.moment(before)); for how long is not known."
        case (let after?, nil): return "No data after \(times.moment(after)); until when is not known."
        case (nil, let before?): return "No data before \(times.moment(before)); since when is not known."
        case (nil, nil): return "Data is missing; when it was measured is not known."
        }
    }

    /// `4 records, 17 to 20 of ring b5e5d00d.`
    var records: String {
        guard let last = gap.lastSeq else {
            return "Records from \(gap.firstSeq) on of ring \(gap.ring); how many is not known."
        }
        guard last > gap.firstSeq else { return "1 record, number \(gap.firstSeq) of ring \(gap.ring)." }
        return "\(count) records, \(gap.firstSeq) to \(last) of ring \(gap.ring)."
    }

    /// One line of the list of those that have healed.
    var healing: String {
        let period =
            switch (gap.after, gap.before) {
            case (let after?, let before?) where after < before: times.span(after, before)
            case (_, let before?): "before \(times.moment(before))"
            case (let after?, nil): "after \(times.moment(after))"
            case (nil, nil): "time not known"
            }
        let amount =
            gap.lastSeq == gap.firstSeq ? "1 record" : gap.lastSeq == nil ? "records" : "\(count) records"
        let came = gap.healedAt.map { ", back since \(times.moment($0))" } ?? ""
        return "\(period): \(amount) from \(gap.firstSeq) on\(came)"
    }

    private var count: String {
        guard let last = gap.lastSeq, last >= gap.firstSeq else { return "?" }
        return grouped(UInt64(last - gap.firstSeq) + 1)
    }

    /// The two largest units: `5 days 18 h`, `3 h 12 min`, `45 min`.
    static func length(_ seconds: Int64) -> String {
        let days = seconds / 86_400
        let hours = seconds / 3600 % 24
        let minutes = seconds / 60 % 60
        let parts = [
            days > 0 ? counted(Int(days), "day") : nil, hours > 0 ? "\(hours) h" : nil,
            days == 0 && minutes > 0 ? "\(minutes) min" : nil,
        ].compactMap { $0 }
        return parts.isEmpty ? "less than a minute" : parts.joined(separator: " ")
    }
}
