import BandProfile
import Foundation
import GatewayModel
import Testing

@testable import CommandLineText

private let now = Timestamp(milliseconds: 1_793_079_060_000)  // 2026-10-27T05:31:00Z
private func later(_ seconds: Int64) -> Timestamp {
    Timestamp(milliseconds: now.milliseconds + seconds * 1000)
}
private let address = BluetoothAddress(bits: 0xf0f1_f2f3_f4f5)
private let ring = RingID(rawValue: 0xb5e5_d00d)

private func report(
    _ outcome: ReplaceReport.Outcome, _ change: (inout ReplaceReport) -> Void = { _ in }
) -> ReplaceReport {
    var report = ReplaceReport(device: DeviceID(address), address: address, outcome: outcome)
    report.lease = BandLease(isOurs: true, holder: "gw_1", until: later(3600))
    change(&report)
    return report
}

private func text(_ reports: ReplaceReport..., width: Int = 100) -> String {
    ReplaceText.rendered(reports, times: .utc(now: now), terminal: Terminal(width: width))
}

private func object(_ json: JSONText) throws -> [[String: Any]] {
    try #require(try JSONSerialization.jsonObject(with: Data(json.text.utf8)) as? [[String: Any]])
}

@Suite struct ServerBandTextTests {
    private func text(_ bands: ServerBand..., width: Int = 140) -> String {
        ReplaceText.rendered(bands, now: now, terminal: Terminal(width: width))
    }

    @Test func anEmptyAccountIsSaidToBe() {
        #expect(text() == "The server knows no band of this account.\n")
    }

    @Test func eachBandIsARowWithItsOwner() throws {
        let blue = try #require(DeviceID("blue"))
        let shown = text(
            ServerBand(
                device: DeviceID(address), address: address, lastContact: later(-180),
                lastRecordedAt: later(-7200), samples: 12_345, mode: .own,
                lease: BandLease(isOurs: true, holder: "gw_1", until: later(60))),
            ServerBand(device: blue, lease: BandLease(isOurs: false, holder: "gw_2", until: later(3600))),
            ServerBand(device: try #require(DeviceID("red")), mode: .observe))
        #expect(
            shown == """
                DEVICE ID          ADDRESS            LAST CONTACT  NEWEST RECORD  SAMPLES  HERE     OWNED BY
                band_F0F1F2F3F4F5  F0:F1:F2:F3:F4:F5  3 min ago     2 h ago         12,345  own      this gateway
                blue               ?                  never         never                0  no       gw_2 until 2026-10-27 06:31Z
                red                ?                  never         never                0  observe  nobody

                'bandferry replace DEVICE-ID' takes a band over from a gateway that is gone, 'bandferry replace
                --all' every band that is not owned here; --dry-run only looks.

                """)
    }

    @Test func aHolderCannotSteerTheTerminal() throws {
        let blue = try #require(DeviceID("blue"))
        let shown = text(
            ServerBand(device: blue, lease: BandLease(isOurs: false, holder: "\u{1b}[2J", until: now)))
        #expect(!shown.contains("\u{1b}") && shown.contains("?[2J until"))
    }

    @Test func jsonHasEveryField() throws {
        let lease = BandLease(isOurs: false, holder: "gw_2", until: later(3600))
        let list = try object(
            ReplaceText.json([
                ServerBand(
                    device: DeviceID(address), address: address, lastContact: now, lastRecordedAt: later(-60),
                    samples: 7, mode: .observe, lease: lease),
                ServerBand(device: try #require(DeviceID("blue"))),
            ]))
        let band = try #require(list.first)
        #expect(band["device_id"] as? String == "band_F0F1F2F3F4F5")
        #expect(band["address"] as? String == "F0:F1:F2:F3:F4:F5")
        #expect(band["last_contact"] as? String == "2026-10-27T05:31:00.000Z")
        #expect(band["last_recorded_at"] as? String == "2026-10-27T05:30:00.000Z")
        #expect(band["samples"] as? Int == 7 && band["mode"] as? String == "observe")
        let held = try #require(band["lease"] as? [String: Any])
        #expect(held["ours"] as? Bool == false && held["holder"] as? String == "gw_2")
        #expect(held["until"] as? String == "2026-10-27T06:31:00.000Z")
        for key in ["address", "last_contact", "last_recorded_at", "mode", "lease"] {
            #expect(list.last?[key] is NSNull, "\(key)")
        }
    }
}

@Suite struct ReplaceTextTests {
    @Test func nothingToTakeOverIsSaid() {
        #expect(text() == "Every band that the server knows is owned here already.\n")
    }

    @Test func whatCameOfItIsSaidToTheRecord() throws {
        let anna = try #require(PersonID("p_a"))
        let shown = text(
            report(.takenOver) {
                $0.rings = [
                    .init(ring: ring, completeThrough: 120_444, nextSeq: 120_445),
                    .init(ring: RingID(rawValue: 9), completeThrough: nil, nextSeq: 1),
                ]
                $0.gaps = 2
                $0.maxVersion = 3
                $0.persons = 1
                $0.wearer = .init(person: anna, name: "Anna", until: later(-60))
            }, width: 300)
        #expect(
            shown == """
                band_F0F1F2F3F4F5 (F0:F1:F2:F3:F4:F5): taken over
                  - Ring b5e5d00d: the server has all records up to 120,444; here it goes on at 120,445.
                  - Ring 00000009: nobody told the server up to where it is complete; here it is read from record 1
                    on, and what is there already counts once.
                  - 2 gaps are known already and not reported anew.
                  - Corrections start above version 3.
                  - 1 person came with it: 'bandferry person list' shows who.
                  - Anna wore it until 27 Oct 05:30 UTC, says the server. Who wears it since is not known here. If
                    it is the same person: bandferry assign band_F0F1F2F3F4F5 Anna --from 2026-10-27T05:30Z
                  - This gateway owns it now. Should the other one come back, it only observes.

                """)
    }

    @Test func whatDoesNotMatterIsNotSaid() {
        let shown = text(
            report(.refreshed) {
                $0.gaps = 1
                $0.maxVersion = 1
            })
        #expect(shown.hasPrefix("band_F0F1F2F3F4F5 (F0:F1:F2:F3:F4:F5): owned here already; what the server"))
        #expect(shown.contains("The server has no records of it; all that it holds is read."))
        #expect(shown.contains("1 gap is known already"))
        #expect(!shown.contains("Corrections") && !shown.contains("person") && !shown.contains("wore"))
    }

    @Test func aBandWithoutAnAddressIsCalledByItsID() throws {
        let blue = try #require(DeviceID("blue"))
        #expect(
            text(ReplaceReport(device: blue, address: nil, outcome: .refused)) == "blue: not taken over\n")
    }

    @Test func whoHoldsItIsSaidForEachOutcome() {
        let other = BandLease(isOurs: false, holder: "gw_2\u{1b}", until: later(3600))
        let held = text(report(.takenOver) { $0.lease = other }, width: 300)
        #expect(
            held.contains("Another gateway (gw_2?) still holds it until 27 Oct 06:31 UTC: until then it is"))
        #expect(text(report(.wouldTakeOver) { $0.lease = nil }).contains("- No gateway holds it.\n"))
        for lease in [nil, .notKept] as [BandLease?] {
            #expect(
                text(report(.takenOver) { $0.lease = lease }).contains("keeps no account of who owns bands"))
        }
        #expect(text(report(.wouldTakeOver) { $0.lease = .notKept }).contains("keeps no account of who owns"))
    }

    @Test func aRefusalSaysWhyAndWhatToDoAndNothingElse() {
        let refused = report(.refused) {
            $0.rings = [.init(ring: ring, completeThrough: 9, nextSeq: 10)]
            $0.problem = Problem(code: "lease_held", text: "It is held\u{1b}.", remedy: "Wait.")
        }
        #expect(
            text(refused, report(.wouldTakeOver)).hasPrefix(
                """
                band_F0F1F2F3F4F5 (F0:F1:F2:F3:F4:F5): not taken over
                ! It is held?.
                    What to do: Wait.

                band_F0F1F2F3F4F5 (F0:F1:F2:F3:F4:F5): would be taken over
                """))
    }

    @Test(arguments: [
        ("Anna", "Anna"), ("anna-1_b", "anna-1_b"), ("Zoë", "Zoë"), ("Anna B", "'Anna B'"),
        ("O'Neil", "'O'\\''Neil'"), ("$(rm)", "'$(rm)'"), ("a;b", "'a;b'"), ("'", "''\\'''"),
    ])
    func theCommandThatIsProposedTakesANameAsItIs(_ name: String, _ word: String) throws {
        let anna = try #require(PersonID("p_a"))
        let shown = text(
            report(.takenOver) { $0.wearer = .init(person: anna, name: name, until: now) }, width: 300)
        let flat = shown.split(whereSeparator: { $0 == " " || $0 == "\n" }).joined(separator: " ")
        #expect(flat.contains("bandferry assign band_F0F1F2F3F4F5 \(word) --from 2026-10-27T05:31Z"))
    }

    @Test(
        arguments: [
            ("lease_held", .taken), ("address_taken", .taken), ("in_configuration", .inConfiguration),
            ("address_unknown", .usage), ("something", .failed), (nil, .failed),
        ] as [(String?, ExitCode)])
    func theFirstRefusalGivesTheExitStatus(_ code: String?, _ exit: ExitCode) {
        let refused = report(.refused) {
            $0.problem = code.map { Problem(code: $0, text: "No.", remedy: "") }
        }
        let later = report(.refused) { $0.problem = Problem(code: "other", text: "", remedy: "") }
        #expect(ReplaceText.exitCode([report(.takenOver), refused, later]) == exit)
        #expect(ReplaceText.exitCode([report(.takenOver), report(.refreshed)]) == .success)
        #expect(ReplaceText.exitCode([]) == .success)
    }

    @Test func jsonHasEveryField() throws {
        let anna = try #require(PersonID("p_a"))
        let full = report(.takenOver) {
            $0.rings = [
                .init(ring: ring, completeThrough: 9, nextSeq: 10),
                .init(ring: ring, completeThrough: nil, nextSeq: 1),
            ]
            $0.maxVersion = 3
            $0.gaps = 2
            $0.persons = 1
            $0.wearer = .init(person: anna, name: "Anna", until: now)
        }
        var bare = ReplaceReport(device: DeviceID(address), address: nil, outcome: .refused)
        bare.problem = Problem(code: "lease_held", text: "Held.", remedy: "Wait.")
        let list = try object(ReplaceText.json([full, bare]))
        let first = try #require(list.first)
        #expect(first["device_id"] as? String == "band_F0F1F2F3F4F5")
        #expect(first["address"] as? String == "F0:F1:F2:F3:F4:F5")
        #expect(first["outcome"] as? String == "taken_over")
        let rings = try #require(first["rings"] as? [[String: Any]])
        #expect(rings.map { $0["ring"] as? String } == ["b5e5d00d", "b5e5d00d"])
        #expect(rings.map { $0["complete_through"] as? Int } == [9, nil])
        #expect(rings.map { $0["next_seq"] as? Int } == [10, 1])
        #expect(first["max_version"] as? Int == 3 && first["gaps"] as? Int == 2)
        #expect(first["persons"] as? Int == 1 && first["problem"] is NSNull)
        let wearer = try #require(first["wearer"] as? [String: Any])
        #expect(wearer["person"] as? String == "p_a" && wearer["name"] as? String == "Anna")
        #expect(wearer["until"] as? String == "2026-10-27T05:31:00.000Z")
        #expect((first["lease"] as? [String: Any])?["ours"] as? Bool == true)
        let last = try #require(list.last)
        #expect((last["problem"] as? [String: Any])?["code"] as? String == "lease_held")
        for key in ["address", "wearer", "lease"] { #expect(last[key] is NSNull, "\(key)") }
    }
}
