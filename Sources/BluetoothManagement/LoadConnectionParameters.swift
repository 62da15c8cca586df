/// How a link's radio events are spaced. Bluetooth Core 5.4, Vol 6, Part B, 4.5.1.
public struct ConnectionParameters: Equatable, Sendable {
    /// Units of 1.25 ms.
    public var minimumInterval: UInt16
    public var maximumInterval: UInt16
    /// Events that the band may skip.
    public var latency: UInt16
    /// Units of 10 ms.
    public var supervisionTimeout: UInt16

    public init(minimumInterval: UInt16, maximumInterval: UInt16, latency: UInt16, supervisionTimeout: UInt16)
    {
        self.minimumInterval = minimumInterval
        self.maximumInterval = maximumInterval
        self.latency = latency
        self.supervisionTimeout = supervisionTimeout
    }

    /// 7.5 to 15 ms for bulk; 4 s until a silent link is given up, instead of the kernel's 420 ms.
    public static let bulk = ConnectionParameters(
        minimumInterval: 6, maximumInterval: 12, latency: 0, supervisionTimeout: 400)

    /// The kernel skips invalid entries and reports success, so they are caught here.
    public var isValid: Bool {
        guard minimumInterval >= 6, minimumInterval <= maximumInterval, maximumInterval <= 3_200,
            (10...3_200).contains(supervisionTimeout), maximumInterval < 8 * supervisionTimeout
        else { return false }
        let bound = 4 * Int(supervisionTimeout) / Int(maximumInterval) - 1
        return latency <= 499 && Int(latency) <= bound
    }
}

/// A band as the kernel names it.
public struct ManagementAddress: Hashable, Sendable {
    /// Six octets, most significant first, as they are printed.
    public var octets: [UInt8]
    public var isRandom: Bool

    public init(octets: [UInt8], isRandom: Bool) {
        self.octets = octets
        self.isRandom = isRandom
    }
}

/// Bytes of the kernel's management interface. `doc/mgmt-api.txt` of BlueZ, "Load Connection Parameters".
enum ManagementPacket {
    static let loadConnectionParameters: UInt16 = 0x0035
    static let headerSize = 6

    /// Entries beyond what one packet holds, or that are no address, are left out.
    static func loadConnectionParameters(
        adapter: UInt16, _ bands: [ManagementAddress], _ parameters: ConnectionParameters
    ) -> [UInt8] {
        let bands = bands.filter { $0.octets.count == 6 }.prefix(4_000)
        var payload = littleEndian(UInt16(bands.count))
        for band in bands {
            payload += band.octets.reversed()
            // 1 = LE public, 2 = LE random.
            payload.append(band.isRandom ? 2 : 1)
            payload += littleEndian(parameters.minimumInterval) + littleEndian(parameters.maximumInterval)
            payload += littleEndian(parameters.latency) + littleEndian(parameters.supervisionTimeout)
        }
        return littleEndian(loadConnectionParameters) + littleEndian(adapter)
            + littleEndian(UInt16(payload.count)) + payload
    }

    /// The status in a Command Complete (1) or Command Status (2) event for the opcode; nil for any other packet.
    static func status(of opcode: UInt16, in packet: some RandomAccessCollection<UInt8>) -> UInt8? {
        let bytes = Array(packet.prefix(headerSize + 3))
        guard bytes.count == headerSize + 3 else { return nil }
        let event = UInt16(bytes[0]) | UInt16(bytes[1]) << 8
        let about = UInt16(bytes[6]) | UInt16(bytes[7]) << 8
        guard event == 1 || event == 2, about == opcode else { return nil }
        return bytes[8]
    }

    private static func littleEndian(_ value: UInt16) -> [UInt8] {
        [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)]
    }
}
