import DBus
import GatewayModel

/// The methods about persons.
extension GatewayBusService {
    func servePeople() {
        handle("AddPerson") { try await $0.addPerson($1) }
        handle("RemovePerson") { try await $0.removePerson($1) }
        handle("SetZone") { try await $0.setZone($1) }
        handle("RemoveZone") { try await $0.removeZone($1) }
        handle("Assign") { try await $0.assign($1) }
        handle("Unassign") { try await $0.unassign($1) }
    }

    private func addPerson(_ call: MethodCall) async throws -> [BusValue] {
        let request = try AddPersonRequest(name: call.text(0), options: call.options)
        return [.string(try await commands.addPerson(request).text)]
    }

    private func removePerson(_ call: MethodCall) async throws -> [BusValue] {
        try await commands.removePerson(try personName(call.text(0)))
        return []
    }

    private func setZone(_ call: MethodCall) async throws -> [BusValue] {
        try await commands.setZone(
            call.text(1), from: try moment(call.arguments.last), of: try personName(call.text(0)))
        return []
    }

    private func removeZone(_ call: MethodCall) async throws -> [BusValue] {
        try await commands.removeZone(
            from: try moment(call.arguments.last), of: try personName(call.text(0)))
        return []
    }

    private func assign(_ call: MethodCall) async throws -> [BusValue] {
        let from = call.arguments.count > 2 ? call.arguments[2] : nil
        try await commands.assign(
            try AssignRequest(band: call.text(0), person: call.text(1), from: from, options: call.options))
        return []
    }

    private func unassign(_ call: MethodCall) async throws -> [BusValue] {
        try await commands.unassign(try bandName(call.text(0)), from: try moment(call.arguments.last))
        return []
    }
}

extension MethodCall {
    /// The bus has checked the signature; an empty text is none that anything is called.
    func text(_ index: Int) -> String {
        arguments.indices.contains(index) ? arguments[index].text ?? "" : ""
    }

    var options: BusProperties { arguments.last?.properties ?? [:] }
}
