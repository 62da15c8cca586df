import DBus
import Doctor
import GatewayBus
import GatewayModel

/// bandferryd's own word, over the bus.
public struct DaemonProbe: DoctorProbe {
    public let check = DoctorCheck.daemon
    public let deadline = Duration.seconds(10)
    let bus: BusAddress

    public init(bus: BusAddress = .system) { self.bus = bus }

    public func gather() async throws(ProbeRefusal) -> FactUpdate {
        let facts = await ask()
        return { $0.daemon = facts }
    }

    private func ask() async -> DaemonFacts {
        do throws(GatewayBusFailure) {
            let client = try await GatewayBusClient.connect(bus)
            let status = try await client.status(within: .seconds(6))
            await client.close()
            return DaemonFacts(.running, status: status)
        } catch {
            return switch error {
            case .notRunning: DaemonFacts(.stopped)
            case .notPermitted: DaemonFacts(.notPermitted)
            // Whether it runs, its lock tells.
            case .noBus(let reason): DaemonFacts(.unknown, reason: reason)
            case .broken(let error): DaemonFacts(.silent, reason: error.message)
            case .command(let failure): DaemonFacts(.silent, reason: failure.message)
            }
        }
    }
}
