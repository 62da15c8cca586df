import DBus
import GatewayModel

/// What is asked about persons. A change works over what is stored, which may take a while.
extension GatewayBusClient {
    private static let deadline = Duration.seconds(300)

    public func addPerson(_ request: AddPersonRequest) async throws(GatewayBusFailure) -> PersonID {
        let reply = try await call(
            "AddPerson", [.string(request.name), .properties(request.options)], deadline: Self.deadline)
        guard let id = reply.first?.text.flatMap({ PersonID($0) }) else {
            throw .broken(
                BusError(name: "org.bandferry.Error.Failed", message: "the daemon answered no id"))
        }
        return id
    }

    public func removePerson(_ person: String) async throws(GatewayBusFailure) {
        _ = try await call("RemovePerson", [.string(person)], deadline: Self.deadline)
    }

    public func setZone(_ zone: String, from: Timestamp, of person: String) async throws(GatewayBusFailure) {
        _ = try await call(
            "SetZone", [.string(person), .string(zone), from.bus], deadline: Self.deadline)
    }

    public func removeZone(from: Timestamp, of person: String) async throws(GatewayBusFailure) {
        _ = try await call("RemoveZone", [.string(person), from.bus], deadline: Self.deadline)
    }

    public func assign(_ request: AssignRequest) async throws(GatewayBusFailure) {
        _ = try await call(
            "Assign",
            [.string(request.band), .string(request.person), request.from.bus, .properties(request.options)],
            deadline: Self.deadline)
    }

    public func unassign(_ band: String, from: Timestamp) async throws(GatewayBusFailure) {
        _ = try await call("Unassign", [.string(band), from.bus], deadline: Self.deadline)
    }
}
