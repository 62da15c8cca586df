import BandProfile
import GatewayBus
import GatewayModel
import Testing

@testable import Gateway

struct PeopleLookupTests {
    private let address = BluetoothAddress(bits: 0xf0f1_f2f3_f4f5)
    private let lookup: PeopleLookup
    private let anna: Person
    private let ben: Person

    init() throws {
        anna = Person(id: try #require(PersonID("p_a")), name: "Anna")
        ben = Person(id: try #require(PersonID("p_b")), name: "Ben O'Neil")
        var band = BandStatus(
            address: BluetoothAddress(bits: 0xf0f1_f2f3_f4f5), device: try #require(DeviceID("blue")),
            mode: .own)
        band.name = "Ben's"
        lookup = PeopleLookup(persons: [anna, ben], bands: [band])
    }

    private func failure(_ body: () throws(CommandFailure) -> Void) -> CommandFailure? {
        do {
            try body()
            return nil
        } catch {
            return error
        }
    }

    @Test func aPersonIsNamedByIdOrName() throws {
        #expect(try lookup.person("p_b") == ben)
        #expect(try lookup.person("Ben O'Neil") == ben)
        let unknown = failure { () throws(CommandFailure) in _ = try lookup.person("Carl") }
        #expect(unknown?.code == .notFound)
        #expect(unknown?.message == "nobody here is called 'Carl'. Known: Anna, Ben O'Neil.")
    }

    @Test(arguments: ["blue", "F0:F1:F2:F3:F4:F5", "f0:f1:f2:f3:f4:f5", "Ben's"])
    func aBandIsNamedByDeviceIdAddressOrName(_ name: String) throws {
        #expect(try lookup.device(name).text == "blue")
    }

    @Test(arguments: ["band_F0F1F2F3F4F5", "F0:F1:F2:F3:F4:F6", ""]) func anUnknownBandIsNotFound(
        _ name: String
    ) {
        #expect(failure { () throws(CommandFailure) in _ = try lookup.device(name) }?.code == .notFound)
    }

    @Test(arguments: [
        ("Anna", "p_c"), ("p_a", "p_c"), ("Carl", "p_a"), ("Carl", "Anna"),
    ])
    func aNewPersonIsNeverMistakenForAnother(_ name: String, _ id: String) throws {
        let id = try #require(PersonID(id))
        #expect(
            failure { () throws(CommandFailure) in try lookup.checkNew(name: name, id: id) }?.code == .taken)
    }

    @Test func whoCameWithoutANameGetsOne() throws {
        let id = try #require(PersonID("p_50f4"))
        var lookup = lookup
        lookup.persons.append(Person(id: id, name: id.text))
        try lookup.checkNew(name: "Carla", id: id)
        #expect(
            failure { () throws(CommandFailure) in try lookup.checkNew(name: "Anna", id: id) }?.code == .taken
        )
    }

    @Test func aNewNameAndIdAreFine() throws {
        try lookup.checkNew(name: "Carl", id: try #require(PersonID("p_c")))
    }

    // MARK: overlaps

    private func overlap(from: Int64, to: Int64? = nil, with old: (Int64, Int64?)) throws -> String {
        let new = AssignRequest(
            band: "blue", person: "Anna", from: Timestamp(milliseconds: from),
            to: to.map { Timestamp(milliseconds: $0) })
        let failure = lookup.overlap(
            of: new,
            with: Assignment(
                device: try #require(DeviceID("blue")), person: ben.id, from: Timestamp(milliseconds: old.0),
                to: old.1.map { Timestamp(milliseconds: $0) }))
        #expect(failure.code == .taken)
        return failure.message
    }

    @Test func anEarlierAssignmentIsEndedByTheCommandThatIsNamed() throws {
        #expect(
            try overlap(from: 1_793_079_060_000, with: (1_792_000_000_000, nil)) == """
                F0:F1:F2:F3:F4:F5 is worn by Ben O'Neil (p_b) from 2026-10-14T17:46:40Z until further notice, and only \
                one assignment can hold at a time.
                End that one first: bandferry assign F0:F1:F2:F3:F4:F5 'Ben O'\\''Neil' --from 2026-10-14T17:46:40Z \
                --to 2026-10-27T05:31Z
                """)
    }

    @Test func oneWithTheSameBeginningIsTakenBackFirst() throws {
        let message = try overlap(from: 1_793_079_120_000, with: (1_793_079_120_000, nil))
        #expect(
            message.contains(
                "Take that one back first: bandferry unassign F0:F1:F2:F3:F4:F5 --from 2026-10-27T05:32Z"))
        #expect(!message.contains("--to"))
    }

    @Test func aLaterAssignmentIsMadeWayForOrTakenBack() throws {
        let message = try overlap(from: 1_793_079_060_000, with: (1_793_079_120_000, 1_793_079_180_500))
        #expect(message.contains("from 2026-10-27T05:32Z until 2026-10-27T05:33:00.500Z"))
        #expect(message.contains("--to 2026-10-27T05:32Z or earlier"))
        #expect(message.contains("bandferry unassign F0:F1:F2:F3:F4:F5 --from 2026-10-27T05:32Z"))
    }

    // MARK: ids

    @Test func randomIdsAreDistinctAndSayNothing() {
        let ids = (0..<1000).map { _ in PersonID.random().text }
        #expect(Set(ids).count == 1000)
        for id in ids {
            #expect(id.hasPrefix("p_") && id.utf8.count == 18)
            #expect(id.dropFirst(2).allSatisfy { $0.isHexDigit && !$0.isUppercase })
        }
    }
}

struct ClockProblemTests {
    @Test func onlyAClockThatCanBeBelievedIsNoProblem() {
        #expect(Problem.hostClock(.synchronised) == nil)
        #expect(Problem.hostClock(.plausible)?.code == "clock_unsynchronised")
        #expect(Problem.hostClock(.implausible)?.code == "clock_implausible")
    }

    @Test(arguments: [HostTrust.plausible, .implausible]) func itSaysWhatFollowsAndWhatToDo(
        _ trust: HostTrust
    ) {
        let problem = Problem.hostClock(trust)
        #expect(problem?.text.contains("a day at most") == (trust == .implausible))
        #expect(problem?.text.contains("are corrected once") == true)
        #expect(problem?.remedy.contains("timedatectl set-ntp true") == true)
        #expect(problem?.remedy.contains("trust = always") == true)
    }
}
