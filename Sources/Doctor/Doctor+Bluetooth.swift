import BandProfile
import Conditions
import GatewayModel

/// bluetoothd, adapters, and the bands as BlueZ shows them.
extension Doctor {
    /// dBm; a link of a wrist device breaks now and then below.
    static let weakSignal = -85

    static func bluetooth(_ facts: DoctorFacts) -> [Finding] {
        var findings = radioSwitches(facts)
        switch facts.bluetooth {
        case nil: break
        case .noBus(let reason): findings.append(Finding(.busUnavailable, ["error": reason]))
        case .notPermitted:
            findings.append(Finding(.busNotPermitted, ["service": "bluetoothd", "group": "bluetooth"]))
        case .notRunning: findings.append(Finding(.bluetoothdGone, looking()))
        case .silent(let reason): findings.append(Finding(.noAnswer, looking(" (\(reason))")))
        case .running(let view):
            findings += adapters(view, facts)
            findings += usable(view, facts).compactMap { slots(of: $0, view, facts) }
            findings += view.devices.flatMap { device($0, facts) }
        }
        return findings + version(facts) + mainConfiguration(facts)
    }

    private static func looking(_ detail: String = "") -> Condition.Parameters {
        ["operation": "look at Bluetooth", "detail": detail]
    }

    private static func radioSwitches(_ facts: DoctorFacts) -> [Finding] {
        (facts.rfkill ?? []).compactMap { radio in
            if radio.isHardBlocked { return Finding(.adapterBlockedHard, ["adapter": radio.name]) }
            guard radio.isSoftBlocked else { return nil }
            return Finding(.adapterBlocked, ["operation": "use \(radio.name)", "detail": ""])
        }
    }

    private static func adapters(_ view: BluetoothView, _ facts: DoctorFacts) -> [Finding] {
        guard !view.adapters.isEmpty else { return [Finding(.adapterMissing)] }
        let blocked = Set((facts.rfkill ?? []).filter { $0.isSoftBlocked || $0.isHardBlocked }.map(\.name))
        let configured = facts.configuration.adapters
        let others = view.adapters.map { "\($0.address) (\($0.name))" }.joined(separator: ", ")
        let absent = configured.filter { address in !view.adapters.contains { $0.address == address } }
        let missing =
            absent.isEmpty
            ? []
            : [
                Finding(
                    .adapterNotFound,
                    [
                        "adapter": absent.map(\.description).joined(separator: " and "), "others": others,
                        "file": facts.configuration.file,
                    ])
            ]
        let wanted = usable(view, facts)
        // One that is on is enough; rfkill's block says itself why one is off.
        guard !wanted.contains(where: \.isPowered) else { return missing }
        return missing
            + wanted.prefix(1).filter { !blocked.contains($0.name) }.map {
                Finding(
                    .adapterNotPowered,
                    ["adapter": "\($0.address) (\($0.name))", "address": $0.address.description])
            }
    }

    /// Those that the gateway may use.
    private static func usable(_ view: BluetoothView, _ facts: DoctorFacts) -> [BluetoothView.Adapter] {
        let configured = facts.configuration.adapters
        return view.adapters.filter { configured.isEmpty || configured.contains($0.address) }
    }

    /// Links of the gateway's own make room for one another; those of others do not.
    private static func slots(
        of adapter: BluetoothView.Adapter, _ view: BluetoothView, _ facts: DoctorFacts
    ) -> Finding? {
        let linked = view.devices.filter { $0.adapter == adapter.name && $0.isConnected }
        let links = linked.count
        guard links >= facts.configuration.maxLinks, linked.contains(where: { isForeign($0, facts) }) else {
            return nil
        }
        return Finding(
            .slotsUsedUp,
            [
                "adapter": "\(adapter.address) (\(adapter.name))", "links": String(links),
                "limit": String(facts.configuration.maxLinks),
            ])
    }

    private static func adopted(_ device: BluetoothView.Device, _ facts: DoctorFacts) -> BandStatus? {
        facts.daemon.status?.bands.first { $0.address == device.address && $0.adopted }
    }

    /// Its link is certainly not the gateway's. Where the daemon does not say what it holds, a band's may be.
    private static func isForeign(_ device: BluetoothView.Device, _ facts: DoctorFacts) -> Bool {
        let status = adopted(device, facts)
        return holds(facts.daemon.state, status) == false || (status == nil && !device.isBand)
    }

    private static func device(_ device: BluetoothView.Device, _ facts: DoctorFacts) -> [Finding] {
        let status = adopted(device, facts)
        // Where it is known which bands are adopted, the others are somebody else's: a neighbour's, or another program's by
        // right.
        guard status != nil || (device.isBand && facts.daemon.status == nil) else { return [] }
        let name = device.address.description
        let subject = status?.name ?? name
        var findings: [Finding] = []
        if let status, device.isBonded, let problem = status.problem,
            [Condition.bondLost, .pairingFailed].contains(where: { $0.code == problem.code })
        {
            findings.append(
                Finding(.bondStale, ["band": name, "evidence": evidence(problem)], subject: subject))
        }
        if device.isBand, device.isConnected, device.areServicesResolved, !device.showsHistory {
            findings.append(Finding(.cacheStale, ["band": name], subject: subject))
        }
        // BlueZ keeps a subscription over the end of a link, where it holds nobody up. And only with the daemon's own word
        // it is known that it is not the one.
        if device.isNotifying, device.isConnected, holds(facts.daemon.state, status) == false {
            findings.append(Finding(.heldByAnotherProgramNow, ["band": name], subject: subject))
        }
        if let rssi = device.rssi, rssi < weakSignal {
            findings.append(
                Finding(
                    .weakSignal, ["band": name, "rssi": String(rssi), "limit": String(weakSignal)],
                    subject: subject))
        }
        return findings
    }

    /// Whether the daemon is connected to the band; nil = nobody knows.
    private static func holds(_ daemon: DaemonFacts.State, _ status: BandStatus?) -> Bool? {
        switch daemon {
        case .running: status?.connected ?? false
        case .stopped: false
        case .offTheBus, .silent, .notPermitted, .unknown: nil
        }
    }

    /// Without the full stop, which ends another sentence.
    private static func evidence(_ problem: Problem) -> String {
        let text = problem.text.hasSuffix(".") ? String(problem.text.dropLast()) : problem.text
        return "\"\(text)\""
    }

    private static func version(_ facts: DoctorFacts) -> [Finding] {
        guard let bluetoothd = facts.bluetoothd, case .running? = facts.bluetooth else { return [] }
        guard let version = bluetoothd.version else { return [Finding(.bluetoothdVersionUnknown)] }
        guard version >= BlueZFeature.required else {
            return [
                Finding(
                    .bluetoothdOld,
                    ["version": version.description, "needed": BlueZFeature.required.description])
            ]
        }
        let lacks = BlueZFeature.optional.filter { version < $0.since }.map(\.what)
        guard !lacks.isEmpty else { return [] }
        return [
            Finding(
                .bluetoothdLacks,
                ["version": version.description, "lacks": lacks.joined(separator: "; ")])
        ]
    }

    private static func mainConfiguration(_ facts: DoctorFacts) -> [Finding] {
        guard let main = facts.mainConfiguration, let value = main.exchangeMTU, let mtu = Int(value),
            mtu < BandHistory.preferredMTU
        else { return [] }
        // Below 23 bluetoothd takes 23.
        let records = BandHistory.recordsPerNotification(mtu: max(mtu, 23))
        return [
            Finding(.exchangeMTU, ["file": main.file, "value": value, "records": String(records)])
        ]
    }
}
