import BandProfile

/// `[A-Za-z0-9_.-]{1,64}`; `band_` + the 12 upper-case hex digits of the address unless configured otherwise.
public struct DeviceID: Hashable, Sendable, CustomStringConvertible {
    public let text: String

    public init?(_ text: String) {
        guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy(Self.isAllowed) else { return nil }
        self.text = text
    }

    public init(_ address: BluetoothAddress) {
        text = "band_" + address.digits
    }

    public var description: String { text }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}

/// Milliseconds since 1970-01-01T00:00:00Z. Wall-clock time is a value here, never a timer.
public struct Timestamp: Hashable, Comparable, Sendable {
    public var milliseconds: Int64

    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    public static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }
}

/// Who vouches for a value; never collapsed, never rewritten on the way.
public enum Provenance: UInt8, Sendable, CaseIterable {
    case unknown = 0
    case device = 1
    case user = 2

    public var name: String {
        switch self {
        case .unknown: "unknown"
        case .device: "device"
        case .user: "user"
        }
    }

    public init?(name: String) {
        guard let match = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = match
    }
}

/// One stored sample, as it is exported and uploaded. Key: (device, ring, type, seq).
public struct Sample: Equatable, Sendable {
    public var device: DeviceID
    public var ring: RingID
    /// The type on the wire of the profile; always one of `SampleType` in the samples table.
    public var type: SampleType
    public var seq: UInt32
    public var value: Int
    /// Band time, corrected by what the readings of its clock say.
    public var recordedAt: Timestamp
    /// The wearer's UTC offset then; nil = not known.
    public var offsetMinutes: Int?
    /// Where the offset comes from; nil = there is none.
    public var offsetSource: OffsetSource?
    public var wearer: Wearer
    public var version: Int
    public var provenance: Provenance
    public var bandTimeMilliseconds: Int64
    public var clockID: UInt16
    public var flags: UInt8
    /// `recordedAt` can't be trusted: no reading of the clock that timed it vouches for it.
    public var timeUncertain: Bool
    /// `recordedAt` is within this many milliseconds of the truth, where a bound is known.
    public var timeBoundMilliseconds: Int?

    public init(
        device: DeviceID, ring: RingID, type: SampleType, seq: UInt32, value: Int, recordedAt: Timestamp,
        offsetMinutes: Int?, version: Int = 1, provenance: Provenance = .device, bandTimeMilliseconds: Int64,
        clockID: UInt16, flags: UInt8, timeUncertain: Bool = false, timeBoundMilliseconds: Int? = nil,
        offsetSource: OffsetSource? = nil, wearer: Wearer = .unsaid
    ) {
        self.device = device
        self.ring = ring
        self.type = type
        self.seq = seq
        self.value = value
        self.recordedAt = recordedAt
        self.offsetMinutes = offsetMinutes
        self.version = version
        self.provenance = provenance
        self.bandTimeMilliseconds = bandTimeMilliseconds
        self.clockID = clockID
        self.flags = flags
        self.timeUncertain = timeUncertain
        self.timeBoundMilliseconds = timeBoundMilliseconds
        self.offsetSource = offsetSource
        self.wearer = wearer
    }
}
