import IngestAPI

/// Keys of samples whose content has expired: a sample of such a key that comes again is not new.
public struct ExpiredKeys: Equatable, Sendable {
    /// For each type ranges of seqs, in order, with holes between them.
    private var ranges: [APISampleType: [ClosedRange<UInt32>]] = [:]

    public init() {}

    public init(of samples: [APISample]) {
        for (type, samples) in Dictionary(grouping: samples, by: \.type) {
            ranges[type] = Self.joined(samples.map { $0.seq...$0.seq })
        }
    }

    public var isEmpty: Bool { ranges.isEmpty }

    public var count: Int { ranges.values.joined().reduce(0) { $0 + Int($1.upperBound - $1.lowerBound) + 1 } }

    /// From the first to the last seq of any type.
    public var span: ClosedRange<UInt32>? {
        let first = ranges.values.compactMap(\.first?.lowerBound).min()
        let last = ranges.values.compactMap(\.last?.upperBound).max()
        guard let first, let last else { return nil }
        return first...last
    }

    public func contains(_ type: APISampleType, _ seq: UInt32) -> Bool {
        guard let ranges = ranges[type] else { return false }
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < seq { low = middle + 1 } else { high = middle }
        }
        return low < ranges.count && ranges[low].contains(seq)
    }

    public mutating func formUnion(_ other: Self) {
        for (type, more) in other.ranges { ranges[type] = Self.joined((ranges[type] ?? []) + more) }
    }

    private static func joined(_ ranges: [ClosedRange<UInt32>]) -> [ClosedRange<UInt32>] {
        var result: [ClosedRange<UInt32>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = result.last, UInt64(last.upperBound) + 1 >= UInt64(range.lowerBound) {
                result[result.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
            } else {
                result.append(range)
            }
        }
        return result
    }
}

// MARK: bytes

extension ExpiredKeys {
    private static let version: UInt8 = 1

    public var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 256)
        writer.byte(Self.version)
        writer.varint(UInt64(ranges.count))
        for (type, ranges) in ranges.sorted(by: { $0.key.code < $1.key.code }) {
            writer.varint(UInt64(type.code))
            writer.varint(UInt64(ranges.count))
            var end: UInt64 = 0
            for range in ranges {
                writer.varint(UInt64(range.lowerBound) - end)
                writer.varint(UInt64(range.upperBound - range.lowerBound))
                end = UInt64(range.upperBound)
            }
        }
        return writer.bytes
    }

    public init(bytes: [UInt8]) throws(DamagedChunk) {
        let result = bytes.withUnsafeBufferPointer { buffer in
            Result { () throws(DamagedChunk) in try Self.ranges(ByteReader(buffer), atMost: bytes.count) }
        }
        ranges = try result.get()
    }

    private static func ranges(
        _ whole: ByteReader, atMost limit: Int
    ) throws(DamagedChunk) -> [APISampleType: [ClosedRange<UInt32>]] {
        var reader = whole
        var ranges: [APISampleType: [ClosedRange<UInt32>]] = [:]
        guard try reader.byte() == version else { throw DamagedChunk() }
        for _ in 0..<(try reader.count(atMost: APISampleType.allCases.count)) {
            guard let type = APISampleType(code: try reader.count(atMost: 255)) else { throw DamagedChunk() }
            var end: UInt64 = 0
            for _ in 0..<(try reader.count(atMost: limit)) {
                let (first, length) = (end &+ (try reader.varint()), try reader.varint())
                end = first &+ length
                guard let lower = UInt32(exactly: first), let upper = UInt32(exactly: end), lower <= upper
                else { throw DamagedChunk() }
                ranges[type, default: []].append(lower...upper)
            }
        }
        guard reader.isAtEnd else { throw DamagedChunk() }
        return ranges
    }
}
