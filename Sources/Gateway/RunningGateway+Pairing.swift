import BandProfile
import BlueZ
import BlueZModel
import GatewayBus
import GatewayModel
import Locking
import RadioSchedule
import Store

/// Pairing with a person's help: of a band that is taken in, or of one whose bond is lost.
extension RunningGateway {
    /// How long a person may take: BlueZ itself gives up after 60 s a question, and showing a passkey may take two.
    private static let patience = Duration.seconds(150)
    /// A pairing in all, the wait for a busy radio included.
    private static let longest = Duration.seconds(290)

    /// Makes the bond that the band asks for, if it asks for one; it need not be adopted. `anew`: an old bond is removed, once
    /// the band was heard.
    ///
    /// The keeper of the band, if there is one, must have been stopped.
    func pair(
        _ address: BluetoothAddress, anew: Bool, asking person: any PairingPerson
    ) async throws -> PairingProgress {
        await waitForBlueZ()
        let hadBond = await blueZ.isPaired(address)
        let end = ContinuousClock.now + Self.longest
        do {
            person.told(.searching)
            if anew, hadBond {
                // In a turn, which only a band gets that is there: the bond of one that is away stays. BlueZ forgets the band
                // with it, so that it is listened for once more. Bonds of other adapters are no matter of this one's.
                _ = try await onATurn(of: address, for: person, until: end) { [blueZ] turn in
                    try await blueZ.remove(address, on: turn.adapter)
                    return .searching
                }
            }
            let progress = try await onATurn(of: address, for: person, until: end) { turn in
                try await self.pair(address, on: turn, asking: person)
            }
            person.told(progress)
            return progress
        } catch {
            // What was removed can't be had back: whoever reads of the failure has to know.
            var isBondGone = false
            if anew, hadBond, await blueZ.isServiceRunning { isBondGone = await !blueZ.isPaired(address) }
            if !isBondGone, let failure = error as? BlueZFailure, failure == .notHeard { return .notInRange }
            throw Self.refusal(error, address, isBondGone: isBondGone)
        }
    }

    private static func refusal(
        _ error: any Error, _ address: BluetoothAddress, isBondGone: Bool
    ) -> any Error {
        let gone = isBondGone ? " The old bond is gone." : ""
        switch error {
        case var refusal as BondRefusal:
            refusal.isBondGone = isBondGone
            return refusal
        case let refusal as CommandFailure:
            return CommandFailure(refusal.code, refusal.message + gone)
        case let failure as BlueZFailure where failure == .notHeard:
            return CommandFailure(
                .outOfRange,
                "\(address) was heard, and not any more once its old bond was removed: bring it nearer, put it into pairing mode, "
                    + "and run 'bandferry pair \(address)' again")
        case let failure as BlueZFailure where failure == .stopped:
            return CommandFailure(
                .failed,
                "the pairing was given up; " + (isBondGone ? "the old bond is gone" : "nothing was changed"))
        case let failure as BlueZFailure:
            let problem = failure.problem(of: address)
            return CommandFailure(.notReady, "\(problem.text) \(problem.remedy)" + gone)
        default: return error
        }
    }

    private func pair(
        _ address: BluetoothAddress, on turn: RadioTurn, asking person: any PairingPerson
    ) async throws -> PairingProgress {
        let wasBonded = await blueZ.isPaired(address, on: turn.adapter)
        // Where this throws nothing has begun, and the person is not noted.
        try await blueZ.beginPairing(with: address, asking: person)
        let outcome: Result<PairingProgress, any Error>
        do {
            outcome = .success(try await bond(address, on: turn, wasBonded: wasBonded, person))
        } catch {
            outcome = .failure(await explained(error, address, on: turn, wasBonded: wasBonded))
        }
        // Also when this was cancelled: the agent must not keep its keyboard.
        await Task { [blueZ] in await blueZ.endPairing(with: address) }.value
        return try outcome.get()
    }

    /// A command may come while the daemon still starts. What is not there after that is named by what fails then.
    private func waitForBlueZ() async {
        for _ in 0..<50 {
            if await blueZ.isServiceRunning { return }
            try? await Task.sleep(for: .milliseconds(100))
        }
    }

    private func bond(
        _ address: BluetoothAddress, on turn: RadioTurn, wasBonded: Bool, _ person: any PairingPerson
    ) async throws -> PairingProgress {
        person.told(.connecting)
        if person.isGone { throw BlueZFailure.stopped }
        let link = try await blueZ.connect(
            address, on: turn.adapter, deadline: BandKeeper.connectDeadline, onConnected: turn.linked)
        let result: Result<Void, any Error>
        do { result = .success(try await read(link)) } catch { result = .failure(error) }
        await link.disconnect()
        try result.get()
        let isBonded = await blueZ.isPaired(address, on: turn.adapter)
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

    /// Told apart where the bond is at fault.
    private func explained(
        _ error: any Error, _ address: BluetoothAddress, on turn: RadioTurn, wasBonded: Bool
    ) async -> any Error {
        guard let failure = error as? BlueZFailure, failure != .stopped else { return error }
        let evidence = BondEvidence(
            kind: failure.kind, operation: failure.operation, wasBonded: wasBonded,
            demand: await blueZ.pairingDemand(of: address),
            reason: await blueZ.dropReason(of: address, on: turn.adapter))
        guard let trouble = BondJudge.judge(evidence) else { return error }
        return BondRefusal(trouble: trouble, band: address)
    }

    // MARK: the radio

    /// Waits for a turn of the band on the radio, as any keeper does, and does the work in it; then the radio forgets the band.
    ///
    /// Throws `.notHeard` when the band is looked for in vain, `.stopped` when the person has gone before the turn came.
    private func onATurn(
        of address: BluetoothAddress, for person: any PairingPerson, until end: ContinuousClock.Instant,
        _ work: @escaping @Sendable (RadioTurn) async throws -> PairingProgress
    ) async throws -> PairingProgress {
        let ended = OneShot<Result<PairingProgress, any Error>>()
        let hasBegun = Guarded(false)
        let member = RadioMember(
            device: DeviceID(address),
            takeTurn: { [weak self] turn in
                // There is one turn; whoever made it goes on.
                let isFirst = hasBegun.withLock { begun in
                    defer { begun = true }
                    return !begun
                }
                guard isFirst, !ended.isSet, let self else { return TurnEnd(outcome: .rest(3_600_000)) }
                let result = await self.run(of: address) { try await work(turn) }
                ended.set(result)
                let progress = try? result.get()
                return TurnEnd(
                    outcome: .rest(3_600_000), moved: progress != nil && progress != .searching)
            },
            couldNot: { ended.set(.failure($0)) })
        await parts.radio.keep(address, member)
        await parts.radio.ask(for: address)
        let watching = Task {
            while !Task.isCancelled, !hasBegun.withLock({ $0 }) {
                if self.isGivenUp(by: person) { ended.set(.failure(BlueZFailure.stopped)) }
                try? await Task.sleep(for: .milliseconds(200))
            }
        }
        let result = await ended.value(
            within: max(.zero, end - .now), else: .failure(BlueZFailure.stopped))
        watching.cancel()
        // Where it took too long.
        pairingWork[address]?.cancel()
        await parts.radio.drop(address, member.identity)
        return try result.get()
    }

    private func isGivenUp(by person: any PairingPerson) -> Bool { person.isGone || isStopping }

    /// A stop of the gateway ends it: the radio waits for its turns.
    private func run(
        of address: BluetoothAddress, _ work: @escaping @Sendable () async throws -> PairingProgress
    ) async -> Result<PairingProgress, any Error> {
        let task = Task { try await work() }
        pairingWork[address] = task
        defer { pairingWork[address] = nil }
        if isStopping { task.cancel() }
        return await task.result
    }

    // MARK: commands

    /// Pairs a band that is to be taken in. When that fails, all is as it was before.
    func pairToAdopt(_ address: BluetoothAddress, asking person: any PairingPerson) async throws {
        let keeper = keepers[address]
        try await withoutKeeper(of: address) {
            let before = await self.blueZ.devices()
            do {
                var progress: PairingProgress
                do {
                    progress = try await self.pair(address, anew: false, asking: person)
                } catch let refusal as BondRefusal where refusal.mayReplaceBond(isAdopted: keeper != nil) {
                    // Another installation made it, and the band has forgotten it: nobody needs it.
                    progress = try await self.pair(address, anew: true, asking: person)
                }
                if progress == .notInRange { person.told(progress) }
            } catch {
                if keeper == nil { await self.undoPairing(of: address, since: before) }
                if let refusal = error as? BondRefusal { throw refusal.failure(isAdopted: keeper != nil) }
                if keeper == nil, let failure = error as? CommandFailure { throw failure.beforeAdoption }
                throw error
            }
            if let keeper { try await self.bondEnded(of: keeper.band) }
        }
    }

    /// Trust and half a bond of a band that is not taken in are nobody's; what was there before is.
    private func undoPairing(of address: BluetoothAddress, since before: [DeviceSnapshot]) async {
        // Also when this was cancelled.
        await Task { [blueZ] in
            let usable = Set(await blueZ.usableAdapters().map(\.address))
            let remains = PairingRemains.left(
                by: address, before: before, after: await blueZ.devices(), on: usable)
            for remain in remains {
                switch remain {
                case .device(let adapter): try? await blueZ.remove(address, on: adapter)
                case .trust(let adapter): await blueZ.distrust(address, on: adapter)
                }
            }
        }.value
    }

    /// `bandferry pair`: a band that is adopted gets a new bond.
    func pairAgain(_ address: BluetoothAddress, asking person: any PairingPerson) async throws {
        try await changing(address) {
            do { try await pairNow(address, asking: person) } catch let refusal as BondRefusal {
                throw refusal.failure(isAdopted: true)
            }
        }
    }

    private func pairNow(_ address: BluetoothAddress, asking person: any PairingPerson) async throws {
        guard let band = keepers[address]?.band else {
            throw CommandFailure(
                .notFound, "\(address) is not adopted here; `bandferry adopt \(address)` pairs and adopts it")
        }
        try await withoutKeeper(of: address) {
            let progress = try await self.pair(address, anew: true, asking: person)
            guard progress != .notInRange else {
                throw CommandFailure(
                    .outOfRange,
                    "\(address) was not heard, and nothing was changed: bring it nearer, and wake it if it sleeps"
                )
            }
            try await self.bondEnded(of: band)
        }
    }

    private func bondEnded(of band: AdoptedBand) async throws {
        try await store.setBondWatch(BondWatch(), of: band.device)
        try await store.setProblem(device: band.device, nil)
    }

    /// The band is left to the body; afterwards it is kept anew, if it was kept, with nothing read of the store that could
    /// fail: the body changes nothing of the adoption. Inside `changing`.
    private func withoutKeeper<Value: Sendable>(
        of address: BluetoothAddress, _ body: () async throws -> Value
    ) async throws -> Value {
        let band = keepers[address]?.band
        _ = await stopKeeping(address)
        defer { if let band { keep(band) } }
        return try await body()
    }
}
