import BandProfile
import DBus
import Foundation
import GatewayModel
import Testing

@testable import GatewayBus

/// A generator whose every run a failure's seed repeats. SplitMix64.
struct Seeded: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}

extension Seeded {
    mutating func optional<Value>(_ value: (inout Seeded) -> Value) -> Value? {
        Bool.random(using: &self) ? value(&self) : nil
    }

    mutating func timestamp() -> Timestamp {
        Timestamp(milliseconds: .random(in: -1...2_000_000_000_000, using: &self))
    }
    mutating func count() -> Int { .random(in: 0...2_000_000, using: &self) }
    mutating func text() -> String { ["", "Anna", "ü\u{1F600}", "a, b"].randomElement(using: &self) ?? "" }

    mutating func problem() -> Problem {
        Problem(code: text(), text: text(), remedy: text(), since: optional { $0.timestamp() })
    }

    mutating func band() -> BandStatus {
        let address = BluetoothAddress(bits: .random(in: 0...(.max), using: &self))
        var band = BandStatus(
            address: address,
            device: optional { DeviceID("d\($0.count())") ?? DeviceID(address) } ?? DeviceID(address),
            mode: Bool.random(using: &self) ? .own : .observe)
        band.ack = Bool.random(using: &self) ? .stored : .upload
        band.oldestSeq = optional { .random(in: 0...(.max), using: &$0) }
        band.capacity = optional { .random(in: 0...(.max), using: &$0) }
        band.name = optional { $0.text() }
        band.configured = .random(using: &self)
        band.adopted = .random(using: &self)
        band.connected = .random(using: &self)
        band.syncing = .random(using: &self)
        band.mtu = optional { .random(in: 23...517, using: &$0) }
        band.lastContact = optional { $0.timestamp() }
        band.battery = optional { .random(in: 0...100, using: &$0) }
        band.firmware = optional { $0.text() }
        band.ring = optional { RingID(rawValue: .random(in: 1...(.max), using: &$0)) }
        band.newestSeq = optional { .random(in: 0...(.max), using: &$0) }
        band.newestRecordedAt = optional { $0.timestamp() }
        band.nextSeq = optional { .random(in: 0...(.max), using: &$0) }
        band.stored = count()
        band.pending = count()
        band.quarantined = count()
        band.conflicts = count()
        band.undecodable = count()
        band.gaps = count()
        band.lease = optional {
            BandLease(isOurs: .random(using: &$0), holder: $0.text(), until: $0.timestamp())
        }
        band.problem = optional { $0.problem() }
        return band
    }
}

@Suite struct PropertiesTests {
    @Test(arguments: UInt64(0)..<200) func aBandComesBackAsItWas(_ seed: UInt64) {
        var generator = Seeded(seed: seed)
        let band = generator.band()
        #expect(BandStatus(band.properties) == band, "seed \(seed)")
    }

    @Test(arguments: UInt64(0)..<50) func aGatewayComesBackAsItWas(_ seed: UInt64) {
        var generator = Seeded(seed: seed)
        var status = GatewayStatus(
            version: generator.text(), stateDirectory: generator.text(), running: .random(using: &generator))
        status.uploadURL = generator.optional { $0.text() }
        status.lastUpload = generator.optional { $0.timestamp() }
        status.problems = (0..<Int.random(in: 0...3, using: &generator)).map { _ in generator.problem() }
        status.bands = [generator.band()]
        #expect(GatewayStatus(status.properties, bands: status.bands) == status, "seed \(seed)")
    }

    @Test(arguments: UInt64(0)..<100) func whatIsMissingOrOfAnotherTypeIsNoTrap(_ seed: UInt64) {
        var generator = Seeded(seed: seed)
        var properties = generator.band().properties
        let values: [BusValue?] = [
            nil, .string("x"), .int64(.min), .uint64(.max), .bytes([1]), .array(element: "s", []),
        ]
        for key in properties.keys.sorted() where Bool.random(using: &generator) {
            properties[key] = values.randomElement(using: &generator) ?? nil
        }
        // A band without an address is none; anything else has one.
        let band = BandStatus(properties)
        #expect((band == nil) == (properties["Address"]?.text.flatMap { BluetoothAddress($0) } == nil))
    }

    @Test func scanAndSyncAnswersComeBackAsTheyWere() {
        let address = BluetoothAddress(bits: 0xf0f1_f2f3_f4f5)
        for band in [
            SeenBand(address: address), SeenBand(address: address, name: "Anna", rssi: -71, mode: .observe),
        ] { #expect(SeenBand(band.properties) == band) }
        for report in [
            SyncReport(address: address, stored: 0),
            SyncReport(
                address: address, stored: 7, gaps: 2, problem: Problem(code: "a", text: "b", remedy: "c")),
        ] { #expect(SyncReport(report.properties) == report) }
    }

    @Test func everyPropertySentIsDescribedAndDocumented() throws {
        var generator = Seeded(seed: 1)
        var names: Set<String> = []
        for _ in 0..<50 { names.formUnion(generator.band().properties.keys) }
        #expect(names == Set(GatewayInterfaces.band.properties.map(\.name)))
        let page = try documentation()
        for interface in [GatewayInterfaces.gateway, GatewayInterfaces.band] {
            #expect(page.contains(interface.name))
            for property in interface.properties {
                #expect(page.contains("| `\(property.name)` | `\(property.signature)` |"), "\(property.name)")
            }
            for method in interface.methods { #expect(page.contains("`\(method.name)("), "\(method.name)") }
        }
        for code in CommandFailure.Code.allCases {
            #expect(page.contains("`org.bandferry.Error.\(code.rawValue)`"))
        }
    }

    @Test func everyPropertyHasTheTypeThatIsDescribed() {
        var generator = Seeded(seed: 2)
        let types = Dictionary(
            uniqueKeysWithValues: GatewayInterfaces.band.properties.map { ($0.name, $0.signature) })
        for _ in 0..<20 {
            for (name, value) in generator.band().properties {
                #expect(value.typeSignature == types[name], "\(name)")
            }
        }
    }

    @Test func aChangeSaysWhatIsNewAndWhatIsGone() {
        let change = PropertyChange(
            from: ["A": .bool(true), "B": .string("x"), "C": .byte(1)],
            to: ["A": .bool(true), "B": .string("y")])
        #expect(change.changed == ["B": .string("y")])
        #expect(change.invalidated == ["C"])
        #expect(PropertyChange(from: ["A": .byte(1)], to: ["A": .byte(1)]).isEmpty)
    }

    @Test func pathsAreBlueZsOwn() {
        let address = BluetoothAddress(bits: 0xf0f1_f2f3_f4f5)
        #expect(GatewayBusNames.bandPath(address) == "/org/bandferry/band_F0_F1_F2_F3_F4_F5")
        #expect(GatewayBusNames.address(ofPath: "/org/bandferry/band_F0_F1_F2_F3_F4_F5") == address)
        for path in ["/org/bandferry", "/org/bandferry/band_", "/org/bandferry/band_F0_F1", "/"] {
            #expect(GatewayBusNames.address(ofPath: path) == nil)
        }
    }

    private func documentation() throws -> String {
        let top = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: top.appendingPathComponent("docs/dbus-api.md"), encoding: .utf8)
    }
}

@Suite struct CommandFailureTests {
    @Test(arguments: CommandFailure.Code.allCases) func aFailureCrossesTheBus(_ code: CommandFailure.Code) {
        let failure = CommandFailure(code, "remove line 7 of /etc/bandferry/bandferry.conf")
        #expect(CommandFailure(failure.busError) == failure)
    }

    @Test(arguments: ["org.freedesktop.DBus.Error.NoReply", "org.bandferry.Error.Disconnected", "Failed"])
    func anotherErrorIsNone(_ name: String) {
        #expect(CommandFailure(BusError(name: name, message: "")) == nil)
    }

    @Test func adoptOptionsAreJudged() throws {
        let full = AdoptRequest(
            address: BluetoothAddress(bits: 5), mode: .observe, device: DeviceID("anna-1"), name: "Anna")
        #expect(try AdoptRequest(address: "00:00:00:00:00:05", options: full.options) == full)
        let bad: [(String, BusProperties)] = [
            ("nobody", [:]), ("00:00:00:00:00:05", ["Mode": .string("mine")]),
            ("00:00:00:00:00:05", ["Mode": .byte(1)]), ("00:00:00:00:00:05", ["DeviceID": .string("a b")]),
            ("00:00:00:00:00:05", ["Name": .string("")]), ("00:00:00:00:00:05", ["Name": .string("a\u{1b}")]),
            ("00:00:00:00:00:05", ["Colour": .string("red")]),
        ]
        for (address, options) in bad {
            do {
                _ = try AdoptRequest(address: address, options: options)
                Issue.record("accepted \(options)")
            } catch {
                #expect(error.code == .invalidArguments)
            }
        }
    }
}
