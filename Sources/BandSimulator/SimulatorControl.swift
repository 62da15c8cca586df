import BandModel
import BandProfile
import DBus

/// The simulator's own face for tests: `org.bandferry.Simulator1`, one object a band, on a connection of its own.
///
/// The objects lie at `/org/bandferry/simulator/dev_XX_XX_XX_XX_XX_XX` and stay whatever BlueZ does with its own.
final class SimulatorControl: Sendable {
    static let busName = "org.bandferry.Simulator1"
    static let root = "/org/bandferry/simulator"

    /// The next calls of a method are answered with this error.
    private static let answer = InterfaceDescription.Method(
        "Answer",
        takes: [.init("method", "s"), .init("error", "s"), .init("text", "s"), .init("times", "u")])

    private static let interface = InterfaceDescription(
        "org.bandferry.Simulator1",
        methods: [
            .init("Disconnect"),
            .init("SetPresent", takes: [.init("present", "b")]),
            .init("Record", takes: [.init("count", "u")]),
            .init("Format", takes: [.init("records", "u")]),
            .init("RollBack", takes: [.init("forgotten", "u"), .init("records", "u")]),
            .init("Overwrite", takes: [.init("count", "u")]),
            .init("StepClock", takes: [.init("milliseconds", "x")]),
            .init("Stall"), .init("Vanish"), .init("LoseBond"), answer,
            .init("SetFaults", takes: [.init("script", "s")]),
            .init("Status", returns: [.init("status", "a{sv}")]),
            .init("WriteTruth"),
        ])

    private static let adapterInterface = InterfaceDescription(
        "org.bandferry.SimulatedAdapter1",
        methods: [
            .init("Unplug"), .init("Plug", takes: [.init("number", "u")]),
            .init("Block", takes: [.init("blocked", "b")]), .init("Wedge", takes: [.init("wedged", "b")]),
            .init("StickDiscovery", takes: [.init("stuck", "b")]), .init("Restart"),
            .init("Hang", takes: [.init("hung", "b")]),
            .init("SlowPowerOff", takes: [.init("milliseconds", "u")]),
            .init("RefusePowerOn", takes: [.init("times", "u")]),
            .init("EndDiscovery"), .init("PlugForeign", takes: [.init("number", "u")]), answer,
            .init("Status", returns: [.init("status", "a{sv}")]),
        ])

    private let bus: BusConnection

    private init(bus: BusConnection) { self.bus = bus }

    static func start(_ address: BusAddress, simulator: BusSimulator) async throws -> SimulatorControl {
        let bus = try await BusConnection.open(address)
        let tree = ObjectTree(root: root)
        for (device, band) in await simulator.paths {
            let path = root + device.dropFirst("/org/bluez/hci0".utf8.count)
            tree.export(path, [interface])
            for method in interface.methods {
                tree.onCall(interface.name, method.name) { [weak simulator, weak bus] call in
                    // One handler serves every object: the path says which band is meant.
                    Task {
                        guard let simulator, let bus else { return }
                        bus.reply(to: call.token, with: await simulator.control(call))
                    }
                    return .later
                }
            }
            _ = band
        }
        tree.export(root + "/adapter", [adapterInterface])
        for method in adapterInterface.methods {
            tree.onCall(adapterInterface.name, method.name) { [weak simulator, weak bus] call in
                Task {
                    guard let simulator, let bus else { return }
                    bus.reply(to: call.token, with: await simulator.controlAdapter(call))
                }
                return .later
            }
        }
        await bus.serve(tree)
        // Two simulators on one bus are two test beds: the second one is not controlled.
        _ = try await bus.requestName(busName)
        return SimulatorControl(bus: bus)
    }

    func stop() async { await bus.close() }
}

extension BusSimulator {
    var paths: [(String, BluetoothAddress)] { devices.map { ($0.path, $0.address) } }

    /// Carries out one call of the control interface.
    func control(_ call: MethodCall) -> CallOutcome {
        guard let device = devices.first(where: { $0.path.hasSuffix(String(call.path.suffix(22))) }) else {
            return .failure(
                BusError(name: "org.bandferry.Error.NoBand", message: "no such band: \(call.path)"))
        }
        let number = call.arguments.first?.integer ?? 0
        switch call.member {
        case "Disconnect": linkLost(device, reason: .timeout)
        case "SetPresent": setPresent(device.address, call.arguments.first?.flag ?? true)
        case "Record": record(number, device)
        case "Format": format(device.address, records: number)
        case "RollBack":
            rollBack(device.address, forgetting: number, records: call.arguments.last?.integer ?? 0)
        case "Overwrite": overwrite(device.address, number)
        case "StepClock": stepClock(device.address, milliseconds: Int64(number))
        case "Stall": device.keeper.band.stall()
        case "Vanish": removeDevice(device)
        case "LoseBond": loseBond(device.address)
        case "Answer": device.answers.set(call.arguments)
        case "SetFaults":
            do {
                device.keeper.band.setFaults(try FaultScript(call.arguments.first?.text ?? ""))
                device.keeper.save()
            } catch {
                return .failure(BusError(name: "org.bandferry.Error.FaultScript", message: "\(error)"))
            }
        case "Status": return .reply([.properties(status(device))])
        case "WriteTruth": writeTruth()
        default: return .never
        }
        return .reply([])
    }

    private func status(_ device: SimulatedDevice) -> BusProperties {
        let info = device.keeper.band.info()
        let dropped = device.dropped + (device.characteristic(.historyData)?.acquiredNotify?.dropped ?? 0)
        return [
            "Ring": .string(info.ring.description), "OldestSeq": .uint32(info.oldestSeq),
            "NewestSeq": .uint32(info.newestSeq), "EverSent": .uint32(device.keeper.band.everSent),
            "EverRecorded": .uint64(UInt64(device.keeper.band.everRecordedCount)),
            "Connected": .bool(device.isConnected), "Dropped": .uint64(dropped),
        ]
    }
}
