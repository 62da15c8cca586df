import Testing

@testable import BluetoothManagement

@Suite struct ManagementTests {
    @Test func thePacketIsThatOfTheKernelsInterface() {
        let parameters = ConnectionParameters(
            minimumInterval: 6, maximumInterval: 9, latency: 0, supervisionTimeout: 200)
        let band = ManagementAddress(octets: [0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5], isRandom: true)
        // Seen on the control socket of Linux 6.1.
        #expect(
            ManagementPacket.loadConnectionParameters(adapter: 0, [band], parameters) == [
                0x35, 0, 0, 0, 0x11, 0, 1, 0, 0xf5, 0xf4, 0xf3, 0xf2, 0xf1, 0xf0, 2, 6, 0, 9, 0, 0, 0, 0xc8,
                0,
            ])
    }

    private static let answers: [(packet: [UInt8], status: UInt8?)] = [
        ([1, 0, 0, 0, 3, 0, 0x35, 0, 0], 0), ([2, 0, 0, 0, 3, 0, 0x35, 0, 0x14], 0x14),
        ([2, 0, 0, 0, 3, 0, 0x36, 0, 0x14], nil), ([0x0b, 0, 0, 0, 3, 0, 0x35, 0, 0], nil),
        ([1, 0, 0, 0, 3, 0, 0x35, 0], nil), ([], nil),
    ]

    @Test func onlyTheAnswerToOurRequestCounts() {
        for (packet, status) in Self.answers {
            #expect(ManagementPacket.status(of: 0x0035, in: packet) == status, "\(packet)")
        }
    }

    @Test(arguments: [
        (6, 12, 0, 400, true), (5, 12, 0, 400, false), (12, 6, 0, 400, false), (6, 3_200, 0, 400, false),
        (6, 12, 0, 9, false), (6, 12, 133, 400, false), (6, 12, 132, 400, true), (6, 3_201, 0, 3_200, false),
    ])
    func whatTheKernelWouldSkipIsNotSent(
        _ min: Int, _ max: Int, _ latency: Int, _ timeout: Int, _ valid: Bool
    ) {
        let parameters = ConnectionParameters(
            minimumInterval: UInt16(min), maximumInterval: UInt16(max), latency: UInt16(latency),
            supervisionTimeout: UInt16(timeout))
        #expect(parameters.isValid == valid)
    }

    @Test func whereItIsNotPossibleNothingHappens() {
        let band = ManagementAddress(octets: [0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5], isRandom: true)
        // Adapter 0xfffe does not exist anywhere, so this is harmless on a machine with Bluetooth too.
        let outcome = BluetoothManagement.requestShortInterval(for: [band], adapter: 0xfffe)
        #expect(outcome == .unavailable || outcome == .notPermitted)
    }
}
