import HTTPServer
import IngestAPI
import IngestStore

/// What a request asks for. Ingest API 1.
enum Route: Equatable {
    case health
    case metrics
    case storeBatch
    case devices
    case device(String)
    case ranges(device: String)
    case gaps(device: String)
    case putGaps(device: String)
    case putStatus(device: String)
    case requestLease(device: String)
    case releaseLease(device: String)
    case persons
    case person(String)
    case putPerson(String)
    case samples
    case aggregates

    /// A short constant for metrics and logs: it names no device and no person.
    var label: String {
        switch self {
        case .health: "healthz"
        case .metrics: "metrics"
        case .storeBatch: "samples_batch"
        case .devices: "devices"
        case .device: "device"
        case .ranges: "ranges"
        case .gaps: "gaps"
        case .putGaps: "put_gaps"
        case .putStatus: "put_status"
        case .requestLease: "put_lease"
        case .releaseLease: "delete_lease"
        case .persons: "persons"
        case .person: "person"
        case .putPerson: "put_person"
        case .samples: "samples"
        case .aggregates: "aggregates"
        }
    }

    var isPublic: Bool { self == .health || self == .metrics }

    /// What a `read` token may not ask for.
    var needsGatewayRole: Bool {
        switch self {
        case .storeBatch, .putGaps, .putStatus, .requestLease, .releaseLease, .putPerson: true
        case .health, .metrics, .devices, .device, .ranges, .gaps, .persons, .person, .samples, .aggregates:
            false
        }
    }

    init(method: String, path: [String]) throws(APIFailure) {
        // `HEAD` is `GET` whose body is not sent.
        let method = method == "HEAD" ? "GET" : method
        let choices = try Self.choices(path)
        guard let route = choices[method] else {
            throw APIFailure(
                .methodNotAllowed, "this path takes \(choices.keys.sorted().joined(separator: ", "))")
        }
        self = route
    }

    /// The methods of a path.
    static func choices(_ path: [String]) throws(APIFailure) -> [String: Route] {
        switch (path.count, path.first) {
        case (1, "healthz"): return ["GET": .health]
        case (1, "metrics"): return ["GET": .metrics]
        case (2..., "v1"): break
        default: throw notFound
        }
        switch (path[1], path.count) {
        case ("samples:batch", 2): return ["POST": .storeBatch]
        case ("samples", 2): return ["GET": .samples]
        case ("aggregates", 2): return ["GET": .aggregates]
        case ("devices", 2): return ["GET": .devices]
        case ("devices", 3...4):
            guard IngestAPI.isDeviceID(path[2]) else {
                throw APIFailure(.unknownDevice, "no device can have this name")
            }
            return try choices(device: path[2], part: path.count == 4 ? path[3] : nil)
        case ("persons", 2): return ["GET": .persons]
        case ("persons", 3):
            guard IngestAPI.isOpaqueID(path[2]) else { throw .malformed("the person is not an id") }
            return ["GET": .person(path[2]), "PUT": .putPerson(path[2])]
        default: throw notFound
        }
    }

    private static func choices(device: String, part: String?) throws(APIFailure) -> [String: Route] {
        switch part {
        case nil: ["GET": .device(device)]
        case "ranges": ["GET": .ranges(device: device)]
        case "gaps": ["GET": .gaps(device: device), "PUT": .putGaps(device: device)]
        case "status": ["PUT": .putStatus(device: device)]
        case "lease": ["PUT": .requestLease(device: device), "DELETE": .releaseLease(device: device)]
        default: throw notFound
        }
    }

    private static var notFound: APIFailure { APIFailure(.notFound, "there is nothing at this path") }
}
