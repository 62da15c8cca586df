import BandProfile
import Foundation
import GatewayModel
import Testing

@testable import CommandLineText

private let address = BluetoothAddress(bits: 0xf0f1_f2f3_f4f5)
private let device = DeviceID(address)
private let times = LocalTimesTests.berlin

private func time(_ text: String) throws -> Timestamp {
    try TimeArgument(text).timestamp(now: Timestamp(milliseconds: 0))
}

private struct Household {
    var anna: Person
    var ben: Person
    var band: BandStatus

    init() throws {
        anna = Person(
            id: try #require(PersonID("p_00000000000000a1")), name: "Anna", sharesName: true,
            zones: [
                ZoneStay(zone: "Europe/Berlin", from: try time("2026-01-01T00:00Z")),
                ZoneStay(zone: "Asia/Kolkata", from: try time("2026-10-26T06:00Z")),
            ])
        ben = Person(id: try #require(PersonID("p_00000000000000b2")), name: "Ben \u{1b}[2J")
        band = BandStatus(address: address, device: device, mode: .own)
        band.name = "Blue"
    }

    /// Ben until the 20th, Anna since.
    var assignments: [Assignment] {
        get throws {
            let change = try time("2026-10-20T08:30:15Z")
            return [
                Assignment(device: device, person: ben.id, from: try time("2026-10-01T08:00Z"), to: change),
                Assignment(device: device, person: anna.id, from: change),
            ]
        }
    }
}

@Suite struct PersonTextTests {
    private func text(at now: String, width: Int = 80) throws -> String {
        let home = try Household()
        return PersonText([home.anna, home.ben], assignments: try home.assignments, bands: [home.band])
            .rendered(now: try time(now), times: times, terminal: Terminal(width: width))
    }

    @Test func everybodyIsShownWithZonesAndBands() throws {
        #expect(
            try text(at: "2026-10-27T00:00Z") == """
                Anna
                  id     p_00000000000000a1
                  name   shared with the server
                  zone   Europe/Berlin from 2026-01-01T02:00+02:00
                         Asia/Kolkata from 2026-10-26T07:00+01:00
                  wears  F0:F1:F2:F3:F4:F5 (Blue)

                Ben ?[2J
                  id     p_00000000000000b2
                  name   stays on this gateway
                  zone   not said; the band or this host gives the offset

                """)
    }

    @Test(arguments: [
        ("2026-10-01T07:59Z", 0, 0), ("2026-10-01T08:00Z", 0, 1), ("2026-10-20T08:30:14Z", 0, 1),
        ("2026-10-20T08:30:15Z", 1, 0),
    ])
    func aBandIsWornFromItsBeginningUntilJustBeforeItsEnd(_ now: String, _ anna: Int, _ ben: Int) throws {
        let parts = try text(at: now).split(separator: "\n\n")
        #expect(parts.map { $0.contains("wears") } == [anna == 1, ben == 1])
    }

    @Test func nobodyYetSaysWhatToDo() {
        let text = PersonText([], assignments: [], bands: []).rendered(
            now: LocalTimesTests.change, times: times, terminal: Terminal())
        #expect(text.contains("bandferry person add NAME"))
    }

    @Test(arguments: [30, 50, 80]) func narrowTerminalsGetNarrowLines(_ width: Int) throws {
        for line in try text(at: "2026-10-27T00:00Z", width: width).split(separator: "\n") {
            #expect(line.count <= max(width, 38), "\(line)")
        }
    }

    @Test func aNewPersonIsToldTheIdAndWhoKnowsTheName() throws {
        let id = try #require(PersonID("p_1"))
        let kept = PersonText.added("Anna", id: id, sharesName: false)
        #expect(kept.hasPrefix("Anna is p_1; the server only knows the id.\n"))
        #expect(PersonText.added("Anna", id: id, sharesName: true).contains("is told the name"))
        #expect(kept.contains("bandferry help assign"))
    }

    @Test func jsonHasEveryField() throws {
        let home = try Household()
        let json = PersonText([home.anna, home.ben], assignments: [], bands: []).json.text
        #expect(
            json.hasPrefix(
                #"[{"id":"p_00000000000000a1","name":"Anna","share_name":true,"zones":[{"zone":"Europe/Berlin","#
                    + #""from":"2026-01-01T00:00:00.000Z"},"#))
        #expect(json.hasSuffix(#""share_name":false,"zones":[]}]"#))
    }
}

@Suite struct AssignmentTextTests {
    private func text(_ undecided: [UndecidedRange] = [], width: Int = 120) throws -> String {
        let home = try Household()
        return AssignmentText(
            try home.assignments, undecided: undecided, persons: [home.anna], bands: [home.band]
        ).rendered(times: times, terminal: Terminal(width: width))
    }

    private func samples(_ seqs: ClosedRange<UInt32>, count: Int, to: String) throws -> UndecidedRange {
        UndecidedRange(
            device: device, ring: RingID(rawValue: 0xb5e5_d00d), seqs: seqs, count: count,
            from: try time("2026-10-20T08:29Z"), to: try time(to))
    }

    @Test func intervalsHaveTimesThatCanBeCopied() throws {
        #expect(
            try text() == """
                BAND                      PERSON                     FROM                       TO
                F0:F1:F2:F3:F4:F5 (Blue)  p_00000000000000b2         2026-10-01T10:00+02:00     2026-10-20T10:30:15+02:00
                F0:F1:F2:F3:F4:F5 (Blue)  Anna (p_00000000000000a1)  2026-10-20T10:30:15+02:00  until further notice

                """)
    }

    @Test func samplesAtABorderAreNobodysAndSaidSo() throws {
        let text = try text(
            [
                try samples(17...30, count: 12, to: "2026-10-20T08:31Z"),
                try samples(40...40, count: 1, to: "2026-10-20T08:29Z"),
            ]
        ).split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(
            text.contains(
                "! F0:F1:F2:F3:F4:F5 (Blue): 12 samples from 20 Oct 10:29 to 20 Oct 10:31 +02:00 (numbers 17 to 30 of ring "
                    + "b5e5d00d) are nobody's: the time is not exact enough"), "\(text)")
        #expect(text.contains("1 sample at 20 Oct 10:29 +02:00 (number 40 of ring b5e5d00d) is nobody's"))
        #expect(text.contains("What to do: "))
    }

    @Test(arguments: [40, 60, 80]) func nothingIsLostWhenItIsNarrow(_ width: Int) throws {
        let text = try text([try samples(17...30, count: 12, to: "2026-10-20T08:31Z")], width: width)
        #expect(text.contains("2026-10-20T10:30:15+02:00") && text.contains("until further notice"))
        for line in text.split(separator: "\n") { #expect(line.count <= width, "\(line)") }
    }

    @Test func noneYetSaysWhatToDo() {
        let text = AssignmentText([], undecided: [], persons: [], bands: []).rendered(
            times: times, terminal: Terminal(width: 200))
        #expect(text.contains("'bandferry assign BAND PERSON --from TIME'"))
    }

    @Test func jsonHasBoth() throws {
        let home = try Household()
        let json = AssignmentText(
            try home.assignments, undecided: [try samples(17...30, count: 12, to: "2026-10-20T08:31Z")],
            persons: [], bands: []
        ).json.text
        #expect(
            json
                == #"{"assignments":[{"device_id":"band_F0F1F2F3F4F5","person":"p_00000000000000b2","#
                + #""from":"2026-10-01T08:00:00.000Z","to":"2026-10-20T08:30:15.000Z"},"#
                + #"{"device_id":"band_F0F1F2F3F4F5","person":"p_00000000000000a1","#
                + #""from":"2026-10-20T08:30:15.000Z","to":null}],"undecided":[{"device_id":"band_F0F1F2F3F4F5","#
                + #""ring":"b5e5d00d","first_seq":17,"last_seq":30,"count":12,"from":"2026-10-20T08:29:00.000Z","#
                + #""to":"2026-10-20T08:31:00.000Z"}]}"#)
    }
}
