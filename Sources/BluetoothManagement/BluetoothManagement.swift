import CBluetooth
import CLinux
import Glibc

/// What became of a request to the kernel's Bluetooth management interface.
public enum ManagementOutcome: Equatable, Sendable {
    case done
    /// The process lacks CAP_NET_ADMIN. Nothing is missed but speed.
    case notPermitted
    /// No Bluetooth in this kernel or namespace, no such adapter, or no answer.
    case unavailable
}

/// Requests over the HCI control socket, beside bluetoothd.
public enum BluetoothManagement {
    /// Asks that the next links to the bands use short intervals. It does not touch a live link.
    ///
    /// Before Linux 6.11 each call forgets the entries of the one before: name all bands in one call. It waits at
    /// most for the deadline, so call it away from shared threads.
    public static func requestShortInterval(
        for bands: [ManagementAddress], adapter: UInt16, parameters: ConnectionParameters = .bulk,
        deadlineMilliseconds: Int32 = 1_000
    ) -> ManagementOutcome {
        guard parameters.isValid else { return .unavailable }
        let descriptor = socket(
            AF_BLUETOOTH, Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue), BTPROTO_HCI)
        guard descriptor >= 0 else { return outcome(of: errno) }
        defer { close(descriptor) }
        // HCI_DEV_NONE, HCI_CHANNEL_CONTROL
        var address = sockaddr_hci(
            hci_family: sa_family_t(AF_BLUETOOTH), hci_dev: 0xffff, hci_channel: 3)
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_hci>.size))
            }
        }
        guard bound == 0 else { return outcome(of: errno) }
        let packet = ManagementPacket.loadConnectionParameters(adapter: adapter, bands, parameters)
        guard send(descriptor, packet, packet.count, Int32(MSG_DONTWAIT)) == packet.count else {
            return outcome(of: errno)
        }
        return answer(on: descriptor, within: deadlineMilliseconds)
    }

    /// Reads past other events until the answer comes.
    private static func answer(on descriptor: Int32, within milliseconds: Int32) -> ManagementOutcome {
        var buffer = [UInt8](repeating: 0, count: 1_024)
        let end = now() + Int64(milliseconds)
        // The socket also brings other programs' events: a bound on them, not only on time.
        for _ in 0..<64 {
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let left = Int32(clamping: max(0, end - now()))
            guard poll(&entry, 1, left) == 1 else { return .unavailable }
            let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            guard count > 0 else { return .unavailable }
            guard
                let status = ManagementPacket.status(
                    of: ManagementPacket.loadConnectionParameters, in: buffer[..<count])
            else { continue }
            // 0x14: Permission Denied
            return status == 0 ? .done : status == 0x14 ? .notPermitted : .unavailable
        }
        return .unavailable
    }

    private static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }

    private static func outcome(of error: Int32) -> ManagementOutcome {
        error == EPERM || error == EACCES ? .notPermitted : .unavailable
    }
}
