import BandProfile
import Conditions
import GatewayBus
import GatewayConfiguration
import GatewayModel
import IngestAPI

/// Which of the server's bands a person means, and what stands in the way of taking one over. Pure.
struct ReplacePlan {
    let request: ReplaceRequest
    let devices: [DeviceState]
    let bands: [BandStatus]
    let configuration: Configuration

    /// A band of the server that is to be taken over.
    struct Step {
        var state: DeviceState
        var device: DeviceID
        var address: BluetoothAddress?
        /// It is owned here already.
        var isOwned: Bool
        var problem: Problem?
    }

    func steps() throws(CommandFailure) -> [Step] {
        if request.isEverything {
            return devices.compactMap { state in
                DeviceID(state.deviceID).map { step(state, $0) }
            }.filter { !$0.isOwned }
        }
        var steps: [Step] = []
        for name in request.bands {
            let found = try find(name)
            guard !steps.contains(where: { $0.device == found.device }) else { continue }
            steps.append(step(found.state, found.device))
        }
        return steps
    }

    /// By device id, by the address that it tells or has here, else by the name that it has here.
    private func find(_ name: String) throws(CommandFailure) -> (state: DeviceState, device: DeviceID) {
        let address = BluetoothAddress(name)
        for state in devices {
            guard let device = DeviceID(state.deviceID) else { continue }
            if state.deviceID == name { return (state, device) }
            if let address, knownAddress(of: device) == address { return (state, device) }
        }
        if address == nil, let device = bands.band(called: name)?.device,
            let state = devices.first(where: { $0.deviceID == device.text })
        {
            return (state, device)
        }
        // What is no id is no band that could be taken over, and may be anything.
        let known = devices.compactMap { DeviceID($0.deviceID)?.text }.sorted().prefix(20).joined(
            separator: ", ")
        throw CommandFailure(
            .notFound,
            "the server knows no band '\(name)' of this account.\n"
                + "Known: \(known.isEmpty ? "none yet" : known).")
    }

    private func step(_ state: DeviceState, _ device: DeviceID) -> Step {
        let local = bands.first { $0.device == device }
        var step = Step(
            state: state, device: device, address: address(of: device),
            isOwned: local.map { $0.adopted && $0.mode == .own } ?? false)
        guard let address = step.address else {
            step.problem = .addressUnknown(device)
            return step
        }
        if let other = bands.first(where: { $0.address == address && $0.adopted && $0.device != device }) {
            step.problem = .addressTaken(address, by: other.device)
        } else if let configured = configuration.band(address) {
            if configured.device != device {
                step.problem = .configuredOtherwise(
                    address, "device_id = \(configured.device)", configured.lines)
            } else if configured.mode == .observe {
                step.problem = .configuredOtherwise(address, "mode = observe", configured.lines)
            }
        }
        return step
    }

    /// As the request says, for the one band that it names.
    private func address(of device: DeviceID) -> BluetoothAddress? {
        if let address = request.address, request.bands.count == 1 { return address }
        return knownAddress(of: device)
    }

    func knownAddress(of device: DeviceID) -> BluetoothAddress? {
        bands.first { $0.device == device }?.address
            ?? configuration.bands.first { $0.device == device }?.address ?? device.address
    }
}

extension DeviceID {
    /// What an id that was made of an address tells.
    var address: BluetoothAddress? {
        let digits = Array(text.dropFirst("band_".count))
        guard text.hasPrefix("band_"), digits.count == 12 else { return nil }
        let pairs = stride(from: 0, to: 12, by: 2).map { String(digits[$0..<$0 + 2]) }
        guard let address = BluetoothAddress(pairs.joined(separator: ":")), DeviceID(address) == self else {
            return nil
        }
        return address
    }
}

extension Problem {
    static func addressUnknown(_ device: DeviceID) -> Problem {
        Problem(.addressUnknown, ["device": device.text])
    }

    static func addressTaken(_ address: BluetoothAddress, by device: DeviceID) -> Problem {
        Problem(.addressTaken, ["address": address.description, "device": device.text])
    }

    static func configuredOtherwise(
        _ address: BluetoothAddress, _ what: String, _ lines: [Int]
    ) -> Problem {
        Problem(
            .inConfiguration,
            [
                "what": what, "address": address.description,
                "lines": lines.map(String.init).joined(separator: ", "),
            ])
    }

    static func leaseHeld(_ lease: BandLease) -> Problem {
        Problem(
            .leaseHeld,
            ["holder": lease.holder, "until": APITime(milliseconds: lease.until.milliseconds).description])
    }
}
