import CivilTime
import IngestAPI

/// `bandferry trends`: what one type came to, by day or by hour, of one person or band.
public struct TrendsText {
    private let title: String
    private let list: AggregateList
    private let figures: TrendFigureText
    /// When those buckets begin that have data, ms, by the whole hour in which that is.
    private let begins: [Int64: [Int64]]

    /// `title` says whose.
    public init(title: String, list: AggregateList) {
        self.title = title
        self.list = list
        let figures = TrendFigureText(list.type)
        self.figures = figures
        begins = Dictionary(
            grouping: list.buckets.filter(figures.hasData).map(\.start.milliseconds), by: Self.wholeHour)
    }

    public func rendered(for terminal: Terminal) -> String {
        let head = wrapped(
            "\(printable(title)): \(figures.name)", width: terminal.width, indent: ""
        ).split(separator: "\n").map { terminal.bold(String($0)) }.joined(separator: "\n")
        guard list.buckets.contains(where: figures.hasData) else {
            return head + "\n" + wrapped(nothing, width: terminal.width, indent: "") + "\n"
        }
        let body =
            switch list.bucket {
            case .day: [overview(list.buckets, for: terminal), dayTable.rendered(for: terminal)]
            case .hour: [hourOverview(for: terminal), hourTable.rendered(for: terminal)]
            }
        return ([head] + body).joined(separator: "\n") + "\n"
    }

    private var nothing: String {
        guard let first = list.buckets.first?.localDate, let last = list.buckets.last?.localDate else {
            return "No days."
        }
        return first == last ? "Nothing on \(first)." : "Nothing from \(first) to \(last)."
    }

    // MARK: sparklines

    private var sparkline: Sparkline {
        Sparkline(of: list.buckets.map(figures.height), fromZero: figures.addsUp)
    }

    /// One block a day.
    private func overview(_ buckets: [AggregateBucket], for terminal: Terminal) -> String {
        let blocks = Array(sparkline.text(buckets.map(figures.height)))
        return stride(from: 0, to: blocks.count, by: terminal.width).map {
            String(blocks[$0..<min($0 + terminal.width, blocks.count)])
        }.joined(separator: "\n")
    }

    /// A line a day, one block an hour.
    private func hourOverview(for terminal: Terminal) -> String {
        days.map { date, hours in
            // A day with a flight may have more than 24.
            let room = max(1, terminal.width - 12)
            let blocks = Array(sparkline.text(hours.map(figures.height)))
            let lines = stride(from: 0, to: blocks.count, by: room).map { start in
                let label = start == 0 ? "\(date)  " : String(repeating: " ", count: 12)
                return label + String(blocks[start..<min(start + room, blocks.count)])
            }
            return lines.joined(separator: "\n")
        }.joined(separator: "\n")
    }

    /// Buckets come in order, so those of a day are together.
    private var days: [(CivilDate, [AggregateBucket])] {
        var days: [(CivilDate, [AggregateBucket])] = []
        for bucket in list.buckets where !isCovered(bucket) {
            if days.last?.0 == bucket.localDate {
                days[days.count - 1].1.append(bucket)
            } else {
                days.append((bucket.localDate, [bucket]))
            }
        }
        return days
    }

    /// An hour without data that an hour with data reaches into: where the samples' own offset differs from the zone's by
    /// a part of an hour, both grids are there, and the empty one would show a hole that is none.
    private func isCovered(_ bucket: AggregateBucket) -> Bool {
        guard !figures.hasData(bucket) else { return false }
        let start = bucket.start.milliseconds
        let hour = Self.wholeHour(start)
        return (hour - 1...hour + 1).contains { near in
            begins[near, default: []].contains { abs($0 - start) < Self.hour }
        }
    }

    private static let hour: Int64 = 3_600_000

    private static func wholeHour(_ time: Int64) -> Int64 { time / hour }

    // MARK: tables

    private var dayTable: TextTable {
        // How long a day is says something only where it is not as always.
        let showsLength = list.buckets.contains { $0.minutesInDay != 1440 }
        let length: [TextTable.Column] = showsLength ? [.init("LENGTH", right: true)] : []
        var table = TextTable([.init("DATE")] + length + figures.columns)
        for bucket in list.buckets {
            let length = showsLength ? [TrendFigureText.hours(Tenths(tenths: bucket.minutesInDay * 10))] : []
            table.add([bucket.localDate.description] + length + figures.cells(bucket))
        }
        return table
    }

    /// Hours without data are left out: the lines above show where they are.
    private var hourTable: TextTable {
        let showsOffset = Set(list.buckets.map(\.offsetMinutes)).count > 1
        var table = TextTable([.init("HOUR")] + figures.columns)
        for bucket in list.buckets where figures.hasData(bucket) {
            let hour = bucket.localHour ?? 0
            let offset = showsOffset ? " \(Self.offset(bucket.offsetMinutes))" : ""
            table.add(
                ["\(bucket.localDate) \(hour < 10 ? "0" : "")\(hour):00\(offset)"] + figures.cells(bucket))
        }
        return table
    }

    /// `+05:30`.
    private static func offset(_ minutes: Int) -> String {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(minutes < 0 ? "-" : "+")\(two(abs(minutes) / 60)):\(two(abs(minutes) % 60))"
    }
}
