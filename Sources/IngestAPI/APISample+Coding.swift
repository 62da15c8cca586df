enum SampleKey: String, CodingKey {
    case type, seq, value, version, provenance, flags, person
    case recordedAt = "recorded_at"
    case tzOffsetMinutes = "tz_offset_min"
    case bandTimeMilliseconds = "band_time_ms"
    case clockID = "clock_id"
    case timeBoundMilliseconds = "time_bound_ms"
    case timeUncertain = "time_uncertain"
    case deviceID = "device_id"
    case ring
}

extension APISample: Encodable {
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: SampleKey.self)
        try container.encode(type, forKey: .type)
        try container.encode(seq, forKey: .seq)
        try container.encode(value, forKey: .value)
        try container.encode(recordedAt, forKey: .recordedAt)
        // `null` says "not known"; an absent field would say nothing.
        try container.encode(tzOffsetMinutes, forKey: .tzOffsetMinutes)
        try container.encode(version, forKey: .version)
        try container.encode(provenance, forKey: .provenance)
        try container.encode(bandTimeMilliseconds, forKey: .bandTimeMilliseconds)
        try container.encode(clockID, forKey: .clockID)
        try container.encode(flags, forKey: .flags)
        try container.encodeIfPresent(timeBoundMilliseconds, forKey: .timeBoundMilliseconds)
        if timeUncertain { try container.encode(true, forKey: .timeUncertain) }
        switch person {
        case .unchanged: break
        case .cleared: try container.encodeNil(forKey: .person)
        case .assigned(let person): try container.encode(person.text, forKey: .person)
        }
    }
}

extension APISample: Decodable {
    /// Throws a `SampleRejection` that names the first field at fault.
    public init(from decoder: any Decoder) throws {
        guard let fields = try? decoder.container(keyedBy: SampleKey.self) else {
            throw SampleRejection(.badField, "the sample is not an object")
        }
        // The seq first, so that every later refusal can name it.
        guard let seq = try? fields.decode(UInt32.self, forKey: .seq), seq > 0 else {
            throw SampleRejection(.badField, "seq is not an integer from 1 to 4294967295")
        }
        func refuse(_ code: RejectionCode, _ message: String) -> SampleRejection {
            SampleRejection(code, message, seq: seq)
        }
        /// Absent and `null` both give nil; a value of another type is refused.
        func optional<Value: Decodable>(_ key: SampleKey, _ kind: String) throws -> Value? {
            do {
                return try fields.decodeIfPresent(Value.self, forKey: key)
            } catch {
                throw refuse(.badField, "\(key.rawValue) is not \(kind)")
            }
        }
        func required<Value: Decodable>(_ key: SampleKey, _ kind: String) throws -> Value {
            guard let value: Value = try optional(key, kind) else {
                throw refuse(.badField, "\(key.rawValue) is missing")
            }
            return value
        }

        let typeName: String = try required(.type, "a string")
        guard let type = APISampleType(rawValue: typeName) else {
            throw refuse(.unknownType, "type is not known")
        }
        let value: Int = try required(.value, "an integer")
        guard type.validValues.contains(value) else {
            throw refuse(.valueOutOfRange, "value is outside the range of \(type.rawValue)")
        }
        let recordedAtText: String = try required(.recordedAt, "a string")
        guard let recordedAt = APITime(recordedAtText) else {
            throw refuse(.badTime, "recorded_at is not an RFC 3339 time")
        }
        let offset: Int? = try optional(.tzOffsetMinutes, "an integer or null")
        guard offset.map(Self.validOffsets.contains) ?? true else {
            throw refuse(.badField, "tz_offset_min is not a UTC offset")
        }
        let version: Int = try optional(.version, "an integer") ?? 1
        guard Self.validVersions.contains(version) else {
            throw refuse(.badField, "version is not an integer from 1 to 9007199254740991")
        }
        let provenanceName: String? = try optional(.provenance, "a string")
        guard let provenance = APIProvenance(rawValue: provenanceName ?? APIProvenance.unknown.rawValue)
        else {
            throw refuse(.badField, "provenance is not device, user or unknown")
        }
        let bound: Int? = try optional(.timeBoundMilliseconds, "an integer")
        guard bound.map(Self.validTimeBounds.contains) ?? true else {
            throw refuse(.badField, "time_bound_ms is not an integer from 0 to 9007199254740991")
        }
        let uncertain: Bool? = try optional(.timeUncertain, "true or false")
        let wearer: String? = try optional(.person, "a string or null")
        guard wearer.map(IngestAPI.isOpaqueID) ?? true else {
            throw refuse(.badField, "person is not an id of 1 to 128 bytes")
        }
        self.init(
            type: type, seq: seq, value: value, recordedAt: recordedAt, tzOffsetMinutes: offset,
            version: version,
            provenance: provenance, bandTimeMilliseconds: try required(.bandTimeMilliseconds, "an integer"),
            clockID: try required(.clockID, "an integer from 0 to 65535"),
            flags: try required(.flags, "an integer from 0 to 255"), timeBoundMilliseconds: bound,
            timeUncertain: uncertain ?? false,
            person: wearer.map { .assigned(OpaqueID($0)) }
                ?? (fields.contains(.person) ? .cleared : .unchanged))
    }
}
