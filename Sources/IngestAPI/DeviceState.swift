/// What the server knows of one ring of a device.
public struct RingState: Codable, Equatable, Sendable {
    public var ring: String
    /// Nil = no gateway has said so yet.
    public var completeThrough: UInt32?
    public var ackSeq: [String: UInt32]
    public var firstSeen: APITime

    public init(ring: String, completeThrough: UInt32?, ackSeq: [String: UInt32], firstSeen: APITime) {
        self.ring = ring
        self.completeThrough = completeThrough
        self.ackSeq = ackSeq
        self.firstSeen = firstSeen
    }

    enum CodingKeys: String, CodingKey {
        case ring
        case completeThrough = "complete_through"
        case ackSeq = "ack_seq"
        case firstSeen = "first_seen"
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(ring, forKey: .ring)
        try container.encode(completeThrough, forKey: .completeThrough)
        try container.encode(ackSeq, forKey: .ackSeq)
        try container.encode(firstSeen, forKey: .firstSeen)
    }
}

/// The answer to `GET /v1/devices/{device_id}`.
public struct DeviceState: Codable, Equatable, Sendable {
    public var deviceID: String
    public var rings: [RingState]
    /// The highest version ever stored of the device; corrections start above it. 0 = no sample yet.
    public var maxVersion: Int
    public var firstRecordedAt: APITime?
    public var lastRecordedAt: APITime?
    /// Keys per type, expired ones included.
    public var counts: [String: Int]
    public var status: DeviceReport?

    public init(
        deviceID: String, rings: [RingState] = [], maxVersion: Int = 0, firstRecordedAt: APITime? = nil,
        lastRecordedAt: APITime? = nil, counts: [String: Int] = [:], status: DeviceReport? = nil
    ) {
        self.deviceID = deviceID
        self.rings = rings
        self.maxVersion = maxVersion
        self.firstRecordedAt = firstRecordedAt
        self.lastRecordedAt = lastRecordedAt
        self.counts = counts
        self.status = status
    }

    enum CodingKeys: String, CodingKey {
        case rings, counts, status
        case deviceID = "device_id"
        case maxVersion = "max_version"
        case firstRecordedAt = "first_recorded_at"
        case lastRecordedAt = "last_recorded_at"
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(deviceID, forKey: .deviceID)
        try container.encode(rings, forKey: .rings)
        try container.encode(maxVersion, forKey: .maxVersion)
        try container.encode(firstRecordedAt, forKey: .firstRecordedAt)
        try container.encode(lastRecordedAt, forKey: .lastRecordedAt)
        try container.encode(counts, forKey: .counts)
        try container.encode(status, forKey: .status)
    }
}

extension DeviceState {
    /// Keys of all types; nil when what is said can't be a count. So bounded that no reckoning with it overflows.
    public var count: Int? {
        let most = 1 << 53
        return counts.values.reduce(0 as Int?) { sum, count in
            guard let sum, (0...most - sum).contains(count) else { return nil }
            return sum + count
        }
    }
}

/// The answer to `GET /v1/devices`.
public struct DeviceList: Codable, Equatable, Sendable {
    public var devices: [DeviceState]
    public init(devices: [DeviceState]) { self.devices = devices }
}

/// The body of `PUT /v1/devices/{device_id}/status`, a gateway's report. Nil = not known.
public struct DeviceReport: Codable, Equatable, Sendable {
    public var lastContact: APITime?
    public var batteryPercent: Int?
    public var firmware: String?
    public var newestSeq: UInt32?
    public var newestRecordedAt: APITime?
    /// Samples stored at the gateway and not confirmed yet.
    public var unsent: Int?

    public init(
        lastContact: APITime? = nil, batteryPercent: Int? = nil, firmware: String? = nil,
        newestSeq: UInt32? = nil,
        newestRecordedAt: APITime? = nil, unsent: Int? = nil
    ) {
        self.lastContact = lastContact
        self.batteryPercent = batteryPercent
        self.firmware = firmware
        self.newestSeq = newestSeq
        self.newestRecordedAt = newestRecordedAt
        self.unsent = unsent
    }

    /// Nil when every field is within its definition.
    public var fault: APIFailure? {
        guard (0...100).contains(batteryPercent ?? 0) else {
            return .malformed("battery_percent is not 0 to 100")
        }
        guard (unsent ?? 0) >= 0 else { return .malformed("unsent is negative") }
        guard (firmware?.utf8.count ?? 0) <= 256 else { return .malformed("firmware is over 256 bytes") }
        return nil
    }

    enum CodingKeys: String, CodingKey {
        case firmware, unsent
        case lastContact = "last_contact"
        case batteryPercent = "battery_percent"
        case newestSeq = "newest_seq"
        case newestRecordedAt = "newest_recorded_at"
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        lastContact = try container.decodeIfPresent(APITime.self, forKey: .lastContact)
        batteryPercent = try container.wholeIfPresent(forKey: .batteryPercent)
        firmware = try container.decodeIfPresent(String.self, forKey: .firmware)
        newestSeq = try container.wholeIfPresent(forKey: .newestSeq)
        newestRecordedAt = try container.decodeIfPresent(APITime.self, forKey: .newestRecordedAt)
        unsent = try container.wholeIfPresent(forKey: .unsent)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(lastContact, forKey: .lastContact)
        try container.encode(batteryPercent, forKey: .batteryPercent)
        try container.encode(firmware, forKey: .firmware)
        try container.encode(newestSeq, forKey: .newestSeq)
        try container.encode(newestRecordedAt, forKey: .newestRecordedAt)
        try container.encode(unsent, forKey: .unsent)
    }
}
