import BandProfile
import Conditions
import GatewayModel
import Testing

private let day: Int64 = 86_400_000

private func band() -> BandStatus {
    var band = BandStatus(
        address: BluetoothAddress(bits: 5), device: DeviceID("anna-1") ?? DeviceID(BluetoothAddress(bits: 5)),
        mode: .own)
    (band.nextSeq, band.newestSeq) = (11, 10)
    band.lastContact = Timestamp(milliseconds: 100 * day)
    band.newestRecordedAt = Timestamp(milliseconds: 100 * day - 60_000)
    return band
}

@Suite struct StatusLineTests {
    private func line(_ change: (inout GatewayStatus) -> Void) -> String {
        var status = GatewayStatus(version: "1", stateDirectory: "/s", running: true)
        status.uploadURL = "https://x"
        change(&status)
        return StatusLine.text(status, now: Timestamp(milliseconds: 100 * day + 120_000))
    }

    @Test func itSaysHowManyBandsWhenAndWhatWaits() {
        #expect(line { _ in } == "0 bands")
        #expect(line { $0.bands = [band()] } == "1 band, last sync 2 min ago")
        let three = line {
            $0.bands = [band(), band(), band()]
            $0.bands[1].pending = 119
            $0.bands[2].pending = 1
        }
        #expect(three == "3 bands, last sync 2 min ago, 120 samples wait for the server")
        let syncing = line {
            $0.bands = [band(), band()]
            $0.bands[0].syncing = true
            $0.bands[1].adopted = false
        }
        #expect(syncing == "1 band, 1 syncing")
    }

    @Test func theWorstConditionComesBeforeAllElse() {
        let text = line {
            $0.bands = [band()]
            $0.bands[0].name = "Anna"
            $0.bands[0].problem = Problem(.noBandHistory, ["operation": "connect", "detail": ""])
            $0.problems = [Problem(.clockUnsynchronised)]
        }
        #expect(text.hasPrefix("no_band_history: anna-1: Could not connect"))
        #expect(!text.contains("Anna"))
        let two = line {
            $0.problems = [Problem(.forbidden), Problem(.storeFull, ["operation": "o", "message": "m"])]
        }
        #expect(two == "forbidden: The server does not let this token upload. (and 1 more)")
    }

    /// systemd shows the line to everybody on this host.
    @Test(arguments: [
        "00:1A:7D:DA:71:13", "00:1a:7d:da:71:13:", "/org/bluez/hci0/dev_00_1A_7D_DA_71_13",
        "adapter 00:1A:7D:DA:71:13, which is switched off",
    ])
    func noAddressIsInIt(_ words: String) {
        let text = line {
            $0.problems = [Problem(.adapterOff, ["operation": "connect", "detail": " (\(words))"])]
        }
        #expect(text == "adapter_off")
        let two = line {
            $0.bands = [band()]
            $0.bands[0].problem = Problem(.adapterOff, ["operation": "connect", "detail": " (\(words))"])
            $0.problems = [Problem(.storeFull, ["operation": "o", "message": words])]
        }
        #expect(two == "store_full (and 1 more)")
        let named = line {
            $0.bands = [band()]
            $0.bands[0].problem = Problem(.adapterOff, ["operation": "connect", "detail": " (\(words))"])
        }
        #expect(named == "adapter_off: anna-1")
    }

    @Test(arguments: ["it is 12:30:45", "band_F0F1F2F3F4F5 of hci0", "at 2026-11-30 12:30:45+02:00"])
    func whatIsNoAddressIsShown(_ words: String) {
        let text = line { $0.problems = [Problem(.storeFull, ["operation": "commit", "message": words])] }
        #expect(text.contains(words))
    }

    @Test func aWarningIsNamedBesideTheFigures() {
        let text = line {
            $0.bands = [band()]
            $0.problems = [Problem(.uploadPaused, ["time": ""]), Problem(.clockUnsynchronised)]
        }
        #expect(text == "1 band, last sync 2 min ago, clock_unsynchronised")
    }
}

@Suite struct StatusLineGateTests {
    @Test func aLineGoesOutWhenItIsNewAndTheLastOneHasRested() {
        var gate = StatusLineGate()
        #expect(gate.take("a", now: 0) == "a")
        #expect(gate.take("a", now: 10_000) == nil)
        #expect(gate.take("b", now: 10_000) == "b")
        #expect(gate.take("c", now: 11_999) == nil)
        #expect(gate.take("d", now: 12_000) == "d")
    }
}
