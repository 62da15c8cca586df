import BandModel
import BandProfile
import BandSimulator
import DBus
import GatewayModel
import Locking
import Testing

@testable import BlueZ
@testable import BlueZModel

/// Answers what it is told to, and notes what it was asked.
private final class ScriptedPerson: PairingPerson {
    private let reply: PairingReply?
    private let notes = Guarded<[PairingQuestion]>([])
    private let withdrawals = Guarded(0)
    /// Says nothing until BlueZ withdraws the question.
    private let isSilent: Bool
    private let silence = OneShot<PairingReply?>()

    init(_ reply: PairingReply?, isSilent: Bool = false) {
        self.reply = reply
        self.isSilent = isSilent
    }

    var asked: [PairingQuestion] { notes.withLock { $0 } }
    var withdrawn: Int { withdrawals.withLock { $0 } }
    var isGone: Bool { false }

    func ask(_ question: PairingQuestion) async -> PairingReply? {
        notes.withLock { $0.append(question) }
        return isSilent ? await silence.value() : reply
    }

    func withdraw() {
        withdrawals.withLock { $0 += 1 }
        silence.set(nil)
    }

    func told(_ progress: PairingProgress) {}
}

@Suite(.timeLimit(.minutes(5))) struct PairingTests {
    private func bed(_ pairing: SimulatedPairing, version: BlueZVersion = .v5_66) async throws -> GatewayBed {
        let bed = try await GatewayBed.start {
            $0.pairing = pairing
            $0.passkey = 4_711
            $0.version = version
        }
        try await bed.client.registerAgent { _ in true }
        return bed
    }

    private func isBonded(_ bed: GatewayBed) async -> Bool { await bed.client.device(band)?.bonded == true }

    @Test func aPasskeyIsEnteredHere() async throws {
        let bed = try await bed(.passkeyEntry)
        let person = ScriptedPerson(.passkey(4_711))
        let link = try await bed.connect()
        try await bed.client.beginPairing(with: band, asking: person)
        // BlueZ makes the bond that a read needs.
        _ = try await link.readInfo(deadline: .seconds(60))
        await bed.client.endPairing(with: band)
        #expect(person.asked == [.enterPasskey])
        #expect(await isBonded(bed))
        #expect(await bed.client.pairingDemand(of: band) == .answered)
    }

    @Test func aWrongPasskeyMakesNoBond() async throws {
        let bed = try await bed(.passkeyEntry)
        let link = try await bed.connect()
        try await bed.client.beginPairing(with: band, asking: ScriptedPerson(.passkey(4_712)))
        #expect(await failure { try await link.pairIfNeeded() }?.kind == .authentication)
        #expect(await bed.client.pairingDemand(of: band) == .answered)
        #expect(await !isBonded(bed))
    }

    @Test func aPasskeyIsShownHere() async throws {
        let bed = try await bed(.passkeyDisplay)
        let person = ScriptedPerson(nil)
        let link = try await bed.connect()
        try await bed.client.beginPairing(with: band, asking: person)
        try await link.pairIfNeeded()
        #expect(await isBonded(bed))
        #expect(
            Set(person.asked.map(String.init(describing:))).count == 7, "with each digit: \(person.asked)")
        #expect(person.asked.contains(.showPasskey(4_711, entered: 0)))
        #expect(await bed.client.pairingDemand(of: band) == .shown)
    }

    @Test(arguments: [true, false]) func digitsAreCompared(same: Bool) async throws {
        let bed = try await bed(.numericComparison)
        let person = ScriptedPerson(same ? .same : nil)
        let link = try await bed.connect()
        try await bed.client.beginPairing(with: band, asking: person)
        let failed = await failure { try await link.pairIfNeeded() }
        #expect(failed?.kind == (same ? nil : .authentication))
        #expect(person.asked == [.comparePasskey(4_711)])
        #expect(await isBonded(bed) == same)
        #expect(await bed.client.pairingDemand(of: band) == (same ? .answered : .declined))
    }

    /// A daemon alone has nobody to ask: its agent says so, and such a band makes no bond.
    @Test(arguments: [SimulatedPairing.passkeyEntry, .passkeyDisplay, .numericComparison])
    func withoutAPersonOnlyJustWorks(pairing: SimulatedPairing) async throws {
        let bed = try await bed(pairing)
        let link = try await bed.connect()
        #expect(await failure { try await link.readInfo() }?.kind == .notPaired)
        #expect(await failure { try await link.pairIfNeeded() }?.kind == .authentication)
        #expect(await bed.client.pairingDemand(of: band) == .nothing)
        // And after a person has been there it is so again.
        try await bed.client.beginPairing(with: band, asking: ScriptedPerson(nil))
        await bed.client.endPairing(with: band)
        #expect(await failure { try await link.pairIfNeeded() }?.kind == .authentication)
        #expect(await bed.client.pairingDemand(of: band) == .nothing)
    }

    @Test func justWorksNeedsNobody() async throws {
        let bed = try await bed(.justWorks)
        let link = try await bed.connect()
        _ = try await link.readInfo()
        #expect(await isBonded(bed))
    }

    @Test func aPairingThatIsGivenUpIsWithdrawn() async throws {
        let bed = try await bed(.passkeyEntry)
        let person = ScriptedPerson(nil, isSilent: true)
        let link = try await bed.connect()
        try await bed.client.beginPairing(with: band, asking: person)
        let bystander = ScriptedPerson(nil)
        try await bed.client.beginPairing(with: BluetoothAddress(bits: 7), asking: bystander)
        let pairing = Task { await failure { try await link.pairIfNeeded(deadline: .seconds(60)) } }
        try await bed.wait { _ in person.asked == [.enterPasskey] }
        pairing.cancel()
        #expect(await pairing.value?.kind == .cancelled)
        try await bed.wait { _ in person.withdrawn == 1 }
        #expect(bystander.withdrawn == 0, "of the other band nothing was asked")
        #expect(await !isBonded(bed))
    }

    @Test func oneBandIsPairedByOnePersonAtATime() async throws {
        let bed = try await bed(.passkeyEntry)
        try await bed.client.beginPairing(with: band, asking: ScriptedPerson(nil))
        let second = await failure {
            try await bed.client.beginPairing(with: band, asking: ScriptedPerson(nil))
        }
        #expect(second?.kind == .inProgress)
        await bed.client.endPairing(with: band)
        try await bed.client.beginPairing(with: band, asking: ScriptedPerson(nil))
    }

    @Test func aPairingThatCouldNotBeginIsNotInTheWayOfTheNext() async throws {
        let faults = try FaultScript("failcall:RegisterAgent@2")
        let bed = try await GatewayBed.start {
            $0.pairing = .passkeyEntry
            $0.passkey = 4_711
            $0.adapterFaults = faults
        }
        try await bed.client.registerAgent { _ in true }
        let link = try await bed.connect()
        let first = await failure {
            try await bed.client.beginPairing(with: band, asking: ScriptedPerson(nil))
        }
        #expect(first?.operation == .registerAgent)
        // The agent comes back by itself, for when nobody is there.
        try await bed.wait { _ in await bed.client.registeredCapability == "NoInputNoOutput" }
        let person = ScriptedPerson(.passkey(4_711))
        try await bed.client.beginPairing(with: band, asking: person)
        try await link.pairIfNeeded()
        #expect(person.asked == [.enterPasskey])
    }

    @Test func aPairingThatIsCancelledAsItBeginsIsNotInTheWayOfTheNext() async throws {
        let bed = try await bed(.passkeyEntry)
        let beginning = Task {
            try await bed.client.beginPairing(with: band, asking: ScriptedPerson(nil))
        }
        beginning.cancel()
        if case .success = await beginning.result { await bed.client.endPairing(with: band) }
        try await bed.wait { _ in await bed.client.registeredCapability == "NoInputNoOutput" }
        try await bed.client.beginPairing(with: band, asking: ScriptedPerson(nil))
    }

    @Test func anAgentThatBlueZDidNotTakeIsRegisteredAgain() async throws {
        let faults = try FaultScript("failcall:RegisterAgent@3")
        var timings = GatewayBed.timings
        timings.agentRetry = .milliseconds(50)
        let bed = try await GatewayBed.start(timings: timings) {
            $0.pairing = .justWorks
            $0.adapterFaults = faults
        }
        try await bed.client.registerAgent { _ in true }
        try await bed.client.beginPairing(with: band, asking: ScriptedPerson(nil))
        await bed.client.endPairing(with: band)
        try await bed.wait { _ in await bed.client.registeredCapability == "NoInputNoOutput" }
        let link = try await bed.connect()
        _ = try await link.readInfo()
        #expect(await isBonded(bed))
    }

    /// bluetoothd has not heard yet that the person is gone, and asks for the digits.
    @Test func digitsThatNobodyComparedAreNotTheSame() async throws {
        var timings = GatewayBed.timings
        timings.other = .milliseconds(500)
        timings.agentRetry = .seconds(3_600)
        let bed = try await GatewayBed.start(timings: timings) { $0.pairing = .numericComparison }
        try await bed.client.registerAgent { _ in true }
        let link = try await bed.connect()
        try await bed.client.beginPairing(with: band, asking: ScriptedPerson(.same))
        try await bed.simulator.setWedged(true)
        await bed.client.endPairing(with: band)
        try await bed.simulator.setWedged(false)
        #expect(await failure { try await link.pairIfNeeded() }?.kind == .authentication)
        #expect(await bed.client.pairingDemand(of: band) == .notNow, "it asks again once it knows")
        #expect(await !isBonded(bed))
    }

    /// The keyboard that another band's person has makes BlueZ ask about a band that needs none.
    @Test func whatBlueZAsksBecauseOfAnotherBandCountsForNothing() async throws {
        let bed = try await bed(.numericComparison)
        let link = try await bed.connect()
        try await bed.client.beginPairing(
            with: BluetoothAddress(bits: 7), asking: ScriptedPerson(.same))
        #expect(await failure { try await link.pairIfNeeded() }?.kind == .authentication)
        #expect(await bed.client.pairingDemand(of: band) == .notNow)
        await bed.client.endPairing(with: BluetoothAddress(bits: 7))
    }

    /// Any device near by may ask for a bond, under as many addresses as it likes.
    @Test func ofStrangersNothingIsNoted() async throws {
        let bed = try await GatewayBed.start { $0.pairing = .numericComparison }
        try await bed.client.registerAgent { _ in false }
        let link = try await bed.connect()
        try await bed.client.beginPairing(
            with: BluetoothAddress(bits: 7), asking: ScriptedPerson(.same))
        #expect(await failure { try await link.pairIfNeeded() }?.kind == .authentication)
        #expect(await bed.client.demands.isEmpty)
    }

    @Test func whatWasAskedIsForgottenWithBluetoothd() async throws {
        let bed = try await bed(.passkeyEntry)
        let link = try await bed.connect()
        try await bed.client.beginPairing(with: band, asking: ScriptedPerson(nil))
        #expect(await failure { try await link.pairIfNeeded() }?.kind == .authentication)
        #expect(await bed.client.pairingDemand(of: band) == .declined)
        try await bed.stopSimulator()
        try await bed.wait { $0.contains(.bluetoothdGone) }
        #expect(await bed.client.pairingDemand(of: band) == .nothing)
        #expect(await bed.client.dropReasons.isEmpty)
    }

    /// Until 5.68 it looks like any connection that breaks.
    @Test(arguments: BlueZVersion.allCases) func aBondThatTheBandLostIsToldAsBlueZTells(version: BlueZVersion)
        async throws
    {
        let bed = try await bed(.justWorks, version: version)
        let link = try await bed.connect()
        _ = try await link.readInfo()
        await link.disconnect()
        try await bed.loseBond()
        let failed = await failure { try await bed.client.connect(band) }
        #expect(failed?.kind == (version == .v5_66 ? .transient : .keyMissing))
        #expect(await isBonded(bed), "BlueZ does not learn of it")
        if version == .v5_84 {
            try await bed.wait { _ in
                await bed.client.dropReason(of: band) == "org.bluez.Reason.Authentication"
            }
        }
        // Removed, found and paired anew.
        try await bed.client.remove(band)
        try await bed.wait { _ in await bed.client.device(band) != nil }
        let next = try await bed.connect()
        _ = try await next.readInfo()
        #expect(await isBonded(bed))
    }
}
