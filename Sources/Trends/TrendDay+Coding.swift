import CivilTime
import IngestAPI

/// Stored form, version 1: short keys, and nothing that is 0 or empty.
extension TrendDay: Codable {
    /// Rises when what is stored means something else; a reader computes older days again.
    public static let storedVersion = 1

    private enum Key: String, CodingKey {
        case version = "v"
        case type = "t"
        case date = "d"
        case figures = "f"
        case withoutOffset = "u"
        case hours = "h"
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        guard try container.decode(Int.self, forKey: .version) == Self.storedVersion else {
            throw DecodingError.dataCorruptedError(
                forKey: Key.version, in: container, debugDescription: "of another version")
        }
        self.init(
            type: try container.decode(APISampleType.self, forKey: .type),
            date: try container.decode(CivilDate.self, forKey: .date),
            figures: try container.decode(TrendFigures.self, forKey: .figures),
            withoutOffset: try container.decodeIfPresent(Int.self, forKey: .withoutOffset) ?? 0,
            hours: try container.decode([TrendHour].self, forKey: .hours))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(Self.storedVersion, forKey: .version)
        try container.encode(type, forKey: .type)
        try container.encode(date, forKey: .date)
        try container.encode(figures, forKey: .figures)
        try container.encodeUnlessZero(withoutOffset, .withoutOffset)
        try container.encode(hours, forKey: .hours)
    }
}

extension TrendHour: Codable {
    private enum Key: String, CodingKey {
        case hour = "h"
        case offset = "o"
        case first = "a"
        case last = "z"
        case figures = "f"
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        self.init(
            hour: try container.decode(Int.self, forKey: .hour),
            offsetMinutes: try container.decode(Int.self, forKey: .offset),
            first: try container.decode(Int64.self, forKey: .first),
            last: try container.decode(Int64.self, forKey: .last),
            figures: try container.decode(TrendFigures.self, forKey: .figures))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(hour, forKey: .hour)
        try container.encode(offsetMinutes, forKey: .offset)
        try container.encode(first, forKey: .first)
        try container.encode(last, forKey: .last)
        try container.encode(figures, forKey: .figures)
    }
}

extension TrendFigures: Codable {
    private enum Key: String, CodingKey {
        case count = "n"
        case sum = "s"
        case min = "l"
        case max = "m"
        case resting = "r"
        case stages = "g"
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        count = try container.decodeIfPresent(Int.self, forKey: .count) ?? 0
        sum = try container.decodeIfPresent(Int64.self, forKey: .sum) ?? 0
        min = try container.decodeIfPresent(Int.self, forKey: .min)
        max = try container.decodeIfPresent(Int.self, forKey: .max)
        if let pair = try container.decodeIfPresent([Int64].self, forKey: .resting) {
            guard pair.count == 2, let count = Int(exactly: pair[1]), count > 0 else {
                throw DecodingError.dataCorruptedError(
                    forKey: Key.resting, in: container, debugDescription: "not a sum and a count")
            }
            resting = RestingWindow(sum: pair[0], count: count)
        }
        let times = try container.decodeIfPresent([Int64].self, forKey: .stages) ?? []
        for (stage, time) in zip(SleepStage.allCases, times) { stages[stage] = time }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encodeUnlessZero(count, .count)
        try container.encodeUnlessZero(sum, .sum)
        try container.encodeIfPresent(min, forKey: .min)
        try container.encodeIfPresent(max, forKey: .max)
        try container.encodeIfPresent(resting.map { [$0.sum, Int64($0.count)] }, forKey: .resting)
        if !stages.isZero { try container.encode(SleepStage.allCases.map { stages[$0] }, forKey: .stages) }
    }
}

extension KeyedEncodingContainer {
    fileprivate mutating func encodeUnlessZero(_ value: some BinaryInteger & Encodable, _ key: Key) throws {
        if value != 0 { try encode(value, forKey: key) }
    }
}
