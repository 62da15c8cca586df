import GatewayBus
import GatewayModel

/// The commands about persons.
extension GatewayDaemon {
    public func addPerson(_ request: AddPersonRequest) async throws -> PersonID {
        try await ready().addPerson(request)
    }

    public func removePerson(_ person: String) async throws { try await ready().removePerson(person) }

    public func setZone(_ zone: String, from: Timestamp, of person: String) async throws {
        try await ready().setZone(zone, from: from, of: person)
    }

    public func removeZone(from: Timestamp, of person: String) async throws {
        try await ready().removeZone(from: from, of: person)
    }

    public func assign(_ request: AssignRequest) async throws { try await ready().assign(request) }

    public func unassign(_ band: String, from: Timestamp) async throws {
        try await ready().unassign(band, from: from)
    }
}
