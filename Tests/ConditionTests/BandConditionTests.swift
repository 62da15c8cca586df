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

@Suite struct RecordingStateTests {
    @Test func caughtUpAndStoppedAreToldApartByTheAgeAtTheContact() {
        var band = band()
        #expect(band.recording == .caughtUp)
        band.newestRecordedAt = Timestamp(milliseconds: 99 * day)
        #expect(band.recording == .caughtUp, "a whole day without it on the wrist is usual")
        band.newestRecordedAt = Timestamp(milliseconds: 99 * day - 1)
        #expect(band.recording == .stopped)
        // Long out of reach is no sign of anything.
        band.lastContact = band.newestRecordedAt
        #expect(band.recording == .caughtUp)
    }

    @Test func whatIsStillToReadIsNoSign() {
        var band = band()
        band.newestRecordedAt = Timestamp(milliseconds: 0)
        band.newestSeq = 11
        #expect(band.recording == .behind && band.unread == 1)
    }

    @Test func withoutAReadingNothingIsKnown() {
        for change: (inout BandStatus) -> Void in [
            { $0.nextSeq = nil }, { $0.newestSeq = nil }, { $0.lastContact = nil },
            { $0.newestRecordedAt = nil },
        ] {
            var band = band()
            change(&band)
            #expect(band.recording == .unknown)
        }
    }
}

@Suite struct BandConditionTests {
    @Test func aHealthyBandHasNone() { #expect(band().conditions() == []) }

    @Test func aBandThatWasNeverMetIsNotSaidToWaitForTheServer() {
        var band = band()
        band.lastContact = nil
        band.lease = .unanswered
        #expect(band.conditions().map(\.code) == ["never_met"] && !band.isObservedForNow)
        band.lease = BandLease(isOurs: false, holder: "other", until: Timestamp(milliseconds: 7))
        #expect(band.conditions().map(\.code) == ["never_met", "observing"] && band.isObservedForNow)
        band.connected = true
        band.lease = .unanswered
        #expect(band.conditions().map(\.code) == ["observing"], "it is being met")
        band.adopted = false
        #expect(band.conditions() == [], "nobody waits for a forgotten band")
    }

    @Test func eachFigureHasItsCondition() {
        var band = band()
        band.problem = Problem(.stalled)
        band.lease = BandLease(isOurs: false, holder: "other", until: Timestamp(milliseconds: 7))
        band.newestRecordedAt = Timestamp(milliseconds: 0)
        band.mtu = 23
        (band.quarantined, band.conflicts, band.undecodable, band.gaps) = (1, 2, 3, 4)
        #expect(
            band.conditions().map(\.code) == [
                "stalled", "observing", "stopped_recording", "mtu_small", "samples_refused",
                "records_conflict",
                "records_undecodable", "history_gaps",
            ])
        #expect(band.conditions().allSatisfy { !($0.text + $0.remedy).contains("{") })
        band.adopted = false
        #expect(
            band.conditions().map(\.code) == [
                "mtu_small", "samples_refused", "records_conflict", "records_undecodable", "history_gaps",
            ], "nobody tries a forgotten band")
    }
}
