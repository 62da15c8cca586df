import IngestAPI

extension TrendDay {
    /// One person's day from that of each band that the person wore, by device id. Nil when there is none.
    ///
    /// The days are of the same type and date.
    public static func merged(_ days: [String: TrendDay]) -> TrendDay? {
        let days = days.sorted { $0.key < $1.key }.map(\.value)
        guard var result = days.first else { return nil }
        result.withoutOffset = days.reduce(0) { $0 + $1.withoutOffset }
        result.hours = mergedHours(days)
        switch result.type {
        case .heartRate, .spo2: result.figures = .sum(days.map(\.figures))
        case .steps: result.figures = .sum(result.hours.map(\.figures))
        case .sleepStage: result.figures = .longestSleep(days.map(\.figures))
        }
        return result
    }

    /// The days are in order of their device ids.
    private static func mergedHours(_ days: [TrendDay]) -> [TrendHour] {
        var groups: [HourKey: [TrendHour]] = [:]
        for day in days {
            for hour in day.hours { groups[hour.key, default: []].append(hour) }
        }
        return groups.sorted { $0.key < $1.key }.map { key, hours in
            let figures = hours.map(\.figures)
            let type = days[0].type
            return TrendHour(
                hour: key.hour, offsetMinutes: key.offsetMinutes,
                first: hours.reduce(.max) { min($0, $1.first) },
                last: hours.reduce(.min) { max($0, $1.last) },
                figures: type == .steps
                    ? .mostSteps(figures) : type == .sleepStage ? .longestSleep(figures) : .sum(figures))
        }
    }
}

extension TrendFigures {
    /// Bands measure the same heart side by side: all of it counts.
    fileprivate static func sum(_ all: [TrendFigures]) -> TrendFigures {
        all.reduce(into: TrendFigures()) { result, next in
            result.count += next.count
            result.sum += next.sum
            result.min = [result.min, next.min].compactMap { $0 }.min()
            result.max = [result.max, next.max].compactMap { $0 }.max()
            result.resting = RestingWindow.lower(result.resting, next.resting)
        }
    }

    /// Two bands count the same steps: the one that saw more of them is believed; the first of equals.
    fileprivate static func mostSteps(_ all: [TrendFigures]) -> TrendFigures {
        all.reduce(into: TrendFigures()) { if $0.isEmpty || $1.sum > $0.sum { $0 = $1 } }
    }

    /// Likewise for the night.
    fileprivate static func longestSleep(_ all: [TrendFigures]) -> TrendFigures {
        all.reduce(into: TrendFigures()) { if $0.isEmpty || $1.stages.asleep > $0.stages.asleep { $0 = $1 } }
    }
}
