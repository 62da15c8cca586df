import BandProfile
import GatewayBus
import GatewayModel

/// A pairing that came to nothing for what is wrong with the bond.
struct BondRefusal: Error, Equatable {
    var trouble: BondTrouble
    var band: BluetoothAddress
    /// The old bond was removed before: whoever reads of the failure has to know.
    var isBondGone = false

    /// The old bond of a band that is about to be adopted may be removed unasked. Only one that the band has certainly lost:
    /// of one that is doubted the connection may just have broken, and with a sound bond its keys would be lost here alone.
    func mayReplaceBond(isAdopted: Bool) -> Bool { trouble == .lost && !isAdopted && !isBondGone }

    /// What a person reads. `bandferry pair` is for bands that are adopted.
    func failure(isAdopted: Bool) -> CommandFailure {
        let problem = Problem.bond(trouble, of: band)
        let fix =
            switch trouble {
            case _ where isAdopted: problem.remedy
            case .doubtful:
                "Bring the band nearer and try again. If it stays so: run 'bandferry adopt --no-pair \(band)', put the band into "
                    + "pairing mode, and run 'bandferry pair \(band)', which removes the old bond."
            default: CommandFailure(.notPaired, problem.remedy).beforeAdoption.message
            }
        return CommandFailure(
            .notPaired, "\(problem.text) \(fix)" + (isBondGone ? " The old bond is gone." : ""))
    }
}

extension CommandFailure {
    /// `bandferry pair` does not take a band that is not adopted: `bandferry adopt` pairs it.
    var beforeAdoption: CommandFailure {
        CommandFailure(code, message.replacing("bandferry pair ", with: "bandferry adopt "))
    }
}
