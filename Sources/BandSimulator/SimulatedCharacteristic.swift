import DBus

/// A characteristic of a device as BlueZ keeps it, across connections. Used on the simulator's queue only.
final class SimulatedCharacteristic: @unchecked Sendable {
    let definition: GATTLayout.Characteristic
    let path: String
    /// Bus names with a StartNotify session; they survive a lost link.
    var sessions: [String] = []
    var acquiredNotify: PacketSocket?
    var acquiredWrite: PacketSocket?
    /// An AcquireNotify is under way, or its CCC write was refused and 5.66 forgot it.
    var isAcquiring = false
    /// The read under way: equal offsets share it.
    var read: (offset: Int, calls: [UInt64])?
    var write: UInt64?
    /// StartNotify and AcquireNotify calls whose CCC write is under way.
    var subscribing: [UInt64] = []

    init(_ definition: GATTLayout.Characteristic, service: String) {
        self.definition = definition
        path = service + "/char" + GATTPath.hexadecimal(definition.handle)
    }

    var isNotifying: Bool { !sessions.isEmpty || acquiredNotify != nil }

    /// The link is gone: what belonged to it goes too. Returns the calls that waited.
    func linkLost() -> [UInt64] {
        let waiting = (read?.calls ?? []) + (write.map { [$0] } ?? []) + subscribing
        subscribing = []
        read = nil
        write = nil
        isAcquiring = false
        acquiredNotify?.shut()
        acquiredNotify = nil
        acquiredWrite?.shut()
        acquiredWrite = nil
        return waiting
    }
}

/// Paths as BlueZ builds them.
enum GATTPath {
    static func hexadecimal(_ handle: UInt16) -> String {
        let digits = String(handle, radix: 16)
        return String(repeating: "0", count: 4 - digits.utf8.count) + digits
    }
}
