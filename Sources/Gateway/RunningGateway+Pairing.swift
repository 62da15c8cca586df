import BandProfile
import BlueZ
import BlueZModel
import GatewayBus
import GatewayModel
import Store

/// Pairing with a person's help: of a band that is taken in, or of one whose bond is lost.
extension RunningGateway {
    /// How long a person may take: BlueZ itself gives up after 60 s a question, and showing a passkey may take two.
    private static let patience = Duration.seconds(150)

    /// Makes the bond that the band asks for, if it asks for one; it need not be adopted. `anew`: an old bond is removed first.
    ///
    /// The keeper of the band, if there is one, must have been stopped.
    func pair(
        _ address: BluetoothAddress, anew: Bool, asking person: any PairingPerson
    ) async throws -> PairingProgress {
        await waitForBlueZ()
        do {
            if anew, await blueZ.device(address)?.paired == true { try await blueZ.remove(address) }
            let wasBonded = await blueZ.device(address)?.paired ?? false
            person.told(.searching)
            try await parts.scanner.find(address, atMost: .seconds(20)) { person.isGone || Task.isCancelled }
            try await blueZ.beginPairing(with: address, asking: person)
            let outcome: Result<PairingProgress, any Error>
            do {
                outcome = .success(try await bond(address, wasBonded: wasBonded, person))
            } catch {
                outcome = .failure(await explained(error, address, wasBonded: wasBonded))
            }
            await blueZ.endPairing(with: address)
            let progress = try outcome.get()
            person.told(progress)
            return progress
        } catch let failure as BlueZFailure {
            if failure == .notHeard { return .notInRange }
            if failure == .stopped {
                throw CommandFailure(.failed, "the pairing was given up; nothing was changed")
            }
            throw CommandFailure(.notReady, "\(failure.problem.text) \(failure.problem.remedy)")
        }
    }

    /// A command may come while the daemon still starts. What is not there after that is named by what fails then.
    private func waitForBlueZ() async {
        for _ in 0..<50 {
            if await blueZ.isServiceRunning { return }
            try? await Task.sleep(for: .milliseconds(100))
        }
    }

    private func bond(
        _ address: BluetoothAddress, wasBonded: Bool, _ person: any PairingPerson
    ) async throws -> PairingProgress {
        await parts.links.take()
        do {
            person.told(.connecting)
            await parts.attempts.take()
            let link: BandLink
            do {
                if person.isGone { throw BlueZFailure.stopped }
                link = try await blueZ.connect(address, deadline: .seconds(60))
            } catch {
                await parts.attempts.give()
                throw error
            }
            await parts.attempts.give()
            let result: Result<Void, any Error>
            do { result = .success(try await read(link)) } catch { result = .failure(error) }
            await link.disconnect()
            try result.get()
            await parts.links.give()
        } catch {
            await parts.links.give()
            throw error
        }
        let isBonded = await blueZ.device(address)?.paired ?? false
        return isBonded ? (wasBonded ? .bondWorks : .paired) : .notAsked
    }

    /// A read of what needs the bond: BlueZ makes it then. Where it does not by itself, it is told to.
    private func read(_ link: BandLink) async throws {
        do throws(BlueZFailure) {
            _ = try await link.readInfo(deadline: Self.patience)
        } catch {
            guard error.kind == .notPaired else { throw error }
            // Somebody was asked already, and it came to nothing.
            guard await blueZ.pairingDemand(of: link.address) == .nothing else {
                throw BlueZFailure(kind: .authentication, during: .pair, text: error.text)
            }
            try await link.pairIfNeeded(deadline: Self.patience)
            _ = try await link.readInfo()
        }
    }

    /// What a person reads of it.
    private func explained(
        _ error: any Error, _ address: BluetoothAddress, wasBonded: Bool
    ) async -> any Error {
        guard let failure = error as? BlueZFailure, failure != .stopped else { return error }
        let evidence = BondEvidence(
            kind: failure.kind, operation: failure.operation, wasBonded: wasBonded,
            demand: await blueZ.pairingDemand(of: address), reason: await blueZ.dropReason(of: address))
        guard let trouble = BondJudge.judge(evidence) else { return error }
        let problem = Problem.bond(trouble, of: address)
        return CommandFailure(.notPaired, "\(problem.text) \(problem.remedy)")
    }

    // MARK: commands

    /// Pairs a band that is to be taken in. When that fails, all is as it was before.
    func pairToAdopt(_ address: BluetoothAddress, asking person: any PairingPerson) async throws {
        let keeper = keepers[address]
        try await withoutKeeper(of: address) {
            let wasKnown = await self.blueZ.device(address)?.trusted ?? false
            do {
                var progress: PairingProgress
                do {
                    progress = try await self.pair(address, anew: false, asking: person)
                } catch let failure as CommandFailure where failure.code == .notPaired {
                    // A bond that another installation made, and that the band has forgotten: nobody needs it.
                    guard keeper == nil, await self.blueZ.device(address)?.paired == true else {
                        throw failure
                    }
                    progress = try await self.pair(address, anew: true, asking: person)
                }
                if progress == .notInRange { person.told(progress) }
            } catch {
                // Trust and half a bond of a band that is not taken in are nobody's.
                if keeper == nil, !wasKnown { try? await self.blueZ.remove(address) }
                throw error
            }
        }
        if let keeper { try await bondEnded(of: keeper.band) }
    }

    /// `bandferry pair`: a band that is adopted gets a new bond.
    func pairAgain(_ address: BluetoothAddress, asking person: any PairingPerson) async throws {
        guard let keeper = keepers[address] else {
            throw CommandFailure(
                .notFound, "\(address) is not adopted here; `bandferry adopt \(address)` pairs and adopts it")
        }
        let progress = try await withoutKeeper(of: address) {
            try await self.pair(address, anew: true, asking: person)
        }
        guard progress != .notInRange else {
            throw CommandFailure(
                .outOfRange, "\(address) was not heard: bring it nearer, and wake it if it sleeps")
        }
        try await bondEnded(of: keeper.band)
        try await keepAnew(address)
    }

    private func bondEnded(of band: AdoptedBand) async throws {
        try await store.setBondWatch(BondWatch(), of: band.device)
        try await store.setProblem(device: band.device, nil)
    }

    /// The band is left to the body; afterwards its keeper, if it had one, begins anew.
    private func withoutKeeper<Value: Sendable>(
        of address: BluetoothAddress, _ body: () async throws -> Value
    ) async throws -> Value {
        guard pairing.insert(address).inserted else {
            throw CommandFailure(.inProgress, "\(address) is being paired already")
        }
        let hadKeeper = await stopKeeping(address)
        let result: Result<Value, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        pairing.remove(address)
        if hadKeeper { try await keepAnew(address) }
        return try result.get()
    }
}
