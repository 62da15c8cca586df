import BandProfile
import Testing

@testable import BlueZModel

@Suite struct BlueZPathTests {
    @Test(arguments: [
        "/org/bluez/hci0", "/org/bluez/hci12", "/org/bluez/hci0/dev_F0_F1_F2_F3_F4_F5",
        "/org/bluez/hci1/dev_00_00_00_00_00_0A/service000e",
        "/org/bluez/hci0/dev_F0_F1_F2_F3_F4_F5/service000e/char0011",
        "/org/bluez/hci0/dev_F0_F1_F2_F3_F4_F5/service000e/char0011/desc0013",
    ])
    func aPathIsWrittenAsItWasRead(_ text: String) throws {
        #expect(try #require(BlueZPath(text)).description == text)
    }

    @Test func thePartsAreThoseOfTheText() throws {
        let path = try #require(
            BlueZPath("/org/bluez/hci2/dev_F0_F1_F2_F3_F4_F5/service000e/char00ff/desc0100"))
        #expect(path.adapter == 2 && path.adapterName == "hci2")
        #expect(path.device == BluetoothAddress("F0:F1:F2:F3:F4:F5"))
        #expect(path.service == 0x0e && path.characteristic == 0xff && path.descriptor == 0x100)
    }

    @Test(arguments: [
        "", "/", "/org", "/org/bluez", "/org/bluez/", "/org/bluez/hci", "/org/bluez/hci00",
        "/org/bluez/hci-1",
        "/org/bluez/hci0/", "/org/bluez/hci70000", "/org/blues/hci0", "org/bluez/hci0",
        "/org/bluez/hci0/dev_F0_F1_F2_F3_F4", "/org/bluez/hci0/dev_F0:F1:F2:F3:F4:F5",
        "/org/bluez/hci0/dev_f0_F1_F2_F3_F4_F5", "/org/bluez/hci0/F0_F1_F2_F3_F4_F5",
        "/org/bluez/hci0/dev_F0_F1_F2_F3_F4_F5/service00e",
        "/org/bluez/hci0/dev_F0_F1_F2_F3_F4_F5/service000E",
        "/org/bluez/hci0/dev_F0_F1_F2_F3_F4_F5/service000e/char",
        "/org/bluez/hci0/dev_F0_F1_F2_F3_F4_F5/char0011",
        "/org/bluez/hci0/dev_F0_F1_F2_F3_F4_F5/service000e/char0011/desc+013",
        "/org/bluez/hci0/dev_F0_F1_F2_F3_F4_F5/service000e/char0011/desc0013/x",
    ])
    func whatBlueZWouldNotWriteIsNoPath(_ text: String) {
        #expect(BlueZPath(text) == nil)
    }
}
