import GatewayModel

/// Looks an IANA zone up: its offset from UTC at a time, minutes; nil for a zone that this system does not have.
public typealias ZoneLookup = @Sendable (_ zone: String, _ time: Timestamp) -> Int?

/// Where the wearer was: what the band knows, else the zone history of the person, else that of this host.
public struct OffsetChoice: Sendable {
    private let persons: [PersonID: [ZoneStay]]
    private let host: [ZoneStay]
    private let lookup: ZoneLookup

    /// The first stay of the host holds for all time before it, too: a host seldom moves.
    public init(persons: [PersonID: [ZoneStay]], host: [ZoneStay], lookup: @escaping ZoneLookup) {
        self.persons = persons
        self.host = host
        self.lookup = lookup
    }

    /// In quarter hours, as a band gives it. Offsets of zones have been quarter hours since 1972.
    public func offset(
        band: Int?, wearer: WearerVerdict, at time: Int64
    ) -> (quarterHours: Int, source: OffsetSource)? {
        if let band { return (band, .band) }
        let time = Timestamp(milliseconds: time)
        if case .person(let person) = wearer,
            let minutes = Self.stay(in: persons[person] ?? [], at: time).flatMap({ lookup($0.zone, time) })
        {
            return (Self.quarters(minutes), .person)
        }
        let stay = Self.stay(in: host, at: time) ?? host.first
        return stay.flatMap { lookup($0.zone, time) }.map { (Self.quarters($0), .host) }
    }

    private static func stay(in stays: [ZoneStay], at time: Timestamp) -> ZoneStay? {
        stays.last { $0.from <= time }
    }

    private static func quarters(_ minutes: Int) -> Int { Int((Double(minutes) / 15).rounded()) }
}
