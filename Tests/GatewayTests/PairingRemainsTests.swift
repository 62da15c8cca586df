import BandProfile
import GatewayBus
import GatewayModel
import Testing

@testable import BlueZ
@testable import Gateway

@Suite struct PairingRemainsTests {
    private static let band = BluetoothAddress(bits: 7)
    private static let (one, two) = (BluetoothAddress(bits: 1), BluetoothAddress(bits: 2))

    private func device(
        _ adapter: BluetoothAddress = one, paired: Bool = false, trusted: Bool = false,
        _ address: BluetoothAddress = band
    ) -> DeviceSnapshot {
        DeviceSnapshot(
            address: address, addressType: .random, adapter: adapter, connected: false, paired: paired,
            bonded: paired, trusted: trusted, blocked: false, servicesResolved: false, uuids: [])
    }

    private func left(_ before: [DeviceSnapshot], _ after: [DeviceSnapshot]) -> [PairingRemains] {
        PairingRemains.left(by: Self.band, before: before, after: after, on: [Self.one, Self.two])
    }

    @Test func whatWasNeitherTrustedNorBondedGoes() {
        #expect(left([], [device(trusted: true)]) == [.device(on: Self.one)])
        #expect(left([device()], [device(paired: true, trusted: true)]) == [.device(on: Self.one)])
        #expect(left([], [device()]).isEmpty, "BlueZ forgets it by itself")
    }

    @Test func aBondThatWasThereStays() {
        #expect(left([device(paired: true)], [device(paired: true)]).isEmpty)
        #expect(
            left([device(paired: true)], [device(paired: true, trusted: true)]) == [.trust(on: Self.one)])
        #expect(left([device(trusted: true)], [device(paired: true, trusted: true)]).isEmpty)
    }

    @Test func oneAdaptersBondIsNotTheOthers() {
        let before = [device(Self.one, paired: true, trusted: true)]
        #expect(left(before, before + [device(Self.two, trusted: true)]) == [.device(on: Self.two)])
    }

    @Test func othersAreLeftAlone() {
        #expect(left([], [device(BluetoothAddress(bits: 3), trusted: true)]).isEmpty)
        #expect(left([], [device(paired: true, trusted: true, BluetoothAddress(bits: 8))]).isEmpty)
    }
}

@Suite struct BondRefusalTests {
    private static let band = BluetoothAddress(bits: 7)

    /// Of a bond that is doubted the connection may just have broken.
    @Test(arguments: BondTrouble.allCases) func onlyABondThatIsCertainlyLostIsReplacedUnasked(
        _ trouble: BondTrouble
    ) {
        let refusal = BondRefusal(trouble: trouble, band: Self.band)
        #expect(refusal.mayReplaceBond(isAdopted: false) == (trouble == .lost))
        #expect(!refusal.mayReplaceBond(isAdopted: true))
        var again = refusal
        again.isBondGone = true
        #expect(!again.mayReplaceBond(isAdopted: false), "once")
    }

    @Test(arguments: BondTrouble.allCases) func theCommandThatMendsItIsOneThatWorks(_ trouble: BondTrouble) {
        let refusal = BondRefusal(trouble: trouble, band: Self.band)
        #expect(refusal.failure(isAdopted: true).message.contains("'bandferry pair"))
        let before = refusal.failure(isAdopted: false).message
        #expect(before.contains("'bandferry adopt"))
        #expect(before.contains("'bandferry pair") == (trouble == .doubtful), "only after it was adopted")
        #expect(!before.contains("is gone"))
        var again = refusal
        again.isBondGone = true
        #expect(again.failure(isAdopted: false).message.hasSuffix(" The old bond is gone."))
    }

    @Test func otherFailuresOfAnAdoptionNameNoCommandThatRefuses() {
        let failure = CommandFailure(.outOfRange, "bring it nearer, and run 'bandferry pair F0' again")
        #expect(
            failure.beforeAdoption
                == CommandFailure(.outOfRange, "bring it nearer, and run 'bandferry adopt F0' again"))
    }
}
