import BandProfile
import GatewayModel
import Testing

@testable import Store

@Suite struct BandTests {
    let fixture: StoreFixture
    let store: Store
    let address = StoreFixture.address
    let device = StoreFixture.device

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
    }

    @Test func whatTheFileSaysWinsOverACommand() async throws {
        try await store.adopt(address: address, device: device, mode: .observe, name: nil, configured: false)
        try await store.adopt(address: address, device: device, mode: .own, name: "B", configured: true)
        try await store.adopt(address: address, device: device, mode: .observe, name: nil, configured: false)
        #expect(
            try await store.adoptedBands()
                == [AdoptedBand(address: address, device: device, mode: .own, name: "B", configured: true)])
        // Gone from the file, it stays adopted by the command.
        try await store.clearConfigured()
        #expect(try await store.adoptedBands().map(\.configured) == [false])
        try await store.forget(address)
        #expect(try await store.adoptedBands().isEmpty)
        #expect(try await store.bandStatuses().map(\.adopted) == [false])
    }

    @Test func aForgottenBandOfWhichNothingIsKnownIsDropped() async throws {
        try await store.adopt(address: address, device: device, mode: .own, name: nil, configured: false)
        try await store.setProblem(device: device, Problem(code: "c", text: "t", remedy: "r"))
        try await store.setPause(
            StoredPause(failures: 1, milliseconds: 1, failedAt: Timestamp(milliseconds: 1)), of: device)
        #expect(try await store.dropEmptyBands() == 0, "it is adopted")
        try await store.forget(address)
        #expect(try await store.dropEmptyBands() == 1)
        #expect(try await store.bandStatuses().isEmpty)
        // It comes as a stranger, with what is said of it now.
        try await store.adopt(address: address, device: device, mode: .observe, name: nil, configured: false)
        _ = try await store.commit(chunk(1...3), of: device, clock: reading())
        #expect(
            try await store.bandStatuses().map { "\($0.mode) \($0.stored) \($0.problem?.code ?? "-")" } == [
                "observe 3 -"
            ])
    }

    @Test func aForgottenBandOfWhichAnythingIsKnownStays() async throws {
        let person = Person(id: try #require(PersonID("p_a")), name: "Anna")
        _ = try await store.addPerson(person)
        let start = Timestamp(milliseconds: 0)
        let wears = { (device: DeviceID) in Assignment(device: device, person: person.id, from: start) }
        let known: [(String, (DeviceID) async throws -> Void)] = [
            ("rows", { _ = try await store.commit(chunk(1...3), of: $0, clock: reading()) }),
            ("a gap", { try await store.writeGap(gap(1, 3), device: $0) }),
            ("an assignment", { _ = try await store.assign(wears($0)) }),
            (
                "one that was taken back",
                {
                    _ = try await store.assign(wears($0))
                    _ = try await store.unassign($0, from: start)
                }
            ),
            (
                "a lease",
                { try await store.noteLease(BandLease(isOurs: true, holder: "gw", until: start), of: $0) }
            ),
            (
                "a version at the server",
                { _ = _ = try fixture.outbox().raiseVersions(of: $0, above: 7, onlyNews: false) }
            ),
        ]
        for (index, (what, make)) in known.enumerated() {
            let address = BluetoothAddress(bits: UInt64(index + 1))
            let device = DeviceID(address)
            try await store.adopt(address: address, device: device, mode: .own, name: what, configured: false)
            try await make(device)
            try await store.forget(address)
        }
        #expect(try await store.dropEmptyBands() == 0)
        #expect(try await store.bandStatuses().compactMap(\.name) == known.map(\.0))
    }

    /// `adopt = any` hears bands that are owned as well.
    @Test func whatIsHeardChangesNothingOfABandThatWasTakenIn() async throws {
        try await store.adopt(
            address: address, device: device, mode: .own, ack: .upload, name: "B", configured: false)
        let owned = try await store.adoptedBands()
        try await store.takeIn(address: address, device: device, name: "Band 01")
        // Under an id of its own, too.
        let other = BluetoothAddress(bits: 7)
        let ward = try #require(DeviceID("ward-7"))
        try await store.takeIn(address: address, device: ward, name: nil)
        try await store.takeIn(address: other, device: device, name: nil)
        #expect(try await store.adoptedBands() == owned)
        // A stranger is taken in: observed.
        try await store.takeIn(address: other, device: ward, name: "Band 02")
        #expect(
            try await store.adoptedBands().filter { $0 != owned.first }
                .map { "\($0.device) \($0.mode) \($0.ack) \($0.name ?? "")" } == [
                    "ward-7 observe stored Band 02"
                ])
    }

    /// With rows, and without any, where nothing is left of it but that.
    @Test(arguments: [false, true]) func whatWasForgottenIsNotTakenInUntilItIsAdopted(_ hasRows: Bool)
        async throws
    {
        try await store.takeIn(address: address, device: device, name: "Band 01")
        if hasRows { _ = try await store.commit(chunk(1...3), of: device, clock: reading()) }
        try await store.forget(address)
        #expect(try await store.dropEmptyBands() == (hasRows ? 0 : 1))
        try await store.takeIn(address: address, device: device, name: "Band 01")
        #expect(try await store.adoptedBands().isEmpty)
        // Nor under another id, nor after a restart; others are.
        try await store.close()
        let store = try fixture.open()
        try await store.takeIn(address: address, device: try #require(DeviceID("ward-7")), name: "Band 01")
        let other = BluetoothAddress(bits: 7)
        try await store.takeIn(address: other, device: DeviceID(other), name: nil)
        #expect(try await store.adoptedBands().map(\.address) == [other])
        try await store.adopt(address: address, device: device, mode: .observe, name: nil, configured: false)
        #expect(try await store.adoptedBands().map(\.address) == [other, address])
    }

    @Test func aNameThatWasGivenIsNotReplacedByTheAdvertisedOne() async throws {
        try await store.adopt(address: address, device: device, mode: .own, name: "Kitchen", configured: true)
        let contact = ContactNote(time: Timestamp(milliseconds: 5), name: "Band 01")
        try await store.noteContact(device, contact)
        #expect(try await store.bandStatuses().map(\.name) == ["Kitchen"])
        let other = try #require(DeviceID("other"))
        try await store.adopt(
            address: BluetoothAddress(bits: 7), device: other, mode: .own, name: nil, configured: false)
        try await store.noteContact(other, contact)
        #expect(try await store.bandStatuses().first { $0.device == other }?.name == "Band 01")
    }

    @Test func anAddressWithANewDeviceIDLeavesTheOldOnesRows() async throws {
        try await store.adopt(address: address, device: device, mode: .own, name: nil, configured: true)
        _ = try await store.commit(chunk(1...3), of: device, clock: reading())
        let renamed = try #require(DeviceID("ward-7"))
        try await store.adopt(address: address, device: renamed, mode: .own, name: nil, configured: true)
        #expect(try await store.adoptedBands().map(\.device) == [renamed])
        #expect(try await store.bandStatuses().map(\.stored) == [3, 0])
    }

    @Test func contactsAndProblemsShowInTheStatus() async throws {
        try await store.adopt(address: address, device: device, mode: .own, name: nil, configured: true)
        let time = fixture.clock.now
        try await store.noteContact(
            device,
            ContactNote(time: time, mtu: 247, battery: 80, firmware: "1.2", name: "B", info: info(1, 40)))
        try await store.noteContact(device, ContactNote(time: time))
        _ = try await store.commit(chunk(1...3), of: device, clock: reading())
        let problem = Problem(code: "mtu", text: "small", remedy: "set it")
        try await store.setProblem(device: device, problem)
        fixture.clock.advance(milliseconds: 60_000)
        try await store.setProblem(device: device, problem)
        let status = try #require(try await store.bandStatuses().first)
        #expect(status.mtu == 247)
        #expect(status.battery == 80)
        #expect(status.firmware == "1.2")
        #expect(status.name == "B")
        #expect(status.lastContact == time)
        #expect(status.newestSeq == 40)
        #expect(status.nextSeq == 4)
        #expect(status.ring == StoreFixture.ring)
        let newest = try fixture.samples().last
        #expect(status.newestRecordedAt == newest?.recordedAt)
        #expect(status.pending == 3)
        let oldest = try fixture.samples().first
        #expect(status.oldestPendingAt == oldest?.recordedAt && oldest != nil)
        #expect(status.problem?.since == time)
        #expect(try fixture.reader().status() == [status])
        try await store.setProblem(device: device, nil)
        #expect(try await store.bandStatuses().first?.problem == nil)
        try await store.setProblem(device: nil, problem)
        #expect(try await store.gatewayProblem()?.code == "mtu")
    }
}
