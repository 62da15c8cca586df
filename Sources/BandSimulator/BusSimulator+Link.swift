import Dispatch

// A band's one link, which several hosts may want: while one has it, the band does not advertise and answers nobody else.

extension BusSimulator {
    func takeLink(_ device: SimulatedDevice) {
        device.keeper.linked = device
        device.keeper.band.linkUp(mtu: device.mtu)
    }

    /// Nothing happens if the link is another host's.
    func giveLink(_ device: SimulatedDevice) {
        guard device.keeper.linked === device else { return }
        device.keeper.linked = nil
        device.keeper.band.linkDown()
        device.keeper.touch()
        for other in device.keeper.devices where other !== device {
            other.reach? { $0.becameConnectable(other) }
        }
    }

    /// It advertises again.
    func becameConnectable(_ device: SimulatedDevice) {
        guard device.isConnectable else { return }
        hear(device)
        if device.link == .connecting { establishSoon(device) }
        connectByProfile(device)
    }

    /// The band ended its link, whoever has it.
    func dropLink(_ device: SimulatedDevice) {
        withLinked(device) { $0.linkLost($1, reason: .remote) }
    }

    /// Where the band's link is, if there is one.
    func withLinked(
        _ device: SimulatedDevice,
        _ body: @escaping @Sendable (isolated BusSimulator, SimulatedDevice) -> Void
    ) {
        guard let linked = device.keeper.linked else { return }
        linked.reach? { body($0, linked) }
    }
}
