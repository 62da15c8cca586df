import BandProfile
import Testing

/// Band History Profile 1, "Streams" and "Ack".
struct ControlPointTests {
    @Test(arguments: [
        ("01 01000000", ControlPointCommand.sendFrom(1)),
        ("01 00000000", .sendFrom(0)),
        ("01 0dd0e5b5", .sendFrom(0xb5e5_d00d)),
        ("01 ffffffff", .sendFrom(.max)),
        ("02", .abort),
    ])
    func commandsAreAnOpcodeAndItsArgument(hex: String, command: ControlPointCommand) throws {
        #expect(try ControlPointCommand(decoding: bytes(hex)) == command)
        #expect(command.encoded == bytes(hex))
    }

    @Test(arguments: [
        ("", ControlPointError.wrongLength), ("01", .wrongLength), ("01 010000", .wrongLength),
        ("01 01000000 00", .wrongLength), ("02 00", .wrongLength), ("00", .unknownOpcode),
        ("03 01000000", .unknownOpcode), ("ff", .unknownOpcode),
    ])
    func anythingElseIsRefusedAsTheBandWould(hex: String, error: ControlPointError) {
        var thrown: ControlPointError?
        do { _ = try ControlPointCommand(decoding: bytes(hex)) } catch { thrown = error }
        #expect(thrown == error)
    }

    @Test func applicationErrorsHaveTheProfilesCodes() {
        #expect(ControlPointError(rawValue: 0x80) == .busy)
        #expect(ControlPointError(rawValue: 0x81) == .unknownOpcode)
        #expect(ControlPointError(rawValue: 0x82) == .wrongLength)
        #expect(ControlPointError(rawValue: 0x83) == .notificationsNotEnabled)
        #expect(ControlPointError(rawValue: 0x84) == nil)
    }

    @Test(arguments: [
        (UInt32(0), "00000000"), (1, "01000000"), (0x0102_0304, "04030201"), (.max, "ffffffff"),
    ])
    func anAckIsFourBytes(seq: UInt32, hex: String) {
        #expect(Ack.encode(seq) == bytes(hex))
        #expect(Ack.decode(bytes(hex)) == seq)
    }

    @Test(arguments: [0, 1, 2, 3, 5, 8])
    func anAckOfAnotherLengthIsNone(length: Int) {
        #expect(Ack.decode([UInt8](repeating: 0, count: length)) == nil)
    }
}
