import BandProfile
import CommandLineText
import Foundation
import GatewayModel
import Testing

private let now = Timestamp(milliseconds: 1_793_079_060_000)  // 2026-10-27T05:31:00Z
private func ago(_ seconds: Int64) -> Timestamp { Timestamp(milliseconds: now.milliseconds - seconds * 1000) }
private let address = BluetoothAddress(bits: 0xf0f1_f2f3_f4f5)

private func healthy() -> BandStatus {
    var band = BandStatus(address: address, device: DeviceID(address), mode: .own)
    band.name = "Anna"
    band.mtu = 247
    band.lastContact = ago(200)
    band.battery = 87
    band.firmware = "1.4.2"
    band.ring = RingID(rawValue: 0xb5e5_d00d)
    band.newestSeq = 120_444
    band.newestRecordedAt = ago(260)
    band.nextSeq = 120_445
    band.stored = 120_444
    band.pending = 12
    return band
}

private func gateway(_ bands: [BandStatus]) -> GatewayStatus {
    var status = GatewayStatus(version: "0.1.0", stateDirectory: "/var/lib/bandferry", running: true)
    status.uploadURL = "https://ingest.example.org"
    status.lastUpload = ago(60)
    status.bands = bands
    return status
}

@Suite struct PrintableTests {
    @Test func whatSteersATerminalIsNotShown() {
        let text = "no band 'a\u{1b}[2J\u{9b}1m\u{202e}b'.\nKnown: c\rd\u{7}.\n"
        #expect(printableLines(text) == "no band 'a?[2J?1m?b'.\nKnown: c?d?.\n")
    }
}

@Suite struct StatusTextTests {
    private let wide = Terminal(width: 140)

    @Test func everyFigureOfABandIsShown() {
        let text = StatusText.rendered(gateway([healthy()]), now: now, terminal: wide)
        for part in [
            "F0:F1:F2:F3:F4:F5 (Anna)", "own", "247", "3 min ago", "87%", "1.4.2", "4 min ago", "120,444",
            "12",
        ] {
            #expect(text.contains(part), "\(part) in\n\(text)")
        }
        #expect(text.contains("running"))
        #expect(text.contains("https://ingest.example.org, last 1 min ago"))
        #expect(!text.contains("What to do"))
        #expect(!text.contains("\u{1b}"), "no colour unless the terminal has it")
    }

    @Test func aStoppedDaemonIsSomethingToKnow() {
        var stopped = gateway([healthy()])
        stopped.running = false
        let text = StatusText.rendered(stopped, now: now, terminal: wide)
        #expect(text.contains("! bandferryd is not running") && text.contains("systemctl start bandferryd"))
    }

    /// What is in the way may be the token, which does not mend itself.
    @Test func anOwnerThatIsNotKnownYetPromisesNothing() {
        var unsure = healthy()
        unsure.lease = .unanswered
        let text = StatusText.rendered(gateway([unsure]), now: now, terminal: Terminal(width: 1000))
        #expect(text.contains("own, observing") && text.contains("has not said yet"))
        #expect(text.contains("lets this gateway's token own bands: 'bandferry upload status'"))
        #expect(!text.contains("by itself"))
    }

    @Test func aBandThatWasNeverMetIsCalledSo() {
        var stranger = healthy()
        stranger.lastContact = nil
        stranger.lease = .unanswered
        let text = StatusText.rendered(gateway([stranger]), now: now, terminal: Terminal(width: 1000))
        #expect(text.contains("has never met this band") && text.contains("'bandferry scan' lists"))
        #expect(!text.contains("has not said yet") && !text.contains("own, observing"))
    }

    @Test func theColumnsAreAligned() {
        var other = healthy()
        other.address = BluetoothAddress(bits: 1)
        other.name = nil
        other.mtu = nil
        other.firmware = nil
        let lines = StatusText.rendered(gateway([healthy(), other]), now: now, terminal: wide)
            .split(separator: "\n").filter { $0.contains("own") }
        #expect(lines.count == 2)
        let columns = lines.map { line in
            line.distance(
                from: line.startIndex, to: line.firstRange(of: "own")?.lowerBound ?? line.startIndex)
        }
        #expect(columns[0] == columns[1])
    }

    @Test(arguments: [20, 40, 60, 80, 100, 140])
    func noLineOfATableIsWiderThanTheTerminal(_ width: Int) {
        let text = StatusText.rendered(gateway([healthy()]), now: now, terminal: Terminal(width: width))
        #expect(text.contains("120,444") && text.contains("1.4.2"), "nothing is left out when it is narrow")
        if width >= 80 {
            #expect(text.split(separator: "\n").allSatisfy { $0.count <= width }, "\(text)")
        }
    }

    @Test func aSmallMTUSaysHowToSetALargerOne() {
        var band = healthy()
        band.mtu = 23
        let text = StatusText.rendered(gateway([band]), now: now, terminal: wide)
        #expect(text.contains("The MTU is 23, below 247"))
        #expect(text.contains("carries 1 record instead of 15"))
        #expect(text.contains("ExchangeMTU"))
    }

    @Test(arguments: 0..<4)
    func whatIsAmissIsSaidWithARemedy(_ figure: Int) {
        let figures = [\BandStatus.gaps, \.conflicts, \.undecodable, \.quarantined]
        var band = healthy()
        band[keyPath: figures[figure]] = 3
        #expect(StatusText.rendered(gateway([band]), now: now, terminal: wide).contains("What to do: "))
    }

    @Test func caughtUpIsToldFromStoppedRecording() {
        var band = healthy()
        band.lastContact = now
        band.newestRecordedAt = ago(60)
        (band.nextSeq, band.newestSeq) = (11, 10)
        let well = StatusText.rendered(gateway([band]), now: now, terminal: wide)
        #expect(well.contains("caught up") && !well.contains("stopped"))
        band.newestRecordedAt = ago(3 * 86_400)
        let stopped = StatusText.rendered(gateway([band]), now: now, terminal: wide)
        #expect(stopped.contains("stopped") && !stopped.contains("caught up"))
        #expect(stopped.contains("its newest record is 3 days older than the contact"))
        band.newestSeq = 1_510
        #expect(StatusText.rendered(gateway([band]), now: now, terminal: wide).contains("1,500 to read"))
    }

    @Test func aProblemIsSaidWithItsRemedyAndAge() {
        var band = healthy()
        band.problem = Problem(
            code: "pairing_failed", text: "The band refused to pair.", remedy: "Hold its button for 5 s.",
            since: ago(7200))
        let text = StatusText.rendered(gateway([band]), now: now, terminal: wide)
        #expect(text.contains("! Anna: The band refused to pair. (2 h ago)"))
        #expect(text.contains("    What to do: Hold its button for 5 s."))
    }

    @Test func progressShowsWhileAHistoryComesIn() {
        var band = healthy()
        band.syncing = true
        band.nextSeq = 60_223
        #expect(StatusText.rendered(gateway([band]), now: now, terminal: wide).contains("syncing 50%"))
    }

    @Test func aForgottenBandIsStillShown() {
        var band = healthy()
        band.adopted = false
        band.problem = Problem(code: "c", text: "Not heard.", remedy: "Bring it nearer.")
        let text = StatusText.rendered(gateway([band]), now: now, terminal: wide)
        #expect(text.contains("forgotten"))
        #expect(!text.contains("Not heard"), "nobody tries it any more")
    }

    @Test func aBandsNameCannotSteerTheTerminal() {
        var band = healthy()
        band.name = "x\u{1b}[2J\u{202e}\n"
        band.problem = Problem(code: "c", text: "bad \u{7}", remedy: "")
        let text = StatusText.rendered(gateway([band]), now: now, terminal: wide)
        #expect(text.unicodeScalars.allSatisfy { $0.value >= 0x20 || $0 == "\n" })
        #expect(!text.unicodeScalars.contains("\u{202e}"))
    }

    @Test func jsonIsOneValueWithEveryFigure() throws {
        var odd = healthy()
        odd.name = "quote \" back \\ line \n tab \t bell \u{7}"
        let text = StatusText.json(gateway([odd])).text
        #expect(!text.contains("\n"))
        let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        let band = try #require((object["bands"] as? [[String: Any]])?.first)
        #expect(band["name"] as? String == odd.name)
        #expect(band["stored"] as? Int == 120_444)
        #expect(band["ring"] as? String == "b5e5d00d")
        #expect(band["last_contact"] as? String == "2026-10-27T05:27:40.000Z")
        #expect(band["problem"] is NSNull)
        #expect(object["upload_url"] as? String == "https://ingest.example.org")
    }
}

@Suite struct BandLookupTests {
    @Test func aBandIsFoundByIDAddressOrAnUnambiguousName() {
        var ben = healthy()
        ben.address = BluetoothAddress(bits: 1)
        ben.device = DeviceID("anna-1") ?? ben.device
        ben.name = "Ben"
        let bands = [healthy(), ben]
        #expect(bands.band(called: "anna-1")?.name == "Ben")
        #expect(bands.band(called: "f0:f1:f2:f3:f4:f5")?.name == "Anna")
        #expect(bands.band(called: "Anna")?.address == address)
        #expect(bands.band(called: "Berta") == nil && bands.band(called: "00:00:00:00:00:02") == nil)
        var twin = ben
        twin.name = "Anna"
        #expect([healthy(), twin].band(called: "Anna") == nil, "nobody knows which is meant")
        #expect(
            [healthy(), twin].refusal(of: "Anna")
                == "2 bands are called 'Anna'.\nWhat to do: use an address: F0:F1:F2:F3:F4:F5, 00:00:00:00:00:01."
        )
        #expect(
            bands.refusal(of: "Berta")
                == "There is no device 'Berta' here.\nKnown: band_F0F1F2F3F4F5 (Anna), anna-1 (Ben).")
        #expect([BandStatus]().refusal(of: "Berta").hasSuffix("Known: none yet."))
    }

    @Test func aBandThatWasForgottenTakesNoName() {
        var gone = healthy()
        gone.address = BluetoothAddress(bits: 1)
        gone.device = DeviceID(gone.address)
        gone.adopted = false
        #expect([gone, healthy()].band(called: "Anna")?.address == address)
        #expect([gone].band(called: "Anna") == gone, "it is still found")
        let new = BluetoothAddress(bits: 2)
        #expect([gone].owner(ofName: "Anna", besides: new) == nil)
        #expect([gone, healthy()].owner(ofName: "Anna", besides: new)?.address == address)
        #expect([healthy()].owner(ofName: "Anna", besides: address) == nil, "it may keep its own")
    }
}

@Suite struct TimeTextTests {
    @Test(arguments: [
        (0, "just now"), (9, "just now"), (-9, "just now"), (10, "10 s ago"), (59, "59 s ago"),
        (60, "1 min ago"),
        (3599, "59 min ago"), (3600, "1 h ago"), (86_399, "23 h ago"), (86_400, "1 day ago"),
        (172_800, "2 days ago"), (-600, "in 10 min"), (-90_000, "in 1 day"),
    ])
    func timesAreSaidAsPeopleSayThem(_ seconds: Int64, _ text: String) {
        #expect(TimeText.ago(ago(seconds), now: now) == text)
    }

    @Test func neverIsSaidToo() { #expect(TimeText.ago(nil, now: now) == "never") }
}

@Suite struct ExportTests {
    private func sample(offset: Int?) -> Sample {
        Sample(
            device: DeviceID(address), ring: RingID(rawValue: 0xb5e5_d00d), type: .heartRate, seq: 120_443,
            value: 72,
            recordedAt: now, offsetMinutes: offset, version: 2, provenance: .device,
            bandTimeMilliseconds: 1_793_079_000_123, clockID: 3, flags: 1)
    }

    @Test func aLineOfJSONHasExactlyTheDocumentedFields() {
        #expect(
            ExportFormat.jsonl.line(sample(offset: 330))
                == #"{"device_id":"band_F0F1F2F3F4F5","ring":"b5e5d00d","type":"heart_rate","seq":120443,"value":72,"#
                + #""recorded_at":"2026-10-27T05:31:00.000Z","tz_offset_min":330,"version":2,"provenance":"device","#
                + #""band_time_ms":1793079000123,"clock_id":3,"flags":1,"time_bound_ms":null,"time_uncertain":false,"#
                + #""offset_source":null,"person":null}"# + "\n")
        #expect(ExportFormat.jsonl.line(sample(offset: nil)).contains("\"tz_offset_min\":null"))
        #expect(ExportFormat.jsonl.header.isEmpty)
    }

    @Test func csvHasTheSameColumns() throws {
        #expect(
            ExportFormat.csv.header
                == "device_id,ring,type,seq,value,recorded_at,tz_offset_min,version,provenance,band_time_ms,clock_id,flags,"
                + "time_bound_ms,time_uncertain,offset_source,person\n"
        )
        #expect(
            ExportFormat.csv.line(sample(offset: -90))
                == "band_F0F1F2F3F4F5,b5e5d00d,heart_rate,120443,72,2026-10-27T05:31:00.000Z,-90,2,device,1793079000123,3,1,,false,,\n"
        )
        #expect(ExportFormat.csv.line(sample(offset: nil)).contains(".000Z,,2,"))
    }

    @Test func aPersonsIDMayHoldQuotesAndCommas() throws {
        var sample = sample(offset: 60)
        sample.offsetSource = .person
        sample.timeBoundMilliseconds = 250
        sample.timeUncertain = true
        let id = #"a",b\"#
        sample.wearer = .person(try #require(PersonID(id)))
        let line = ExportFormat.jsonl.line(sample)
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        #expect(object?["person"] as? String == id)
        #expect(object?["time_bound_ms"] as? Int == 250)
        #expect(object?["time_uncertain"] as? Bool == true)
        #expect(object?["offset_source"] as? String == "person")
        #expect(ExportFormat.csv.line(sample).hasSuffix(#",1,250,true,person,"a"",b\""# + "\n"))
    }

    @Test func bothFormatsNameTheSameColumnsInTheSameOrder() throws {
        let line = ExportFormat.jsonl.line(sample(offset: 0))
        let places = try ExportFormat.columns.map { try #require(line.range(of: "\"\($0)\":")).lowerBound }
        #expect(places == places.sorted())
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        #expect(object.map { Set($0.keys) } == Set(ExportFormat.columns))
    }
}

@Suite struct ProgressTests {
    private func band(next: UInt32, newest: UInt32) -> BandStatus {
        var band = healthy()
        band.nextSeq = next
        band.newestSeq = newest
        return band
    }

    @Test func aTerminalGetsABarThatFitsIt() {
        var progress = SyncProgress(band(next: 1, newest: 1000), now: ago(10))
        progress.update(band(next: 501, newest: 1000))
        for width in [20, 40, 80, 200] {
            let line = progress.rendered(now: now, terminal: Terminal(width: width, isInteractive: true))
            #expect(line.contains("50%") && line.contains("500 of 1,000"))
            if width >= 40 { #expect(line.count <= width, "\(line)") }
        }
        let line = progress.rendered(now: now, terminal: Terminal(width: 80, isInteractive: true))
        #expect(line.contains("█") && line.contains("░") && line.contains("10 s left"))
    }

    @Test func aPipeGetsPlainWords() {
        var progress = SyncProgress(band(next: 1, newest: 1000), now: ago(10))
        progress.update(band(next: 501, newest: 1000))
        let line = progress.rendered(now: now, terminal: Terminal(width: 80))
        #expect(line == "Anna: 50%, 500 of 1,000 records")
        #expect(line.allSatisfy { $0.isASCII })
    }

    @Test func everyStepOfAHistoryStaysWithinItsBounds() {
        var progress = SyncProgress(band(next: 101, newest: 200), now: ago(100))
        for next in UInt32(101)...201 {
            progress.update(band(next: next, newest: 200))
            let figures = progress.figures
            #expect(figures?.done == Int(next - 101))
            #expect(figures?.total == 100)
            let line = progress.rendered(now: now, terminal: Terminal(width: 60, isInteractive: true))
            #expect(line.count <= 60)
        }
    }

    @Test func oddStatesAreNoTrap() {
        var progress = SyncProgress(
            BandStatus(address: address, device: DeviceID(address), mode: .own), now: now)
        #expect(progress.figures == nil)
        #expect(progress.rendered(now: now, terminal: Terminal()).contains("connecting"))
        progress.update(band(next: 11, newest: 10))
        #expect(progress.rendered(now: now, terminal: Terminal()).contains("nothing new"))
        // The band formatted its ring, and its numbers begin again.
        progress.update(band(next: 1, newest: 5))
        #expect(progress.figures?.total == 5)
        progress.update(band(next: .max, newest: .max))
        #expect(progress.figures != nil)
    }
}

@Suite struct ScanAndSyncTextTests {
    @Test func theStrongestBandComesFirst() {
        let far = SeenBand(address: BluetoothAddress(bits: 1), name: "Far", rssi: -90)
        let near = SeenBand(address: BluetoothAddress(bits: 2), name: "Near", rssi: -40, mode: .own)
        let mute = SeenBand(address: BluetoothAddress(bits: 3))
        #expect(ScanText.sorted([far, mute, near]).map(\.address.bits) == [2, 1, 3])
        let text = ScanText.rendered([far, mute, near], terminal: Terminal())
        #expect(text.contains("adopted, own"))
        #expect(text.contains("bandferry adopt 00:00:00:00:00:01"))
    }

    @Test func nothingHeardSaysWhatToTry() {
        #expect(ScanText.rendered([], terminal: Terminal()).contains("What to do"))
    }

    @Test func theEndOfASyncSaysWhatCame() {
        let fine = SyncReport(address: address, stored: 1)
        let bad = SyncReport(
            address: address, stored: 1200, gaps: 2,
            problem: Problem(code: "link", text: "The link broke.", remedy: "Try again."))
        let text = SyncText.rendered([fine, bad], terminal: Terminal())
        #expect(text.contains("1 new record\n"))
        #expect(text.contains("1,200 new records, 2 new gaps"))
        #expect(text.contains("What to do: Try again."))
    }
}
