/// Reads a batch in the form that gateways send, in one pass over its bytes.
///
/// It knows the fields of the API, each once and in any order, integers without fraction or exponent, texts of
/// printable ASCII without escapes, and samples that can be taken. At anything else it gives up: what is odd or wrong
/// is judged in one place, by the decoders of `ReceivedBatch` and `APISample`, with the same result for what both read.
struct BatchReader {
    /// Something that this reader leaves to others.
    private struct Unusual: Error {}

    private var cursor: UnsafePointer<UInt8>
    private let end: UnsafePointer<UInt8>
    /// Most samples of a batch have the same wearer, whose name is made once.
    private var lastPerson = PersonField.unchanged
    private var lastPersonText: Text?

    /// Nil at anything unusual.
    static func read(_ body: [UInt8]) -> ReceivedBatch? {
        body.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return nil }
            var reader = BatchReader(cursor: start, end: start + bytes.count)
            return try? reader.batch()
        }
    }

    private init(cursor: UnsafePointer<UInt8>, end: UnsafePointer<UInt8>) {
        self.cursor = cursor
        self.end = end
    }

    // MARK: the batch and its samples

    private mutating func batch() throws(Unusual) -> ReceivedBatch {
        var seen = SeenFields()
        var batch = ReceivedBatch(deviceID: "", ring: "", syncID: "", samples: [])
        var declared = -1
        try open("{")
        repeat {
            let field = try batchField()
            try seen.insert(field.rawValue)
            switch field {
            case .deviceID: batch.deviceID = try string(where: { IngestAPI.isDeviceID($0) })
            case .ring: batch.ring = try string(where: { IngestAPI.isRing($0) })
            case .syncID: batch.syncID = try string(where: { IngestAPI.isOpaqueID($0) })
            case .sampleCount: declared = try number()
            case .completeThrough: batch.completeThrough = try number()
            case .samples: batch.samples = try samples()
            }
        } while try another(before: "}")
        skipSpace()
        guard cursor == end, seen.has(upTo: BatchField.lastNeeded.rawValue),
            declared == batch.samples.count
        else { throw Unusual() }
        return batch
    }

    private mutating func samples() throws(Unusual) -> [Result<APISample, SampleRejection>] {
        var samples: [Result<APISample, SampleRejection>] = []
        try open("[")
        if take("]") { return [] }
        samples.reserveCapacity(IngestAPI.maxSamplesPerBatch)
        repeat {
            guard samples.count < IngestAPI.maxSamplesPerBatch else { throw Unusual() }
            samples.append(.success(try sample()))
        } while try another(before: "]")
        return samples
    }

    private mutating func sample() throws(Unusual) -> APISample {
        var seen = SeenFields()
        var sample = APISample(
            type: .heartRate, seq: 0, value: 0, recordedAt: .earliest, tzOffsetMinutes: nil,
            bandTimeMilliseconds: 0,
            clockID: 0, flags: 0)
        try open("{")
        repeat {
            let field = try sampleField()
            try seen.insert(field.rawValue)
            switch field {
            case .type: sample.type = try type()
            case .seq: sample.seq = try number()
            case .value: sample.value = try number()
            case .recordedAt: sample.recordedAt = try time()
            case .tzOffsetMinutes:
                sample.tzOffsetMinutes = try takeWord("null") ? nil : number(in: APISample.validOffsets)
            case .version: sample.version = try number(in: APISample.validVersions)
            case .provenance: sample.provenance = try provenance()
            case .bandTimeMilliseconds: sample.bandTimeMilliseconds = try number()
            case .clockID: sample.clockID = try number()
            case .flags: sample.flags = try number()
            case .timeBoundMilliseconds:
                sample.timeBoundMilliseconds = try number(in: APISample.validTimeBounds)
            case .timeUncertain: sample.timeUncertain = try bool()
            case .person: sample.person = try takeWord("null") ? .cleared : person()
            }
        } while try another(before: "}")
        guard sample.seq > 0, sample.type.validValues.contains(sample.value),
            seen.has(upTo: SampleField.lastNeeded.rawValue)
        else { throw Unusual() }
        return sample
    }

    // MARK: fields

    /// Those that must be there come first.
    private enum BatchField: UInt32 {
        case deviceID, ring, syncID, sampleCount, samples
        case completeThrough

        static let lastNeeded = samples
    }

    /// Those that must be there come first.
    private enum SampleField: UInt32 {
        case type, seq, value, recordedAt, bandTimeMilliseconds, clockID, flags
        case tzOffsetMinutes, version, provenance, timeBoundMilliseconds, timeUncertain, person

        static let lastNeeded = flags
    }

    private mutating func batchField() throws(Unusual) -> BatchField {
        let text = try key()
        switch text.count {
        case 4 where text.equals("ring"): return .ring
        case 7 where text.equals("sync_id"): return .syncID
        case 7 where text.equals("samples"): return .samples
        case 9 where text.equals("device_id"): return .deviceID
        case 12 where text.equals("sample_count"): return .sampleCount
        case 16 where text.equals("complete_through"): return .completeThrough
        default: throw Unusual()
        }
    }

    private mutating func sampleField() throws(Unusual) -> SampleField {
        let text = try key()
        switch text.count {
        case 3 where text.equals("seq"): return .seq
        case 4 where text.equals("type"): return .type
        case 5 where text.equals("value"): return .value
        case 5 where text.equals("flags"): return .flags
        case 6 where text.equals("person"): return .person
        case 7 where text.equals("version"): return .version
        case 8 where text.equals("clock_id"): return .clockID
        case 10 where text.equals("provenance"): return .provenance
        case 11 where text.equals("recorded_at"): return .recordedAt
        case 12 where text.equals("band_time_ms"): return .bandTimeMilliseconds
        case 13 where text.equals("tz_offset_min"): return .tzOffsetMinutes
        case 13 where text.equals("time_bound_ms"): return .timeBoundMilliseconds
        case 14 where text.equals("time_uncertain"): return .timeUncertain
        default: throw Unusual()
        }
    }

    private mutating func type() throws(Unusual) -> APISampleType {
        let text = try plainText()
        switch text.count {
        case 4 where text.equals("spo2"): return .spo2
        case 5 where text.equals("steps"): return .steps
        case 10 where text.equals("heart_rate"): return .heartRate
        case 11 where text.equals("sleep_stage"): return .sleepStage
        default: throw Unusual()
        }
    }

    private mutating func provenance() throws(Unusual) -> APIProvenance {
        let text = try plainText()
        switch text.count {
        case 4 where text.equals("user"): return .user
        case 6 where text.equals("device"): return .device
        case 7 where text.equals("unknown"): return .unknown
        default: throw Unusual()
        }
    }

    private mutating func time() throws(Unusual) -> APITime {
        guard let time = APITime(bytes: try plainText().bytes) else { throw Unusual() }
        return time
    }

    private mutating func person() throws(Unusual) -> PersonField {
        let text = try plainText()
        if let last = lastPersonText, last == text { return lastPerson }
        let name = String(decoding: text.bytes, as: UTF8.self)
        guard IngestAPI.isOpaqueID(name) else { throw Unusual() }
        lastPersonText = text
        lastPerson = .assigned(OpaqueID(name))
        return lastPerson
    }

    private mutating func string(where isValid: (String) -> Bool) throws(Unusual) -> String {
        let text = String(decoding: try plainText().bytes, as: UTF8.self)
        guard isValid(text) else { throw Unusual() }
        return text
    }

    // MARK: JSON

    private mutating func bool() throws(Unusual) -> Bool {
        if takeWord("true") { return true }
        guard takeWord("false") else { throw Unusual() }
        return false
    }

    private mutating func number(in range: ClosedRange<Int>) throws(Unusual) -> Int {
        let number: Int = try number()
        guard range.contains(number) else { throw Unusual() }
        return number
    }

    /// Up to 18 digits, which no 64 bits overflow. Nothing but a separator may follow; `another` sees to that.
    private mutating func number<Number: FixedWidthInteger>() throws(Unusual) -> Number {
        let isNegative = take("-")
        let start = cursor
        var value: Int64 = 0
        while cursor < end, case let digit = cursor.pointee &- UInt8(ascii: "0"), digit <= 9 {
            value = value &* 10 &+ Int64(digit)
            cursor += 1
        }
        let count = cursor - start
        // No leading zero, and no zero below zero.
        guard (1...18).contains(count), start.pointee != UInt8(ascii: "0") || count == 1 && !isNegative,
            let number = Number(exactly: isNegative ? -value : value)
        else { throw Unusual() }
        return number
    }

    /// A name and the colon after it.
    private mutating func key() throws(Unusual) -> Text {
        skipSpace()
        let text = try plainText()
        skipSpace()
        guard take(":") else { throw Unusual() }
        skipSpace()
        return text
    }

    /// A string of printable ASCII without escapes.
    private mutating func plainText() throws(Unusual) -> Text {
        guard take("\"") else { throw Unusual() }
        let start = cursor
        while cursor < end {
            switch cursor.pointee {
            case UInt8(ascii: "\""):
                defer { cursor += 1 }
                return Text(start: start, count: cursor - start)
            case UInt8(ascii: "\\"), 0..<0x20, 0x7f...: throw Unusual()
            default: cursor += 1
            }
        }
        throw Unusual()
    }

    /// What begins an object or an array.
    private mutating func open(_ bracket: Unicode.Scalar) throws(Unusual) {
        skipSpace()
        guard take(bracket) else { throw Unusual() }
        skipSpace()
    }

    /// Whether another member or element follows before the bracket that ends it.
    private mutating func another(before bracket: Unicode.Scalar) throws(Unusual) -> Bool {
        skipSpace()
        if take(",") {
            skipSpace()
            return true
        }
        guard take(bracket) else { throw Unusual() }
        return false
    }

    @inline(__always)
    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard cursor < end, cursor.pointee == UInt8(ascii: character) else { return false }
        cursor += 1
        return true
    }

    @inline(__always)
    private mutating func takeWord(_ word: StaticString) -> Bool {
        let count = word.utf8CodeUnitCount
        guard end - cursor >= count, Text(start: cursor, count: count).equals(word) else { return false }
        cursor += count
        return true
    }

    @inline(__always)
    private mutating func skipSpace() {
        while cursor < end, cursor.pointee <= 0x20 {
            switch cursor.pointee {
            case 0x20, 0x09, 0x0a, 0x0d: cursor += 1
            default: return
            }
        }
    }

    /// Which fields of an object were there. One that is there twice is unusual.
    private struct SeenFields {
        private var bits: UInt32 = 0

        @inline(__always)
        mutating func insert(_ field: UInt32) throws(Unusual) {
            guard bits & 1 << field == 0 else { throw Unusual() }
            bits |= 1 << field
        }

        func has(upTo last: UInt32) -> Bool {
            let needed: UInt32 = 2 << last - 1
            return bits & needed == needed
        }
    }
}

/// A part of the body.
private struct Text {
    let start: UnsafePointer<UInt8>
    let count: Int

    var bytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: start, count: count) }

    /// Of the same length. The compiler knows that of a word, and makes a comparison of a few instructions.
    @inline(__always)
    func equals(_ word: StaticString) -> Bool {
        for index in 0..<word.utf8CodeUnitCount where start[index] != word.utf8Start[index] { return false }
        return true
    }

    static func == (left: Self, right: Self) -> Bool { left.bytes.elementsEqual(right.bytes) }
}
