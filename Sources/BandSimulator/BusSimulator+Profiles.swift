import BandProfile
import DBus

// GattManager1: applications whose GattProfile1 objects ask BlueZ to connect by itself.

extension BusSimulator {
    func answerProfileCalls() {
        let interface = BlueZInterfaces.gattManager.name
        on(interface, "RegisterApplication") { $0.registerApplication($1) }
        on(interface, "UnregisterApplication") { simulator, call in
            guard let client = call.sender, simulator.profiles.removeValue(forKey: client) != nil else {
                return .failure(BlueZError.doesNotExist)
            }
            return .reply([])
        }
    }

    private func registerApplication(_ call: MethodCall) -> CallOutcome {
        guard let client = call.sender, let root = call.arguments.first?.text else {
            return .failure(BlueZError.invalidArguments)
        }
        guard profiles[client] == nil else { return .failure(BlueZError.alreadyExists) }
        Task {
            let objects = try? await bus.call(
                client, path: root, interface: "org.freedesktop.DBus.ObjectManager", "GetManagedObjects",
                deadline: .seconds(25))
            let interfaces = (objects?.first?.entries ?? []).flatMap { $0.value.entries ?? [] }
            let wanted = interfaces.filter { $0.key.text == "org.bluez.GattProfile1" }
                .flatMap { $0.value.properties?["UUIDs"]?.strings ?? [] }
            guard !interfaces.isEmpty else {
                return fail(call.token, BlueZError.failed("No object received"))
            }
            profiles[client] = wanted.map { $0.lowercased() }
            reply(call.token)
            for device in devices { connectByProfile(device) }
        }
        return .later
    }

    /// Connects a known band as soon as it advertises, again and again, while an application asks for it.
    func connectByProfile(_ device: SimulatedDevice) {
        guard isWanted(device), device.link == .down else { return }
        after(scaled(.milliseconds(200))) { simulator in
            guard simulator.isWanted(device), device.link == .down, device.isConnectable else {
                return
            }
            simulator.startConnecting(device)
        }
    }

    private func isWanted(_ device: SimulatedDevice) -> Bool {
        // UUIDs must have been resolved once: those of the advertisement are not enough.
        isPowered && device.isExported && device.areServicesExported && !device.isTemporary
            && profiles.values.contains { $0.contains(BandHistory.service) }
    }
}
