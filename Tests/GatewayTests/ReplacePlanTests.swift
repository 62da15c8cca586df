import BandProfile
import GatewayBus
import GatewayConfiguration
import GatewayModel
import IngestAPI
import Testing

@testable import Gateway

@Suite struct ReplacePlanTests {
    private let first = BluetoothAddress(bits: 0xf0f1_f2f3_f4f5)
    private let second = BluetoothAddress(bits: 0xf0f1_f2f3_f4f6)
    private let blue: DeviceID

    init() throws { blue = try #require(DeviceID("blue")) }

    private func steps(
        _ names: [String], address: BluetoothAddress? = nil, isEverything: Bool = false,
        server: [String] = ["band_F0F1F2F3F4F5", "blue"], bands: [BandStatus] = [],
        file: [ConfiguredBand] = []
    ) throws -> [ReplacePlan.Step] {
        var configuration = Configuration()
        configuration.bands = file
        return try ReplacePlan(
            request: ReplaceRequest(bands: names, isEverything: isEverything, address: address),
            devices: server.map { DeviceState(deviceID: $0) }, bands: bands, configuration: configuration
        ).steps()
    }

    private func status(
        _ address: BluetoothAddress, _ device: DeviceID, _ mode: BandMode = .own, adopted: Bool = true
    ) -> BandStatus {
        var status = BandStatus(address: address, device: device, mode: mode)
        status.adopted = adopted
        return status
    }

    private func problem(_ steps: [ReplacePlan.Step]) throws -> Problem {
        let step = try #require(steps.first)
        return try #require(step.problem)
    }

    // MARK: which band

    @Test func aBandIsNamedByDeviceIDOrAddress() throws {
        for name in ["band_F0F1F2F3F4F5", "F0:F1:F2:F3:F4:F5", "f0:f1:f2:f3:f4:f5"] {
            let found = try steps([name])
            #expect(found.map(\.device) == [DeviceID(first)], "\(name)")
            #expect(found.map(\.state.deviceID) == ["band_F0F1F2F3F4F5"])
            #expect(found.map(\.address) == [first])
            #expect(found.first?.problem == nil && found.first?.isOwned == false)
        }
    }

    @Test func namesOfOneBandMeanItOnceInTheOrderOfTheRequest() throws {
        let named = try steps(
            ["blue", "F0:F1:F2:F3:F4:F5", "band_F0F1F2F3F4F5", "blue"], bands: [status(second, blue)])
        #expect(named.map(\.device) == [blue, DeviceID(first)])
    }

    @Test func anAddressThatOnlyThisHostKnowsNamesABandToo() throws {
        #expect(try steps(["F0:F1:F2:F3:F4:F6"], bands: [status(second, blue)]).map(\.device) == [blue])
        let file = [ConfiguredBand(address: second, device: blue)]
        #expect(try steps(["F0:F1:F2:F3:F4:F6"], file: file).map(\.device) == [blue])
    }

    @Test func aBandIsNamedByTheNameThatItHasHere() throws {
        var anna = status(second, blue)
        anna.name = "Anna"
        #expect(try steps(["Anna"], bands: [anna]).map(\.device) == [blue])
        // An id is what it says.
        anna.name = "band_F0F1F2F3F4F5"
        #expect(try steps(["band_F0F1F2F3F4F5"], bands: [anna]).map(\.device) == [DeviceID(first)])
        anna.name = "Anna"
        #expect(throws: CommandFailure.self, "the server does not know it") {
            try steps(["Anna"], server: ["band_F0F1F2F3F4F5"], bands: [anna])
        }
    }

    @Test func anUnknownNameEndsItAndNamesWhatIsKnown() {
        #expect(
            throws: CommandFailure(
                .notFound,
                "the server knows no band 'green' of this account.\nKnown: band_F0F1F2F3F4F5, blue.")
        ) { try steps(["blue", "green"], server: ["blue", "band_F0F1F2F3F4F5"]) }
        #expect(
            throws: CommandFailure(
                .notFound, "the server knows no band 'blue' of this account.\nKnown: none yet.")
        ) { try steps(["blue"], server: []) }
    }

    /// A server may call a device what it likes, and a person reads the answer on a terminal.
    @Test func whatIsNoDeviceIDIsNotNamed() {
        #expect(
            throws: CommandFailure(
                .notFound, "the server knows no band 'green' of this account.\nKnown: blue.")
        ) { try steps(["green"], server: ["band_\u{1b}[2J\u{1b}]0;owned\u{7}EVIL", "blue", ""]) }
    }

    @Test func anUnknownNameIsAnsweredWithTwentyNamesAtMost() throws {
        let server = (10..<40).map { "b\($0)" }
        do {
            _ = try steps(["green"], server: server)
            Issue.record("it was found")
        } catch let failure as CommandFailure {
            #expect(failure.message.hasSuffix("b28, b29."), "\(failure.message)")
        }
    }

    @Test func everythingIsWhatIsNotOwnedHere() throws {
        let bands = [status(first, DeviceID(first)), status(second, blue, .observe)]
        let all = try steps(
            [], isEverything: true, server: ["band_F0F1F2F3F4F5", "blue", "no id"], bands: bands)
        #expect(all.map(\.device) == [blue])
        #expect(try steps([], isEverything: true).map(\.device) == [DeviceID(first), blue])
    }

    @Test func aBandIsOwnedHereOnlyWhenItIsAdoptedToOwn() throws {
        func isOwned(_ mode: BandMode, adopted: Bool) throws -> Bool? {
            try steps(["blue"], bands: [status(second, blue, mode, adopted: adopted)]).first?.isOwned
        }
        #expect(try isOwned(.own, adopted: true) == true)
        #expect(try isOwned(.own, adopted: false) == false)
        #expect(try isOwned(.observe, adopted: true) == false)
    }

    // MARK: its address

    @Test func whatAPersonSaysOfAnAddressGoesFirstThenWhatIsKnownHere() throws {
        let third = BluetoothAddress(bits: 7)
        let bands = [status(first, blue)]
        let file = [ConfiguredBand(address: second, device: blue)]
        #expect(try steps(["blue"], address: third, bands: bands, file: file).first?.address == third)
        #expect(try steps(["blue"], bands: bands, file: file).first?.address == first)
        #expect(try steps(["blue"], file: file).first?.address == second)
        #expect(try steps(["band_F0F1F2F3F4F5"], address: third).first?.address == third)
    }

    @Test func anAddressThatIsGivenIsThatOfOneBandOnly() throws {
        let several = try steps(["blue", "band_F0F1F2F3F4F5"], address: second)
        #expect(several.map(\.address) == [nil, first])
        #expect(try steps([], address: second, isEverything: true).map(\.address) == [first, nil])
    }

    @Test(arguments: [
        "blue", "band_", "band_F0F1F2F3F4F", "band_F0F1F2F3F4F5F", "band_f0f1f2f3f4f5", "band_F0F1F2F3F4FG",
        "ring_F0F1F2F3F4F5",
    ])
    func onlyAnIDThatWasMadeOfAnAddressTellsIt(_ text: String) throws {
        let device = try #require(DeviceID(text))
        #expect(device.address == nil)
        #expect(DeviceID(first).address == first)
    }

    // MARK: what stands in the way

    @Test func withoutAnAddressOneIsAskedFor() throws {
        let problem = try problem(try steps(["blue"]))
        #expect(problem.code == "address_unknown")
        #expect(problem.remedy == "Name it: bandferry replace blue --address F0:F1:F2:F3:F4:F5")
    }

    @Test func anAddressThatIsAnotherBandsHereIsNotTaken() throws {
        let problem = try problem(try steps(["band_F0F1F2F3F4F5"], bands: [status(first, blue)]))
        #expect(problem.code == "address_taken")
        #expect(problem.text == "F0:F1:F2:F3:F4:F5 is adopted here as blue.")
        #expect(problem.remedy.contains("bandferry forget F0:F1:F2:F3:F4:F5"))
        let forgotten = try steps(["band_F0F1F2F3F4F5"], bands: [status(first, blue, adopted: false)])
        #expect(forgotten.first?.problem == nil)
        #expect(try steps(["blue"], bands: [status(first, blue)]).first?.problem == nil, "it is its own")
    }

    @Test func theFileWins() throws {
        func inFile(_ band: ConfiguredBand) throws -> [ReplacePlan.Step] {
            try steps(["band_F0F1F2F3F4F5"], file: [band])
        }
        let otherwise = try problem(
            try inFile(
                ConfiguredBand(
                    address: first, device: blue, places: [.list(line: 4, isAlone: true), .section(7...8)])))
        #expect(otherwise.code == "in_configuration")
        #expect(otherwise.text.contains("says device_id = blue for F0:F1:F2:F3:F4:F5"))
        #expect(otherwise.remedy.contains("(line 4, 7)"))
        let observed = try problem(
            try inFile(ConfiguredBand(address: first, mode: .observe, places: [.section(4...5)])))
        #expect(observed.code == "in_configuration" && observed.text.contains("says mode = observe for"))
        #expect(try inFile(ConfiguredBand(address: first)).first?.problem == nil)
        #expect(try inFile(ConfiguredBand(address: second, mode: .observe)).first?.problem == nil)
    }

    @Test func ringsAreReadAsTheServerFirstSawThem() {
        func ring(_ name: String, _ through: UInt32?, _ seen: Int64) -> RingState {
            RingState(
                ring: name, completeThrough: through, ackSeq: [:], firstSeen: APITime(milliseconds: seen))
        }
        let state = DeviceState(
            deviceID: "blue",
            rings: [ring("0000000b", 7, 30), ring("no ring", 1, 20), ring("0000000a", nil, 10)])
        let step = ReplacePlan.Step(state: state, device: blue, address: first, isOwned: false)
        #expect(
            step.rings == [
                .init(ring: RingID(rawValue: 10), completeThrough: nil),
                .init(ring: RingID(rawValue: 11), completeThrough: 7),
            ])
    }
}
