import BandProfile
import CivilTime
import CommandLineText
import GatewayModel
import IngestAPI
import ZoneDatabase

/// `bandferry trends`: from the state directory, without a server.
extension BandferryCommand {
    mutating func trends(_ request: TrendsRequest) throws {
        let state = try LocalState(settings())
        let zone = try Self.zone(request.zone)
        let now = Timestamp.now.milliseconds
        let today = CivilDate(milliseconds: now, offsetMinutes: zone.offsetMinutes(at: now))
        let trends = LocalTrends(
            reader: state.reader, zone: zone, dates: today.advanced(by: 1 - request.days)...today,
            bucket: request.byHour ? .hour : .day)
        let parts = try state.subjects(of: request.subject).flatMap { subject in
            try request.types.map { type in (subject, try trends.list(of: subject, type)) }
        }
        let json = JSONText.array(
            parts.map { TrendsText.json($1, subject: $0.members + [("tz", .string(zone.name))]) })
        try show(json) { terminal in
            guard !parts.isEmpty else {
                return
                    "No bands yet. 'bandferry scan' shows those in range, 'bandferry adopt ADDRESS' takes one in.\n"
            }
            return parts.map { TrendsText(title: $0.title, list: $1).rendered(for: terminal) }.joined(
                separator: "\n")
        }
    }

    private static func zone(_ name: String?) throws -> ZoneRules {
        let zones = ZoneDatabase()
        guard let name else { return zones.rules(named: zones.hostZoneName()) ?? .utc }
        if let rules = zones.rules(named: name) { return rules }
        throw UsageError(
            message:
                "this system knows no time zone '\(name)'; 'timedatectl list-timezones' lists those that it does",
            command: "trends")
    }
}

/// Whose trends are shown.
enum TrendSubject {
    case band(BandStatus)
    case person(Person)

    var title: String {
        switch self {
        case .band(let band): band.name.map { "\(band.address) (\($0))" } ?? band.address.description
        case .person(let person): person.name
        }
    }

    /// What names them in JSON.
    var members: [(String, JSONText)] {
        switch self {
        case .band(let band): [("device_id", .string(band.device.text))]
        case .person(let person): [("person", .string(person.id.text))]
        }
    }
}

extension LocalState {
    func subjects(of subject: TrendsRequest.Subject) throws -> [TrendSubject] {
        switch subject {
        case .everyBand: return try reader.status().map { .band($0) }
        case .person(let name): return [.person(try person(name))]
        case .band(let name):
            let bands = try reader.status()
            let device = try device(name, in: bands)
            return bands.filter { $0.device == device }.map { .band($0) }
        }
    }
}

extension LocalTrends {
    func list(of subject: TrendSubject, _ type: SampleType) throws -> AggregateList {
        switch subject {
        case .band(let band): try ofBand(band.device, type)
        case .person(let person): try ofPerson(person.id, type)
        }
    }
}
