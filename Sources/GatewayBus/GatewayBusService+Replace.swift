import DBus
import GatewayModel

/// The methods that take bands over.
extension GatewayBusService {
    func serveReplace() {
        handle("ServerBands") { service, _ in
            let bands = try await service.commands.serverBands()
            return [.array(element: "a{sv}", bands.map { .properties($0.properties) })]
        }
        handle("Replace") { service, call in
            let request = try ReplaceRequest(
                bands: call.arguments.first?.strings ?? [], options: call.options)
            let reports = try await service.commands.replace(request)
            return [.array(element: "a{sv}", reports.map { .properties($0.properties) })]
        }
    }
}

extension GatewayBusClient {
    public func serverBands() async throws(GatewayBusFailure) -> [ServerBand] {
        let reply = try await call("ServerBands", [], deadline: .seconds(600))
        return reply.first?.elements?.compactMap(\.properties).compactMap { ServerBand($0) } ?? []
    }

    public func replace(_ request: ReplaceRequest) async throws(GatewayBusFailure) -> [ReplaceReport] {
        let reply = try await call(
            "Replace", [.strings(request.bands), .properties(request.options)], deadline: .seconds(3600))
        return reply.first?.elements?.compactMap(\.properties).compactMap { ReplaceReport($0) } ?? []
    }
}
