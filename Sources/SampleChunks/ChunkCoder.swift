import IngestAPI

/// Samples of one device and ring as one value of a database: field by field, in the order of (type, seq).
///
/// A band's records are regular, so most fields are a few bytes for the whole chunk. A sample comes to 2 to 5 bytes.
public enum ChunkCoder {
    /// Rises when the same bytes mean something else.
    private static let version: UInt8 = 1
    /// More than any chunk has: what a damaged count may make this reserve.
    private static let mostSamples = 1 << 16

    /// The samples in any order, each key once; `person` is assigned or cleared in all of them.
    public static func encode(_ samples: [APISample]) -> [UInt8] {
        let samples = samples.sorted { $0.chunkKey < $1.chunkKey }
        var persons = PersonList()
        let indexes = samples.map { persons.index(of: $0.person) }
        var writer = ByteWriter(capacity: samples.count * 6 + 64)
        writer.byte(version)
        writer.varint(UInt64(samples.count))
        writer.varint(UInt64(persons.names.count))
        for name in persons.names { writer.text(name.text) }
        func column(_ field: (APISample) -> Int64) { ColumnCoder.write(samples.map(field), to: &writer) }
        column { Int64($0.type.code) }
        column { Int64($0.seq) }
        column { Int64($0.value) }
        column { $0.bandTimeMilliseconds }
        column { Int64($0.clockID) }
        column { Int64($0.flags) }
        column { Int64($0.provenance.code) }
        column { Int64($0.version) }
        // Both clocks go on at nearly the same speed.
        column { $0.recordedAt.milliseconds &- $0.bandTimeMilliseconds }
        column { $0.tzOffsetMinutes.map(Int64.init) ?? Int64(noOffset) }
        column { $0.timeBoundMilliseconds.map(Int64.init) ?? -1 }
        column { $0.timeUncertain ? 1 : 0 }
        ColumnCoder.write(indexes, to: &writer)
        return writer.bytes
    }

    /// In the order of (type, seq).
    public static func decode(_ bytes: [UInt8]) throws(DamagedChunk) -> [APISample] {
        // `withUnsafeBufferPointer` does not pass typed errors on in all compilers that this is built with.
        let result = bytes.withUnsafeBufferPointer { buffer in
            Result { () throws(DamagedChunk) in try decode(ByteReader(buffer)) }
        }
        return try result.get()
    }

    /// Not an offset that a sample can have.
    private static let noOffset = 1 << 15

    private static func decode(_ whole: ByteReader) throws(DamagedChunk) -> [APISample] {
        var reader = whole
        guard try reader.byte() == version else { throw DamagedChunk() }
        let count = try reader.count(atMost: mostSamples)
        var persons: [PersonField] = [.cleared]
        for _ in 0..<(try reader.count(atMost: count)) {
            persons.append(.assigned(OpaqueID(try reader.text())))
        }
        let type = try ColumnCoder.read(count: count, from: &reader)
        let seq = try ColumnCoder.read(count: count, from: &reader)
        let value = try ColumnCoder.read(count: count, from: &reader)
        let bandTime = try ColumnCoder.read(count: count, from: &reader)
        let clock = try ColumnCoder.read(count: count, from: &reader)
        let flags = try ColumnCoder.read(count: count, from: &reader)
        let provenance = try ColumnCoder.read(count: count, from: &reader)
        let version = try ColumnCoder.read(count: count, from: &reader)
        let offsetOfClocks = try ColumnCoder.read(count: count, from: &reader)
        let zone = try ColumnCoder.read(count: count, from: &reader)
        let bound = try ColumnCoder.read(count: count, from: &reader)
        let uncertain = try ColumnCoder.read(count: count, from: &reader)
        let person = try ColumnCoder.read(count: count, from: &reader)
        guard reader.isAtEnd else { throw DamagedChunk() }
        var samples: [APISample] = []
        samples.reserveCapacity(count)
        for index in 0..<count {
            guard let kind = APISampleType(code: Int(type[index])), let seq = UInt32(exactly: seq[index]),
                let clock = UInt16(exactly: clock[index]), let flags = UInt8(exactly: flags[index]),
                persons.indices.contains(Int(person[index]))
            else { throw DamagedChunk() }
            samples.append(
                APISample(
                    type: kind, seq: seq, value: Int(value[index]),
                    recordedAt: APITime(milliseconds: bandTime[index] &+ offsetOfClocks[index]),
                    tzOffsetMinutes: zone[index] == noOffset ? nil : Int(zone[index]),
                    version: Int(version[index]), provenance: APIProvenance(code: Int(provenance[index])),
                    bandTimeMilliseconds: bandTime[index], clockID: clock, flags: flags,
                    timeBoundMilliseconds: bound[index] < 0 ? nil : Int(bound[index]),
                    timeUncertain: uncertain[index] != 0, person: persons[Int(person[index])]))
        }
        return samples
    }
}

/// The persons of a chunk, each once. Index 0 = nobody.
private struct PersonList {
    private(set) var names: [OpaqueID] = []

    mutating func index(of person: PersonField) -> Int64 {
        guard case .assigned(let name) = person else { return 0 }
        // Hardly ever more than two.
        if let known = names.firstIndex(of: name) { return Int64(known + 1) }
        names.append(name)
        return Int64(names.count)
    }
}

extension APISample {
    /// What tells samples of a ring apart, as one number: type, then seq.
    public var chunkKey: UInt64 { UInt64(type.code) << 32 | UInt64(seq) }
}
