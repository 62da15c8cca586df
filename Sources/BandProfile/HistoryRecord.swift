/// One stored record of a band. 16 bytes. Band History Profile 1, "Record".
///
/// Any 16 bytes decode: what a field means is judged by `contentFault`, so that nothing is lost on the way.
public struct HistoryRecord: Equatable, Hashable, Sendable {
    public var seq: UInt32
    /// Whole seconds since 1970-01-01 by the band's clock.
    public var seconds: UInt32
    /// 0 to 999.
    public var milliseconds: UInt16
    /// UTC offset where it was recorded, in quarter hours, -56 to 56; -128 = the band does not know.
    public var offsetQuarterHours: Int8
    public var type: UInt8
    /// In the type's fixed unit.
    public var value: Int16
    /// Bit 0 worn, bit 1 low confidence.
    public var flags: UInt8
    public var reserved: UInt8

    public static let unknownOffset: Int8 = -128

    public init(
        seq: UInt32, seconds: UInt32, milliseconds: UInt16 = 0, offsetQuarterHours: Int8 = unknownOffset,
        type: UInt8, value: Int16, flags: UInt8 = 1, reserved: UInt8 = 0
    ) {
        self.seq = seq
        self.seconds = seconds
        self.milliseconds = milliseconds
        self.offsetQuarterHours = offsetQuarterHours
        self.type = type
        self.value = value
        self.flags = flags
        self.reserved = reserved
    }

    /// Reads the record at `offset`; the caller has checked that 16 bytes are there.
    init(unchecked bytes: UnsafeRawBufferPointer, at offset: Int) {
        func load<Value: FixedWidthInteger>(_ field: Int, _: Value.Type) -> Value {
            Value(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + field, as: Value.self))
        }
        seq = load(0, UInt32.self)
        seconds = load(4, UInt32.self)
        milliseconds = load(8, UInt16.self)
        offsetQuarterHours = load(10, Int8.self)
        type = load(11, UInt8.self)
        value = load(12, Int16.self)
        flags = load(14, UInt8.self)
        reserved = load(15, UInt8.self)
    }

    public init(decoding bytes: [UInt8]) throws(DecodingFailure) {
        guard bytes.count >= BandHistory.recordSize else { throw .truncated(at: bytes.count) }
        guard bytes.count == BandHistory.recordSize else { throw .trailing(at: BandHistory.recordSize) }
        self = bytes.withUnsafeBytes { HistoryRecord(unchecked: $0, at: 0) }
    }

    /// Band time in milliseconds since 1970-01-01 by the band's clock.
    public var bandTimeMilliseconds: Int64 { Int64(seconds) * 1000 + Int64(milliseconds) }

    /// The wearer's UTC offset in minutes; nil when the band does not know.
    public var offsetMinutes: Int? {
        offsetQuarterHours == Self.unknownOffset ? nil : Int(offsetQuarterHours) * 15
    }

    public var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(BandHistory.recordSize)
        append(to: &bytes)
        return bytes
    }

    func append(to bytes: inout [UInt8]) {
        bytes.appendLittleEndian(seq)
        bytes.appendLittleEndian(seconds)
        bytes.appendLittleEndian(milliseconds)
        bytes.appendLittleEndian(offsetQuarterHours)
        bytes.append(type)
        bytes.appendLittleEndian(value)
        bytes.append(flags)
        bytes.append(reserved)
    }
}

/// The kinds of sample that a band records. The raw value is the type on the wire of the profile.
public enum SampleType: UInt8, CaseIterable, Sendable {
    /// Beats per minute.
    case heartRate = 1
    /// Steps taken since the previous record of this type.
    case steps = 2
    /// Oxygen saturation in tenths of a percent.
    case spo2 = 3
    /// The stage that begins now: 0 awake, 1 light, 2 deep, 3 REM, 4 out of bed.
    case sleepStage = 4

    /// The name in the ingest API and in exports.
    public var name: String {
        switch self {
        case .heartRate: "heart_rate"
        case .steps: "steps"
        case .spo2: "spo2"
        case .sleepStage: "sleep_stage"
        }
    }

    public init?(name: some StringProtocol) {
        guard let type = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = type
    }

    /// Values that can be a measurement at all; anything else is kept raw, never sent as a sample.
    public var validValues: ClosedRange<Int> {
        switch self {
        case .heartRate: 0...300
        case .steps: 0...32_767
        case .spo2: 0...1_000
        case .sleepStage: 0...4
        }
    }
}

/// Why one record, in a notification that is otherwise sound, can't be taken as a sample.
public enum ContentFault: String, Equatable, Sendable {
    case milliseconds
    case offset
    case unknownType = "unknown_type"
    case value
}

extension HistoryRecord {
    /// Nil when every field is within its definition. Band History Profile 1, duty 7: such a record is kept raw.
    public var contentFault: ContentFault? {
        if milliseconds > 999 { return .milliseconds }
        if offsetQuarterHours != Self.unknownOffset, !(-56...56).contains(offsetQuarterHours) {
            return .offset
        }
        guard let known = SampleType(rawValue: type) else { return .unknownType }
        return known.validValues.contains(Int(value)) ? nil : .value
    }
}
