/// Why records are missing for good.
public enum APIGapCause: String, Codable, CaseIterable, Sendable {
    case overwritten
    case freedElsewhere = "freed_elsewhere"
    case reformatted
    case storageLost = "storage_lost"
    case lostByBand = "lost_by_band"
    case unreadable
}

/// A range of records that nobody can read any more. Key in its device: (ring, firstSeq).
public struct APIGap: Codable, Equatable, Sendable {
    public var ring: String
    public var firstSeq: UInt32
    /// Nil = the end is not known.
    public var lastSeq: UInt32?
    /// The missing records lie between these two times, as far as the neighbours tell.
    public var after: APITime?
    public var before: APITime?
    public var cause: APIGapCause
    /// Nil = still missing.
    public var healedAt: APITime?

    public init(
        ring: String, firstSeq: UInt32, lastSeq: UInt32?, after: APITime? = nil, before: APITime? = nil,
        cause: APIGapCause, healedAt: APITime? = nil
    ) {
        self.ring = ring
        self.firstSeq = firstSeq
        self.lastSeq = lastSeq
        self.after = after
        self.before = before
        self.cause = cause
        self.healedAt = healedAt
    }

    enum CodingKeys: String, CodingKey {
        case ring, after, before, cause
        case firstSeq = "first_seq"
        case lastSeq = "last_seq"
        case healedAt = "healed_at"
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        ring = try container.decode(String.self, forKey: .ring)
        firstSeq = try container.whole(forKey: .firstSeq)
        lastSeq = try container.wholeIfPresent(forKey: .lastSeq)
        after = try container.decodeIfPresent(APITime.self, forKey: .after)
        before = try container.decodeIfPresent(APITime.self, forKey: .before)
        cause = try container.decode(APIGapCause.self, forKey: .cause)
        healedAt = try container.decodeIfPresent(APITime.self, forKey: .healedAt)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(ring, forKey: .ring)
        try container.encode(firstSeq, forKey: .firstSeq)
        try container.encode(lastSeq, forKey: .lastSeq)
        try container.encode(after, forKey: .after)
        try container.encode(before, forKey: .before)
        try container.encode(cause, forKey: .cause)
        try container.encode(healedAt, forKey: .healedAt)
    }

    /// Nil when every field is within its definition.
    public var fault: APIFailure? {
        guard IngestAPI.isRing(ring) else { return .malformed("ring is not 8 lower-case hex digits") }
        guard firstSeq > 0 else { return .malformed("first_seq is 0") }
        guard (lastSeq ?? .max) >= firstSeq else { return .malformed("last_seq is below first_seq") }
        return nil
    }
}

/// The body of `PUT /v1/devices/{device_id}/gaps`, and the answer to it and to `GET`.
public struct GapList: Codable, Equatable, Sendable {
    public var gaps: [APIGap]
    public init(gaps: [APIGap]) { self.gaps = gaps }

    /// Nil when all of it may be put at once.
    public var fault: APIFailure? {
        guard gaps.count <= IngestAPI.maxGapsPerRequest else {
            return .batchTooLarge("there are over \(IngestAPI.maxGapsPerRequest) gaps")
        }
        return gaps.lazy.compactMap(\.fault).first
    }
}
