/// The answer to `GET /v1/persons`.
public struct PersonList: Codable, Equatable, Sendable {
    public var persons: [PersonEntry]
    public init(persons: [PersonEntry]) { self.persons = persons }
}

/// A person whom the account's samples name, or of whom something was put.
public struct PersonEntry: Codable, Equatable, Sendable {
    /// The opaque id.
    public var person: String
    /// Nil = none was put.
    public var label: String?
    /// As in the person's record; empty when none was put.
    public var zones: [PersonRecord.Zone]
    /// Devices that have, or had, samples of this person; in the order of their ids.
    public var devices: [String]

    public init(person: String, label: String? = nil, zones: [PersonRecord.Zone] = [], devices: [String] = [])
    {
        self.person = person
        self.label = label
        self.zones = zones
        self.devices = devices
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(person, forKey: .person)
        try container.encode(label, forKey: .label)
        try container.encode(zones, forKey: .zones)
        try container.encode(devices, forKey: .devices)
    }
}
