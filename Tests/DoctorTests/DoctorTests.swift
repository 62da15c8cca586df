import BandProfile
import Conditions
import GatewayModel
import Testing
import UploadDecisions

@testable import Doctor

private let address = BluetoothAddress("F0:F1:F2:F3:F4:F5") ?? BluetoothAddress(bits: 0)
private let adapterAddress = BluetoothAddress("00:1A:7D:DA:71:13") ?? BluetoothAddress(bits: 1)

/// A host where all is well.
private func healthy() -> DoctorFacts {
    var facts = DoctorFacts(configuration: ConfigurationFacts(file: "/etc/bandferry/bandferry.conf"))
    var status = GatewayStatus(version: "1", stateDirectory: "/var/lib/bandferry", running: true)
    var band = BandStatus(address: address, device: DeviceID(address), mode: .own)
    band.name = "Anna"
    (band.nextSeq, band.newestSeq) = (11, 10)
    band.lastContact = Timestamp(milliseconds: 2_000_000_000_000)
    band.newestRecordedAt = Timestamp(milliseconds: 1_999_999_000_000)
    status.bands = [band]
    facts.daemon = DaemonFacts(.running, status: status)
    var device = BluetoothView.Device(address: address, adapter: "hci0")
    device.isBand = true
    device.isBonded = true
    facts.bluetooth = .running(
        BluetoothView(
            adapters: [.init(address: adapterAddress, name: "hci0", isPowered: true)], devices: [device]))
    facts.rfkill = [RadioSwitch(name: "hci0", isSoftBlocked: false, isHardBlocked: false)]
    facts.bluetoothd = BluetoothdFacts(version: BlueZVersionNumber(5, 87))
    facts.mainConfiguration = MainConfigurationFacts(file: "/etc/bluetooth/main.conf", exchangeMTU: "517")
    facts.clock = .synchronised
    facts.disk = DiskFacts(
        directory: "/var/lib/bandferry", syncMicroseconds: Array(repeating: 4_000, count: 100),
        freeBytes: 8_000_000_000)
    facts.server = ServerFacts()
    facts.done = DoctorCheck.allCases
    return facts
}

extension DoctorFacts {
    fileprivate var view: BluetoothView {
        get { if case .running(let view)? = bluetooth { view } else { BluetoothView() } }
        set { bluetooth = .running(newValue) }
    }

    fileprivate var band: BandStatus {
        get {
            daemon.status?.bands.first ?? BandStatus(address: address, device: DeviceID(address), mode: .own)
        }
        set { daemon.status?.bands = [newValue] }
    }
}

/// What is broken, and what the doctor has to say of it.
private struct Case: Sendable, CustomTestStringConvertible {
    var code: String
    var severity: Condition.Severity
    /// In what it says, and in the fix.
    var says: String
    var fix: String
    var breaking: @Sendable (inout DoctorFacts) -> Void

    init(
        _ code: String, _ severity: Condition.Severity, says: String, fix: String,
        _ breaking: @escaping @Sendable (inout DoctorFacts) -> Void
    ) {
        self.code = code
        self.severity = severity
        self.says = says
        self.fix = fix
        self.breaking = breaking
    }

    var testDescription: String { "\(code): \(says)" }
}

private let cases: [Case] = [
    // Bluetooth
    Case("adapter_missing", .error, says: "no Bluetooth adapter", fix: "Plug a Bluetooth dongle in") {
        $0.view = BluetoothView()
    },
    Case(
        "adapter_missing", .error, says: "00:00:00:00:00:07 is not there; there is 00:1A:7D:DA:71:13 (hci0)",
        fix: "`adapter` under [gateway] in /etc/bandferry/bandferry.conf"
    ) {
        $0.configuration.adapters = [BluetoothAddress(bits: 7)]
    },
    Case(
        "adapter_off", .error, says: "00:1A:7D:DA:71:13 (hci0) is switched off",
        fix: "Run `bluetoothctl`, and at its prompt `select 00:1A:7D:DA:71:13` and then `power on`"
    ) {
        $0.view.adapters[0].isPowered = false
    },
    Case(
        "adapter_blocked", .error, says: "use hci0: the Bluetooth adapter is blocked by rfkill",
        fix: "Run `rfkill unblock bluetooth`."
    ) {
        $0.rfkill = [RadioSwitch(name: "hci0", isSoftBlocked: true, isHardBlocked: false)]
        $0.view.adapters[0].isPowered = false
    },
    Case("adapter_blocked_hard", .error, says: "hci0", fix: "no command can do it") {
        $0.rfkill = [RadioSwitch(name: "hci0", isSoftBlocked: true, isHardBlocked: true)]
    },
    Case("bus_unavailable", .error, says: "can't be reached: No such file", fix: "systemctl start dbus") {
        $0.bluetooth = .noBus("No such file")
    },
    Case("bus_not_permitted", .warning, says: "talk to bluetoothd", fix: "usermod -aG bluetooth USER") {
        $0.bluetooth = .notPermitted("Rejected")
    },
    Case("bluetoothd_gone", .error, says: "bluetoothd is not running", fix: "Run `systemctl start bluetooth`")
    {
        $0.bluetooth = .notRunning
    },
    Case(
        "no_answer", .warning, says: "BlueZ did not answer in time (no reply)",
        fix: "systemctl restart bluetooth"
    ) {
        $0.bluetooth = .silent("no reply")
    },
    Case(
        "bluetoothd_old", .warning, says: "bluetoothd is 5.50; Bandferry needs 5.66 or later",
        fix: "Upgrade the distribution"
    ) {
        $0.bluetoothd = BluetoothdFacts(version: BlueZVersionNumber(5, 50))
    },
    Case(
        "bluetoothd_lacks", .notice, says: "bluetoothd is 5.66: it does not say why a link was lost",
        fix: "Nothing has to be done"
    ) {
        $0.bluetoothd = BluetoothdFacts(version: BlueZVersionNumber(5, 66))
    },
    Case("bluetoothd_version_unknown", .notice, says: "could not be found out", fix: "bluetoothd --version") {
        $0.bluetoothd = BluetoothdFacts(version: nil)
    },
    Case(
        "exchange_mtu", .warning,
        says: "/etc/bluetooth/main.conf sets ExchangeMTU = 23: a packet carries 1 records instead of 15",
        fix: "Set `ExchangeMTU = 517` under [GATT] in /etc/bluetooth/main.conf"
    ) {
        $0.mainConfiguration?.exchangeMTU = "23"
    },
    Case("slots_used_up", .warning, says: "holds 2 links, and 2", fix: "second adapter") {
        $0.configuration.maxLinks = 2
        $0.view.devices[0].isConnected = true
        $0.band.connected = true
        var other = BluetoothView.Device(address: BluetoothAddress(bits: 9), adapter: "hci0")
        other.isConnected = true
        $0.view.devices.append(other)
    },
    // Bands
    Case(
        "held_by_another_program", .error, says: "holds the notifications of band F0:F1:F2:F3:F4:F5",
        fix: "bluetoothctl disconnect F0:F1:F2:F3:F4:F5"
    ) {
        $0.view.devices[0].isConnected = true
        $0.view.devices[0].isNotifying = true
    },
    Case(
        "bond_stale", .error, says: "keeps a bond with band F0:F1:F2:F3:F4:F5 that does not work",
        fix: "Put the band into pairing mode and run `bandferry pair F0:F1:F2:F3:F4:F5`"
    ) {
        $0.band.problem = Problem(
            .bondLost, ["operation": "connect", "detail": "", "band": "F0:F1:F2:F3:F4:F5"])
    },
    Case(
        "cache_stale", .error, says: "without the characteristics of Band History",
        fix: "rm -f /var/lib/bluetooth/*/cache/F0:F1:F2:F3:F4:F5"
    ) {
        $0.view.devices[0].isConnected = true
        $0.view.devices[0].areServicesResolved = true
    },
    Case(
        "weak_signal", .warning, says: "is heard with -92 dBm only",
        fix: "Bring the band and the gateway nearer"
    ) {
        $0.view.devices[0].rssi = -92
    },
    Case("stopped_recording", .warning, says: "its newest record is 172800 s older", fix: "Wear the band") {
        $0.band.newestRecordedAt = Timestamp(milliseconds: 2_000_000_000_000 - 172_800_000)
    },
    Case("mtu_small", .warning, says: "The MTU is 23", fix: "ExchangeMTU = 517") { $0.band.mtu = 23 },
    // The host
    Case("clock_unsynchronised", .warning, says: "not synchronised", fix: "timedatectl set-ntp true") {
        $0.clock = .plausible
    },
    Case("clock_implausible", .error, says: "can't be right", fix: "timedatectl set-ntp true") {
        $0.clock = .implausible
    },
    Case(
        "disk_slow", .warning,
        says: "of 100 synced writes of 4 kB the 99th percentile took 300 ms, the slowest 900 ms",
        fix: "better medium"
    ) {
        $0.disk?.syncMicroseconds = Array(repeating: 4_000, count: 98) + [900_000, 300_000]
    },
    Case(
        "space_low", .warning, says: "400 MB are free under /var/lib/bandferry",
        fix: "Free space on this file system"
    ) {
        $0.disk?.freeBytes = 400_000_000
    },
    Case("space_gone", .error, says: "10 MB are free", fix: "at once") { $0.disk?.freeBytes = 10_999_999 },
    Case(
        "space_gone", .error,
        says: "80 MB are free under /var/lib/bandferry: that is less than free_space_floor (67 MB)",
        fix: "or lower free_space_floor under [storage]."
    ) {
        $0.configuration.freeSpaceFloor = 64 << 20
        $0.disk?.freeBytes = 80_000_000
        $0.disk?.roomBytes = 60_000_000
    },
    Case("space_low", .warning, says: "2100 MB are free", fix: "Free space on this file system") {
        $0.configuration.freeSpaceFloor = 2_000_000_000
        $0.disk?.freeBytes = 2_100_000_000
        $0.disk?.roomBytes = 2_080_000_000
    },
    Case(
        "disk_slow", .warning, says: "only 8 synced write(s) of 4 kB fitted",
        fix: "Put the state directory on a better medium"
    ) {
        $0.disk?.syncMicroseconds = Array(repeating: 1_000_000, count: 8)
        $0.disk?.ranOutOfTime = true
    },
    // The server
    Case(
        "host_clock_wrong", .error, says: "the clock is wrong", fix: "Set this machine's clock (timedatectl)"
    ) {
        $0.server?.problem = .certificateTime(
            CertificateTimeProblem(cause: .hostClock, certificate: nil, wall: .init(milliseconds: 0)))
    },
    Case("certificate_time", .error, says: "the certificate is at fault", fix: "renew the certificate") {
        $0.server?.problem = .certificateTime(
            CertificateTimeProblem(cause: .server, certificate: nil, wall: .init(milliseconds: 0)))
    },
    Case(
        "authentication_failed", .error, says: "does not accept the token",
        fix: "Put a valid gateway token into the token_file"
    ) {
        $0.server?.problem = .authenticationFailed
    },
    Case("network_timeout", .warning, says: "could not be reached", fix: "Check the network and the url") {
        $0.server?.problem = .noAnswer(.cannotConnect)
    },
    // The gateway
    Case(
        "configuration_invalid", .error, says: "/f:3: mode: is no mode",
        fix: "sudoedit /etc/bandferry/bandferry.conf"
    ) {
        $0.configuration.errors = ["/f:3: mode: is no mode"]
    },
    Case(
        "configuration_ignored", .warning, says: "/f:4: unknown key",
        fix: "sudoedit /etc/bandferry/bandferry.conf"
    ) {
        $0.configuration.warnings = ["/f:4: unknown key"]
    },
    Case("not_running", .error, says: "bandferryd is not running", fix: "systemctl start bandferryd") {
        $0.daemon.state = .stopped
    },
    Case("daemon_silent", .error, says: "does not answer: no reply", fix: "systemctl restart bandferryd") {
        $0.daemon = DaemonFacts(.silent, reason: "no reply")
    },
    Case(
        "not_on_bus", .warning, says: "can't be reached over the bus",
        fix: "/usr/share/dbus-1/system.d/org.bandferry.conf"
    ) {
        $0.daemon.state = .offTheBus
    },
    Case("bus_not_permitted", .warning, says: "talk to bandferryd", fix: "usermod -aG bandferry USER") {
        $0.daemon = DaemonFacts(.notPermitted)
    },
    Case("store_full", .error, says: "commit: the disk is full.", fix: "Free space") {
        $0.daemon.status?.problems = [
            Problem(.storeFull, ["operation": "commit", "message": "the disk is full"])
        ]
    },
    Case(
        "check_unfinished", .warning, says: "The check of the disk did not end within 15 s",
        fix: "Run `bandferry doctor` again"
    ) {
        $0.unfinished = [.disk: .seconds(15)]
    },
    Case(
        "check_not_permitted", .notice, says: "may not check the server: no access",
        fix: "sudo bandferry doctor"
    ) {
        $0.notPermitted = [.server: "no access"]
    },
]

@Suite struct DoctorTests {
    @Test func whereAllIsWellNothingIsFound() {
        let diagnosis = Doctor.diagnose(healthy())
        #expect(diagnosis.findings == [])
        #expect(diagnosis.worst == nil)
        #expect(diagnosis.checked == DoctorCheck.allCases)
        #expect(diagnosis.daemon == .running)
    }

    @Test(arguments: cases.indices) func eachFaultIsFoundWithItsFix(_ index: Int) {
        let fault = cases[index]
        var facts = healthy()
        fault.breaking(&facts)
        let findings = Doctor.diagnose(facts).findings
        let found = findings.first { $0.code == fault.code }
        #expect(found != nil, "\(fault.code) is missing in \(findings.map(\.code))")
        #expect(found?.severity == fault.severity)
        #expect(found?.problem.text.contains(fault.says) == true, "\(found?.problem.text ?? "")")
        #expect(found?.problem.remedy.contains(fault.fix) == true, "\(found?.problem.remedy ?? "")")
        for finding in findings {
            #expect(!(finding.problem.text + finding.problem.remedy).contains("{"), "\(finding)")
        }
    }

    /// One cause, one finding.
    @Test(arguments: cases.indices) func nothingElseIsFound(_ index: Int) {
        let fault = cases[index]
        var facts = healthy()
        fault.breaking(&facts)
        // The problem that the daemon itself shows for a lost bond stays beside the closer one.
        let besides = fault.code == "bond_stale" ? ["bond_lost"] : []
        #expect(Doctor.diagnose(facts).findings.map(\.code).sorted() == ([fault.code] + besides).sorted())
    }

    @Test func theGravestComesFirstAndAnotherOrderOfFactsChangesNothing() {
        var facts = healthy()
        facts.clock = .plausible
        facts.bluetoothd = BluetoothdFacts(version: nil)
        facts.disk?.freeBytes = 0
        #expect(
            Doctor.diagnose(facts).findings.map(\.code) == [
                "space_gone", "clock_unsynchronised", "bluetoothd_version_unknown",
            ])
        #expect(Doctor.diagnose(facts).worst == .error)
    }

    @Test func whatTheDaemonSaysTooIsSaidOnce() {
        var facts = healthy()
        facts.clock = .plausible
        facts.server?.problem = .forbidden
        facts.daemon.status?.problems = [
            Problem(.clockUnsynchronised), Problem(.forbidden), Problem(.uploadPaused, ["time": ""]),
        ]
        #expect(
            Doctor.diagnose(facts).findings.map(\.code) == [
                "forbidden", "clock_unsynchronised", "upload_paused",
            ])
    }

    /// Of which there may be several: each of the doctor's own, and not the daemon's beside them.
    @Test func ofABlockWithTwoSwitchesEachIsSaidOnce() {
        var facts = healthy()
        facts.rfkill = ["hci0", "hci1"].map {
            RadioSwitch(name: $0, isSoftBlocked: true, isHardBlocked: false)
        }
        facts.daemon.status?.problems = [Problem(.adapterBlocked, ["operation": "connect", "detail": ""])]
        let findings = Doctor.diagnose(facts).findings
        #expect(findings.map(\.code) == ["adapter_blocked", "adapter_blocked"])
        #expect(findings[0].problem.text.contains("hci0") && findings[1].problem.text.contains("hci1"))
    }

    @Test func twoBandsWithTheSameFaultAreTwoFindings() {
        var facts = healthy()
        var other = facts.band
        other.address = BluetoothAddress(bits: 3)
        other.name = nil
        var first = facts.band
        (first.gaps, other.gaps) = (1, 2)
        facts.daemon.status?.bands = [first, other]
        #expect(Doctor.diagnose(facts).findings.map(\.subject) == ["Anna", other.address.description])
    }

    // MARK: what is no fault

    @Test func aBandThatTheDaemonHoldsIsNotHeldByAnother() {
        var facts = healthy()
        facts.view.devices[0].isConnected = true
        facts.view.devices[0].isNotifying = true
        facts.band.connected = true
        #expect(Doctor.diagnose(facts).findings == [])
        // Who holds it is not known where the daemon does not say.
        facts.band.connected = false
        facts.daemon.state = .silent
        #expect(!Doctor.diagnose(facts).findings.contains { $0.code == "held_by_another_program" })
    }

    /// BlueZ shows Notifying also while the band is away, as long as whoever asked for it is on the bus.
    @Test func aSubscriptionWithoutALinkHoldsNothing() {
        var facts = healthy()
        facts.view.devices[0].isNotifying = true
        #expect(Doctor.diagnose(facts).findings == [])
    }

    @Test func aBandThatTheDaemonHeldBetweenTwoLooksIsNotHeldByAnother() {
        var facts = healthy()
        facts.view.devices[0].isConnected = true
        facts.view.devices[0].isNotifying = true
        let before = facts.daemon
        func isBlamed(_ before: DaemonFacts, _ after: DaemonFacts) -> Bool {
            facts.daemon = before.asked(again: after)
            return Doctor.diagnose(facts).findings.contains { $0.code == "held_by_another_program" }
        }
        var held = before
        held.status?.bands[0].connected = true
        var hasMet = before
        hasMet.status?.bands[0].lastContact = Timestamp(milliseconds: 2_000_000_001_000)
        #expect(isBlamed(before, before))
        #expect(!isBlamed(before, held), "its sync began meanwhile")
        #expect(!isBlamed(held, before), "it ended")
        #expect(!isBlamed(before, hasMet), "both")
        #expect(!isBlamed(DaemonFacts(.stopped), held), "the daemon was just started")
        #expect(!isBlamed(held, DaemonFacts(.stopped)), "and stopped")
        #expect(isBlamed(DaemonFacts(.stopped), DaemonFacts(.stopped)))
    }

    @Test func aForeignDeviceIsNobodysBusiness() {
        var facts = healthy()
        var speaker = BluetoothView.Device(address: BluetoothAddress(bits: 9), adapter: "hci0")
        speaker.isConnected = true
        speaker.areServicesResolved = true
        speaker.isNotifying = true
        speaker.rssi = -100
        facts.view.devices.append(speaker)
        #expect(Doctor.diagnose(facts).findings == [])
    }

    /// A neighbour's, or one that another program uses by right: whoever adopts bands here has not adopted it.
    @Test func aBandThatIsNotAdoptedIsNobodysHere() {
        var facts = healthy()
        var strange = BluetoothView.Device(address: BluetoothAddress(bits: 9), adapter: "hci0")
        (strange.isBand, strange.isConnected, strange.isNotifying) = (true, true, true)
        strange.areServicesResolved = true
        strange.rssi = -100
        facts.view.devices.append(strange)
        #expect(Doctor.diagnose(facts).findings == [])
        var forgotten = BandStatus(address: strange.address, device: DeviceID(strange.address), mode: .own)
        forgotten.adopted = false
        facts.daemon.status?.bands.append(forgotten)
        #expect(Doctor.diagnose(facts).findings == [])
        // Where nobody says which bands are adopted it may be one of them.
        facts.daemon = DaemonFacts(.stopped)
        let codes = Doctor.diagnose(facts).findings.map(\.code)
        #expect(Set(codes) == ["not_running", "held_by_another_program", "cache_stale", "weak_signal"])
    }

    /// The gateway's own links make room for one another.
    @Test func slotsThatTheGatewayUsesItselfAreNotUsedUp() {
        var facts = healthy()
        facts.configuration.maxLinks = 2
        let bands = (1...2).map { number in
            var band = BandStatus(
                address: BluetoothAddress(bits: UInt64(number)),
                device: DeviceID(BluetoothAddress(bits: UInt64(number))),
                mode: .own)
            band.connected = true
            band.lastContact = Timestamp(milliseconds: 0)
            return band
        }
        facts.daemon.status?.bands += bands
        facts.view.devices += bands.map { band in
            var device = BluetoothView.Device(address: band.address, adapter: "hci0")
            (device.isBand, device.isConnected) = (true, true)
            return device
        }
        #expect(Doctor.diagnose(facts).findings == [])
        // Whose a band's link is nobody knows while the daemon does not answer.
        var silent = facts
        silent.daemon = DaemonFacts(.silent, reason: "no reply")
        #expect(Doctor.diagnose(silent).findings.map(\.code) == ["daemon_silent"])
        facts.daemon.status?.bands[1].connected = false
        #expect(Doctor.diagnose(facts).findings.map(\.code) == ["slots_used_up"])
        // Over an adapter that the gateway does not use anybody may have as many as they like.
        facts.view.adapters.append(.init(address: BluetoothAddress(bits: 5), name: "hci1", isPowered: true))
        facts.configuration.adapters = [BluetoothAddress(bits: 5)]
        #expect(Doctor.diagnose(facts).findings == [])
    }

    @Test func oneAdapterThatIsOnIsEnoughUnlessAnotherIsConfigured() {
        var facts = healthy()
        let second = BluetoothView.Adapter(address: BluetoothAddress(bits: 5), name: "hci1", isPowered: false)
        facts.view.adapters.append(second)
        #expect(Doctor.diagnose(facts).findings == [])
        facts.configuration.adapters = [second.address]
        #expect(Doctor.diagnose(facts).findings.map(\.code) == ["adapter_off"])
    }

    @Test func eachAdapterThatIsConfiguredIsMissed() {
        var facts = healthy()
        facts.configuration.adapters = [adapterAddress, BluetoothAddress(bits: 7), BluetoothAddress(bits: 8)]
        let findings = Doctor.diagnose(facts).findings
        #expect(findings.map(\.code) == ["adapter_missing"])
        #expect(
            findings.last?.problem.text.contains("00:00:00:00:00:07 and 00:00:00:00:00:08 is not there")
                == true)
        // Of those that are there one has to be on.
        facts.view.adapters[0].isPowered = false
        #expect(Doctor.diagnose(facts).findings.map(\.code).contains("adapter_off"))
    }

    @Test func theLimitsAreWhereTheyAreSaidToBe() {
        var facts = healthy()
        facts.view.devices[0].rssi = Doctor.weakSignal
        facts.disk?.freeBytes = Doctor.littleSpace * 1_000_000
        facts.disk?.syncMicroseconds = Array(repeating: Doctor.slowSync * 1000 - 1, count: 100)
        facts.mainConfiguration?.exchangeMTU = "247"
        facts.bluetoothd = BluetoothdFacts(version: BlueZVersionNumber(5, 86))
        #expect(Doctor.diagnose(facts).findings == [])
        facts.disk?.freeBytes = Doctor.noSpace * 1_000_000
        #expect(Doctor.diagnose(facts).findings.map(\.code) == ["space_low"])
    }

    /// As where the disk is full, or fails; but not where there was no time for more.
    @Test func fewWritesSayNothingOfTheDiskUnlessThereWasNoTimeForMore() {
        var facts = healthy()
        for (count, takes) in [(Doctor.enoughSyncs - 1, Int64(450_000)), (2, 5_000_000), (1, 9_000_000)] {
            facts.disk?.syncMicroseconds = Array(repeating: takes, count: count)
            facts.disk?.ranOutOfTime = false
            #expect(Doctor.diagnose(facts).findings == [])
            facts.disk?.ranOutOfTime = true
            #expect(Doctor.diagnose(facts).findings.map(\.code) == ["disk_slow"])
        }
        // One that stood still once is no more than that.
        facts.disk?.syncMicroseconds = [9_000_000, 4_000]
        #expect(Doctor.diagnose(facts).findings == [])
        facts.disk?.syncMicroseconds = Array(repeating: 300_000, count: Doctor.enoughSyncs)
        #expect(Doctor.diagnose(facts).findings.map(\.code) == ["disk_slow"])
    }

    /// The daemon's own rule: SpaceJudge. What is free and what is room differ by the database's log.
    @Test func whereTheDaemonStoresNothingTheDoctorSaysSo() {
        var facts = healthy()
        func codes(room: Int64, floor: Int64, free: Int64) -> [String] {
            facts.configuration.freeSpaceFloor = floor
            facts.disk?.freeBytes = free
            facts.disk?.roomBytes = room
            return Doctor.diagnose(facts).findings.map(\.code)
        }
        #expect(codes(room: 99_999_999, floor: 100_000_000, free: 600_000_000) == ["space_gone"])
        #expect(codes(room: 100_000_000, floor: 100_000_000, free: 600_000_000) == ["space_low"])
        #expect(codes(room: 124_999_999, floor: 100_000_000, free: 600_000_000) == ["space_low"])
        #expect(codes(room: 125_000_000, floor: 100_000_000, free: 600_000_000) == [])
        // Without a floor only what is free counts.
        #expect(codes(room: 0, floor: 0, free: 600_000_000) == [])
        #expect(codes(room: -5, floor: 0, free: 49_000_000) == ["space_gone"])
    }

    @Test func oneSlowWriteInAHundredIsNoSlowDisk() {
        var facts = healthy()
        facts.disk?.syncMicroseconds = Array(repeating: 4_000, count: 99) + [9_000_000]
        #expect(Doctor.diagnose(facts).findings == [])
    }

    @Test(arguments: [
        ("5.66", BlueZVersionNumber(5, 66)), ("5.87\n", BlueZVersionNumber(5, 87)),
        (" 5.66-1+deb12u2", BlueZVersionNumber(5, 66)), ("6.0.1", BlueZVersionNumber(6, 0)),
    ])
    func aVersionIsReadAsItIsPrinted(_ text: String, _ version: BlueZVersionNumber) {
        #expect(BlueZVersionNumber(text) == version)
    }

    @Test(arguments: ["", "5", "bluetoothd", "5.", ".66", "v5.66"]) func whatIsNoVersionIsNone(_ text: String)
    {
        #expect(BlueZVersionNumber(text) == nil)
    }

    @Test func versionsAreComparedAsNumbers() {
        #expect(BlueZVersionNumber(5, 9) < BlueZVersionNumber(5, 66))
        #expect(BlueZVersionNumber(5, 99) < BlueZVersionNumber(6, 0))
    }
}
