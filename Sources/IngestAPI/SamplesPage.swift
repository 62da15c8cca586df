/// A stored sample in its current version, as `GET /v1/samples` gives it.
public struct StoredSample: Equatable, Sendable {
    public var deviceID: String
    public var ring: String
    /// `person` is `.assigned` or `.cleared`.
    public var sample: APISample

    public init(deviceID: String, ring: String, sample: APISample) {
        self.deviceID = deviceID
        self.ring = ring
        self.sample = sample
    }
}

extension StoredSample: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: SampleKey.self)
        deviceID = try container.decode(String.self, forKey: .deviceID)
        ring = try container.decode(String.self, forKey: .ring)
        sample = try APISample(from: decoder)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: SampleKey.self)
        try container.encode(deviceID, forKey: .deviceID)
        try container.encode(ring, forKey: .ring)
        try sample.encode(to: encoder)
    }
}

/// The same answer as a gateway reads it: a sample that it can't read does not spoil the others.
public struct ReceivedPage: Decodable, Sendable {
    public var page: SamplesPage

    private struct Element: Decodable {
        let sample: StoredSample?

        init(from decoder: any Decoder) throws { sample = try? StoredSample(from: decoder) }
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: SamplesPage.CodingKeys.self)
        page = SamplesPage(
            samples: try container.decode([Element].self, forKey: .samples).compactMap(\.sample),
            nextCursor: try container.decodeIfPresent(String.self, forKey: .nextCursor))
    }
}

/// The answer to `GET /v1/samples`.
public struct SamplesPage: Codable, Equatable, Sendable {
    public var samples: [StoredSample]
    /// Nil on the last page.
    public var nextCursor: String?

    public init(samples: [StoredSample], nextCursor: String?) {
        self.samples = samples
        self.nextCursor = nextCursor
    }

    enum CodingKeys: String, CodingKey {
        case samples
        case nextCursor = "next_cursor"
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(samples, forKey: .samples)
        try container.encode(nextCursor, forKey: .nextCursor)
    }
}
