/// The body of `GET` and `PUT /v1/persons/{person}`.
public struct PersonRecord: Codable, Equatable, Sendable {
    /// The zone that the person lives in from a time on.
    public struct Zone: Codable, Equatable, Sendable {
        /// An IANA name.
        public var zone: String
        public var from: APITime

        public init(zone: String, from: APITime) {
            self.zone = zone
            self.from = from
        }
    }

    public var label: String?
    public var zones: [Zone]

    public init(label: String? = nil, zones: [Zone]) {
        self.label = label
        self.zones = zones
    }

    enum CodingKeys: String, CodingKey {
        case label, zones
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        label = try container.decodeIfPresent(String.self, forKey: .label)
        zones = try container.decodeIfPresent([Zone].self, forKey: .zones) ?? []
    }

    /// Nil when every field is within its definition.
    public var fault: APIFailure? {
        guard (label?.utf8.count ?? 0) <= 256 else { return .malformed("label is over 256 bytes") }
        guard zones.count <= 1000 else { return .malformed("there are over 1000 zones") }
        guard zones.allSatisfy({ IngestAPI.isZoneName($0.zone) }) else {
            return .malformed("zone is not the name of an IANA zone")
        }
        return nil
    }
}
