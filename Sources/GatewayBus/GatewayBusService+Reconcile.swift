import DBus
import GatewayModel

/// The method that compares with the server.
extension GatewayBusService {
    /// As many days as anybody keeps.
    private static let longest = 36_600

    func serveReconcile() {
        handle("Reconcile") { service, call in
            var (days, isDryRun) = (Int?.none, false)
            for (key, value) in call.options {
                switch (key, value) {
                case ("Days", .uint32(let number)):
                    guard (1...Self.longest).contains(Int(number)) else {
                        throw CommandFailure(
                            .invalidArguments, "Days is a number from 1 to \(Self.longest)")
                    }
                    days = Int(number)
                case ("DryRun", .bool(let flag)): isDryRun = flag
                default: throw unknownOption(key)
                }
            }
            let reports = try await service.commands.reconcile(
                try anyBandName(call.text(0)), days: days, isDryRun: isDryRun)
            return [.array(element: "a{sv}", reports.map { .properties($0.properties) })]
        }
    }
}

extension GatewayBusClient {
    /// Nil = every band, all days. A long history takes a while.
    public func reconcile(
        _ band: String?, days: Int?, isDryRun: Bool
    ) async throws(GatewayBusFailure) -> [ReconcileReport] {
        var options: BusProperties = ["DryRun": .bool(isDryRun)]
        options["Days"] = days.map { .uint32(UInt32(clamping: $0)) }
        let reply = try await call(
            "Reconcile", [.string(band ?? ""), .properties(options)], deadline: .seconds(12 * 3600))
        return reply.first?.elements?.compactMap(\.properties).compactMap { ReconcileReport($0) } ?? []
    }
}
