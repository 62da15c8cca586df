import BlueZModel
import DBus
import Doctor

/// `org.bluez` by one read of its objects: no discovery, no connection, nothing that a sync would notice.
public struct BluetoothProbe: DoctorProbe {
    public let check = DoctorCheck.bluetooth
    public let deadline = Duration.seconds(12)
    let bus: BusAddress

    public init(bus: BusAddress = .system) { self.bus = bus }

    public func gather() async throws(ProbeRefusal) -> FactUpdate {
        let facts = await look()
        return { $0.bluetooth = facts }
    }

    private func look() async -> BluetoothFacts {
        let connection: BusConnection
        do throws(BusError) {
            connection = try await BusConnection.open(bus, deadline: .seconds(4))
        } catch {
            return isRefusal(error) ? .notPermitted(error.message) : .noBus(error.message)
        }
        let facts = await ask(connection)
        await connection.close()
        return facts
    }

    private func ask(_ connection: BusConnection) async -> BluetoothFacts {
        do throws(BusError) {
            guard try await connection.owner(of: BlueZName.service) != nil else { return .notRunning }
            let reply = try await connection.call(
                BlueZName.service, path: "/", interface: "org.freedesktop.DBus.ObjectManager",
                "GetManagedObjects", deadline: .seconds(5))
            return .running(BluetoothView(reading: reply))
        } catch {
            if isRefusal(error) { return .notPermitted(error.message) }
            switch error.name {
            case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner":
                return .notRunning
            default: return .silent(error.message)
            }
        }
    }

    private func isRefusal(_ error: BusError) -> Bool {
        error.name == "org.freedesktop.DBus.Error.AccessDenied"
            || error.name == "org.freedesktop.DBus.Error.AuthFailed"
    }
}
