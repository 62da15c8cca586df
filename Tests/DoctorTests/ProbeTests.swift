import BandProfile
import Conditions
import DBus
import Doctor
import Foundation
import GatewayModel
import RadioSwitches
import Testing

@testable import DoctorProbes

private struct ScriptedProbe: DoctorProbe {
    var check: DoctorCheck
    var deadline: Duration
    var body: @Sendable () async throws(ProbeRefusal) -> FactUpdate

    func gather() async throws(ProbeRefusal) -> FactUpdate { try await body() }
}

private func empty() -> DoctorFacts { DoctorFacts(configuration: ConfigurationFacts(file: "f")) }

@Suite struct ExaminationTests {
    @Test func aProbeThatHangsIsNamedAndHoldsUpNobody() async {
        let facts = await Examination.run(
            [
                ScriptedProbe(check: .disk, deadline: .milliseconds(50)) { () throws(ProbeRefusal) in
                    // Deaf to being cancelled, as a thread in the kernel is.
                    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                        DispatchQueue.global().asyncAfter(deadline: .now() + 3) { continuation.resume() }
                    }
                    return { $0.disk = DiskFacts(directory: "late") }
                },
                ScriptedProbe(check: .clock, deadline: .seconds(60)) { () throws(ProbeRefusal) in
                    { $0.clock = .plausible }
                },
                ScriptedProbe(check: .server, deadline: .seconds(60)) { () throws(ProbeRefusal) in
                    throw ProbeRefusal("no access")
                },
            ], on: empty())
        #expect(facts.disk == nil)
        #expect(facts.unfinished == [.disk: .milliseconds(50)])
        #expect(facts.clock == .plausible)
        #expect(facts.done == [.clock])
        #expect(facts.notPermitted == [.server: "no access"])
    }
}

/// A directory that stands for `/`.
private final class FakeRoot: Sendable {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "doctor-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ name: String, _ text: String, mode: Int = 0o644) throws {
        let file = URL(fileURLWithPath: path + name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.write(to: file, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
    }

    var places: DoctorPlaces { DoctorPlaces(root: path) }
}

private func facts(_ probe: any DoctorProbe) async throws -> DoctorFacts {
    var facts = empty()
    try await probe.gather()(&facts)
    return facts
}

@Suite struct ProbeTests {
    @Test func rfkillIsReadAsTheKernelShowsIt() async throws {
        let root = try FakeRoot()
        for (name, type, soft, hard) in [
            ("rfkill0", "wlan", "1", "0"), ("rfkill1", "bluetooth", "1", "0"),
            ("rfkill2", "bluetooth", "0", "1"),
        ] {
            try root.write("/sys/class/rfkill/\(name)/type", type + "\n")
            try root.write("/sys/class/rfkill/\(name)/name", "hci\(name.suffix(1))\n")
            try root.write("/sys/class/rfkill/\(name)/soft", soft + "\n")
            try root.write("/sys/class/rfkill/\(name)/hard", hard + "\n")
        }
        #expect(
            try await facts(RadioSwitchProbe(places: root.places)).rfkill == [
                RadioSwitch(name: "hci1", isSoftBlocked: true, isHardBlocked: false),
                RadioSwitch(name: "hci2", isSoftBlocked: false, isHardBlocked: true),
            ])
        #expect(try await facts(RadioSwitchProbe(places: DoctorPlaces(root: "/nowhere"))).rfkill == [])
    }

    /// What the daemon asks. The kernel gives no number twice: a dongle that came and went often has a high one.
    @Test func oneSwitchOfBluetoothThatIsSetBlocksIt() throws {
        let root = try FakeRoot()
        let directory = root.places.rfkill
        #expect(!RadioSwitches.blockBluetooth(in: directory))
        func write(_ name: String, _ type: String, soft: String = "0", hard: String = "0") throws {
            for (file, text) in [("type", type), ("soft", soft), ("hard", hard)] {
                try root.write("/sys/class/rfkill/\(name)/\(file)", text + "\n")
            }
        }
        try write("rfkill0", "wlan", soft: "1")
        try write("rfkill412", "bluetooth")
        #expect(!RadioSwitches.blockBluetooth(in: directory))
        try write("rfkill412", "bluetooth", soft: "1")
        #expect(RadioSwitches.blockBluetooth(in: directory))
        try write("rfkill412", "bluetooth", hard: "1")
        #expect(RadioSwitches.blockBluetooth(in: directory))
    }

    @Test func exchangeMTUIsReadFromTheSectionThatCounts() async throws {
        let root = try FakeRoot()
        let file = root.path + "/etc/bluetooth/main.conf"
        #expect(
            try await facts(MainConfigurationProbe(places: root.places)).mainConfiguration
                == MainConfigurationFacts(file: file))
        try root.write(
            "/etc/bluetooth/main.conf",
            "[General]\nExchangeMTU = 1\n[GATT]\n#ExchangeMTU = 2\nExchangeMTU = 185\n")
        #expect(
            try await facts(MainConfigurationProbe(places: root.places)).mainConfiguration
                == MainConfigurationFacts(file: file, exchangeMTU: "185"))
    }

    @Test func theVersionIsWhatTheProgramPrints() async throws {
        let root = try FakeRoot()
        let probe = BluetoothdVersionProbe(bus: .address("unix:path=/nonexistent"), places: root.places)
        #expect(try await facts(probe).bluetoothd == BluetoothdFacts(version: nil))
        try root.write(
            "/usr/libexec/bluetooth/bluetoothd", "#!/bin/sh\n[ \"$1\" = --version ] && echo 5.72\n",
            mode: 0o755)
        #expect(try await facts(probe).bluetoothd == BluetoothdFacts(version: BlueZVersionNumber(5, 72)))
    }

    @Test func aProgramThatPrintsNothingIsEnded() throws {
        let root = try FakeRoot()
        try root.write("/hangs", "#!/bin/sh\nexec sleep 600\n", mode: 0o755)
        #expect(ProgramOutput.firstLine(of: root.path + "/hangs", "--version", within: 200) == nil)
        #expect(ProgramOutput.firstLine(of: root.path + "/missing", "--version", within: 200) == nil)
    }

    @Test func theDiskIsMeasuredWithoutATrace() async throws {
        let root = try FakeRoot()
        let disk = try #require(try await facts(DiskProbe(directory: root.path)).disk)
        #expect(!disk.syncMicroseconds.isEmpty && disk.syncMicroseconds.count <= DiskProbe.writes)
        #expect(disk.syncMicroseconds.allSatisfy { $0 >= 0 })
        #expect(!disk.ranOutOfTime || disk.syncMicroseconds.count < DiskProbe.writes)
        let free = try #require(disk.freeBytes)
        // The log may grow to 8 MiB and be moved into the database, and 2 MiB are for temporary files.
        #expect(disk.roomBytes == free - 18 << 20)
        #expect(free > 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: root.path) == [])
    }

    @Test func aDirectoryThatIsMissingIsNoRefusal() async throws {
        let disk = try await facts(DiskProbe(directory: "/nowhere/at/all")).disk
        #expect(disk == DiskFacts(directory: "/nowhere/at/all"))
    }

    @Test func theClockIsJudgedByKernelConfigurationAndBuild() {
        let after = Int(Bandferry.written.milliseconds / 1000) + 1
        #expect(ClockProbe.trust(isSynchronised: true, isTrusted: false, wall: after) == .synchronised)
        #expect(ClockProbe.trust(isSynchronised: false, isTrusted: false, wall: after) == .plausible)
        #expect(ClockProbe.trust(isSynchronised: false, isTrusted: true, wall: after) == .synchronised)
        #expect(ClockProbe.trust(isSynchronised: true, isTrusted: false, wall: after - 2) == .implausible)
    }
}

@Suite struct BluetoothViewTests {
    private func object(_ path: String, _ interface: String, _ properties: BusProperties) -> BusEntry {
        BusEntry(
            .objectPath(path),
            .dictionary(
                key: "s", value: "a{sv}", [BusEntry(.string(interface), .properties(properties))]))
    }

    @Test func theTreeIsReadInAnyOrder() throws {
        let device = "/org/bluez/hci0/dev_F0_F1_F2_F3_F4_F5"
        let entries = [
            object(
                device + "/service000e/char0013", "org.bluez.GattCharacteristic1",
                ["UUID": .string(BandHistory.historyData), "NotifyAcquired": .bool(true)]),
            object(
                device + "/service000e/char0011", "org.bluez.GattCharacteristic1",
                ["UUID": .string(BandHistory.info)]),
            object(
                device, "org.bluez.Device1",
                [
                    "Connected": .bool(true), "Paired": .bool(true), "ServicesResolved": .bool(true),
                    "RSSI": .int16(-70),
                    "UUIDs": .array(element: "s", [.string(BandHistory.service.uppercased())]),
                ]),
            object(
                "/org/bluez/hci1/dev_F0_F1_F2_F3_F4_F5", "org.bluez.Device1",
                ["Paired": .bool(true), "Bonded": .bool(false), "RSSI": .string("odd")]),
            object(
                "/org/bluez/hci0", "org.bluez.Adapter1",
                ["Address": .string("00:1A:7D:DA:71:13"), "Powered": .bool(true)]),
            object("/org/bluez/hci1", "org.bluez.Adapter1", ["Address": .string("no address")]),
        ]
        let address = try #require(BluetoothAddress("F0:F1:F2:F3:F4:F5"))
        for entries in [entries, entries.reversed()] {
            let view = BluetoothView(reading: [.dictionary(key: "o", value: "a{sa{sv}}", entries)])
            #expect(view.adapters.map(\.name) == ["hci0"] && view.adapters.allSatisfy(\.isPowered))
            var first = BluetoothView.Device(address: address, adapter: "hci0")
            first.isBand = true
            first.isConnected = true
            first.isBonded = true
            first.areServicesResolved = true
            first.rssi = -70
            first.showsHistory = true
            first.isNotifying = true
            #expect(view.devices == [first, BluetoothView.Device(address: address, adapter: "hci1")])
        }
        #expect(BluetoothView(reading: []) == BluetoothView())
    }
}
