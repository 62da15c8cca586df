/// Who wears a band: an opaque id of the account, 1 to 128 bytes of printable ASCII without `/` (ingest API 1, "persons").
public struct PersonID: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let text: String

    public init?(_ text: String) {
        guard (1...128).contains(text.utf8.count),
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "/") })
        else { return nil }
        self.text = text
    }

    public var description: String { text }
    public static func < (left: Self, right: Self) -> Bool { left.text < right.text }
}

/// A person as this gateway knows them.
public struct Person: Equatable, Sendable {
    public var id: PersonID
    /// How people here call them. It stays on the gateway unless `sharesName`.
    public var name: String
    /// The server gets the name as the person's label.
    public var sharesName: Bool
    /// Where they lived, by rising `from`.
    public var zones: [ZoneStay]

    public init(id: PersonID, name: String, sharesName: Bool = false, zones: [ZoneStay] = []) {
        self.id = id
        self.name = name
        self.sharesName = sharesName
        self.zones = zones
    }
}

/// From a moment on somebody, or this host, is in a time zone.
public struct ZoneStay: Hashable, Sendable {
    /// An IANA name.
    public var zone: String
    public var from: Timestamp

    public init(zone: String, from: Timestamp) {
        self.zone = zone
        self.from = from
    }
}

/// A person wears a band from `from` until just before `to`; nil = until further notice.
public struct Assignment: Hashable, Sendable {
    public var device: DeviceID
    public var person: PersonID
    public var from: Timestamp
    public var to: Timestamp?

    public init(device: DeviceID, person: PersonID, from: Timestamp, to: Timestamp? = nil) {
        self.device = device
        self.person = person
        self.from = from
        self.to = to
    }
}

/// Who wore the band when a sample was measured, as the ingest API says it.
public enum Wearer: Hashable, Sendable {
    /// Nobody was ever named: the field is absent.
    case unsaid
    /// Nobody, or it can't be told: `null`.
    case nobody
    case person(PersonID)
}

/// Where a sample's UTC offset comes from.
public enum OffsetSource: UInt8, Sendable, CaseIterable {
    case band = 0
    /// The zone history of the person who wore it.
    case person = 1
    /// The zone of this host.
    case host = 2
    /// Another gateway said so, and the server took its word.
    case elsewhere = 3

    public var name: String {
        switch self {
        case .band: "band"
        case .person: "person"
        case .host: "host"
        case .elsewhere: "elsewhere"
        }
    }
}
