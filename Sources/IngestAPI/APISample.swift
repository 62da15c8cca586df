/// The sample types of the ingest API, in the spelling of the wire.
public enum APISampleType: String, Codable, CaseIterable, Hashable, Sendable {
    /// Beats per minute.
    case heartRate = "heart_rate"
    /// Count since the previous record.
    case steps
    /// Percent x 10.
    case spo2
    /// 0 awake, 1 light, 2 deep, 3 REM, 4 out of bed.
    case sleepStage = "sleep_stage"

    /// Values that the server takes; any other is rejected as `value_out_of_range`.
    public var validValues: ClosedRange<Int> {
        switch self {
        case .heartRate: 0...300
        case .steps: 0...32_767
        case .spo2: 0...1000
        case .sleepStage: 0...4
        }
    }
}

/// Who vouches for a value; never rewritten on the way.
public enum APIProvenance: String, Codable, CaseIterable, Hashable, Sendable {
    case device
    case user
    case unknown
}

/// Who wore the band, in three states: the field is absent, `null`, or an id.
public enum PersonField: Hashable, Sendable {
    case unchanged
    case cleared
    case assigned(OpaqueID)
}

/// One sample of a batch. Key with the batch's device and ring: (device, ring, type, seq).
public struct APISample: Hashable, Sendable {
    public var type: APISampleType
    public var seq: UInt32
    /// In the type's fixed unit.
    public var value: Int
    /// When it was measured, corrected for the band's clock.
    public var recordedAt: APITime
    /// The wearer's UTC offset then; nil = not known, written as `null`.
    public var tzOffsetMinutes: Int?
    /// Rises when a derived field changes; from 1.
    public var version: Int
    public var provenance: APIProvenance
    public var bandTimeMilliseconds: Int64
    public var clockID: UInt16
    public var flags: UInt8
    /// `recordedAt` is within this of the truth, where a bound is known.
    public var timeBoundMilliseconds: Int?
    /// `recordedAt` can't be trusted at all. Written only when true.
    public var timeUncertain: Bool
    public var person: PersonField

    public init(
        type: APISampleType, seq: UInt32, value: Int, recordedAt: APITime, tzOffsetMinutes: Int?,
        version: Int = 1,
        provenance: APIProvenance = .unknown, bandTimeMilliseconds: Int64, clockID: UInt16, flags: UInt8,
        timeBoundMilliseconds: Int? = nil, timeUncertain: Bool = false, person: PersonField = .unchanged
    ) {
        self.type = type
        self.seq = seq
        self.value = value
        self.recordedAt = recordedAt
        self.tzOffsetMinutes = tzOffsetMinutes
        self.version = version
        self.provenance = provenance
        self.bandTimeMilliseconds = bandTimeMilliseconds
        self.clockID = clockID
        self.flags = flags
        self.timeBoundMilliseconds = timeBoundMilliseconds
        self.timeUncertain = timeUncertain
        self.person = person
    }

    /// Offsets that RFC 3339 can say.
    public static let validOffsets = -1439...1439
    /// Versions are kept within what every JSON reader holds exactly.
    public static let validVersions = 1...9_007_199_254_740_991
    /// ms; as versions.
    public static let validTimeBounds = 0...9_007_199_254_740_991
}
