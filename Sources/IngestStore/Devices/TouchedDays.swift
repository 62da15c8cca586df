import CivilTime
import IngestAPI
import SampleChunks

/// Civil days of a device whose stored trends are older than its samples: for each type, whoever wore it.
struct TouchedDays: Equatable, Sendable {
    /// In order, with holes between them.
    private var ranges: [APISampleType: [ClosedRange<Int>]] = [:]

    init() {}

    var isEmpty: Bool { ranges.isEmpty }
    var types: [APISampleType] { ranges.keys.sorted { $0.code < $1.code } }

    func ranges(_ type: APISampleType) -> [ClosedRange<CivilDate>] {
        (ranges[type] ?? []).map { CivilDate(days: $0.lowerBound)...CivilDate(days: $0.upperBound) }
    }

    mutating func insert(_ type: APISampleType, _ day: CivilDate) {
        // Samples come in order of time: most often the day is the last one's.
        if let last = ranges[type]?.last, last.contains(day.days) { return }
        insert(type, day.days...day.days)
    }

    mutating func formUnion(_ other: Self) {
        for (type, more) in other.ranges { for range in more { insert(type, range) } }
    }

    private mutating func insert(_ type: APISampleType, _ new: ClosedRange<Int>) {
        var known = ranges[type] ?? []
        ranges[type] = nil
        // Those that the new one overlaps or touches; they are neighbours.
        let first = known.place { $0.upperBound >= new.lowerBound - 1 }
        let end = known.place { $0.lowerBound > new.upperBound + 1 }
        var joined = new
        if first < end {
            joined =
                min(new.lowerBound, known[first].lowerBound)...max(new.upperBound, known[end - 1].upperBound)
        }
        known.replaceSubrange(first..<end, with: CollectionOfOne(joined))
        ranges[type] = known
    }

    mutating func subtract(_ type: APISampleType, _ days: ClosedRange<CivilDate>) {
        let (first, last) = (days.lowerBound.days, days.upperBound.days)
        let left = (ranges[type] ?? []).flatMap { range -> [ClosedRange<Int>] in
            guard range.overlaps(first...last) else { return [range] }
            let before = range.lowerBound < first ? [range.lowerBound...first - 1] : []
            return before + (range.upperBound > last ? [last + 1...range.upperBound] : [])
        }
        ranges[type] = left.isEmpty ? nil : left
    }

    /// Without the days up to this one.
    func after(_ day: CivilDate?) -> Self {
        guard let day else { return self }
        var rest = self
        for type in types {
            guard let first = ranges[type]?.first?.lowerBound, first <= day.days else { continue }
            rest.subtract(type, CivilDate(days: first)...day)
        }
        return rest
    }
}

// MARK: text

extension TouchedDays {
    /// Type, first and last day of each range, a space between numbers.
    var text: String {
        types.flatMap { type in
            (ranges[type] ?? []).map { "\(type.code) \($0.lowerBound) \($0.upperBound)" }
        }.joined(separator: " ")
    }

    /// What can't be read is left out: trends of those days are brought up to date when they are touched again.
    init(text: String) {
        var reader = NumberReader(text)
        while !reader.isAtEnd {
            guard let code = reader.int(), let first = reader.int(), let last = reader.int() else { return }
            guard let type = APISampleType(code: code), first <= last else { continue }
            ranges[type, default: []].append(first...last)
        }
    }
}

extension [ClosedRange<Int>] {
    /// Where the first is for which it holds; it holds for all after that.
    fileprivate func place(where holds: (ClosedRange<Int>) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if holds(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
