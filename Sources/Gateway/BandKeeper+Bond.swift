import BandProfile
import BlueZ
import BlueZModel
import GatewayModel
import HistorySync
import RadioSchedule
import Store

/// A band whose bond gives trouble is tried a few times and then left alone, until a person acts or a long time passed.
extension BandKeeper {
    struct BondRest {
        var trouble: BondTrouble
        var left: Duration
    }

    /// Nil = it may be tried now.
    func rest() async -> BondRest? {
        guard let watch = try? await parts.store.bondWatch(of: band.device), let trouble = watch.trouble,
            let left = watch.rest(at: parts.clock.wall()),
            // Somebody removed the bond, or made one.
            await isBonded == trouble.isOfABond
        else { return nil }
        return BondRest(trouble: trouble, left: left)
    }

    var isBonded: Bool {
        get async { await parts.blueZ.isPaired(band.address) }
    }

    func leaveAlone(for rest: BondRest) -> SyncResult {
        rests = rest.trouble
        let left = rest.left.milliseconds
        return SyncResult(
            stored: 0, problem: .bond(rest.trouble, of: band.address),
            outcome: rest.trouble == .doubtful ? .doubtfulRest(left) : .rest(left))
    }

    /// It is out of reach: its links may have broken for that, and its bond be sound. It is tried when it is back.
    func wentAway() async {
        guard rests == .doubtful, var watch = try? await parts.store.bondWatch(of: band.device) else {
            return
        }
        watch.wasMissed()
        do { try await parts.store.setBondWatch(watch, of: band.device) } catch {
            // Then the rest goes on to its end.
            log.log.warning("that a band went away could not be noted", [("error", .error(error))])
            return
        }
        rests = nil
        await parts.radio.endRest(of: band.address)
    }

    /// Judges why there was no session; nil = not for a reason that lies in the bond, or not certainly so yet.
    func bondFailed(
        _ failure: BlueZFailure?, wasBonded: Bool, on adapter: BluetoothAddress
    ) async -> SyncResult? {
        guard let failure, failure != .notHeard, failure != .stopped else { return nil }
        let evidence = BondEvidence(
            kind: failure.kind, operation: failure.operation, wasBonded: wasBonded,
            demand: await parts.blueZ.pairingDemand(of: band.address),
            reason: await parts.blueZ.dropReason(of: band.address, on: adapter))
        guard let trouble = BondJudge.judge(evidence) else { return nil }
        do {
            var watch = try await parts.store.bondWatch(of: band.device)
            watch.failed(trouble, at: parts.clock.wall())
            try await parts.store.setBondWatch(watch, of: band.device)
            guard watch.isNamed, let trouble = watch.trouble else { return nil }
            let problem = Problem.bond(trouble, of: band.address)
            guard let left = watch.rest(at: parts.clock.wall()) else {
                // The few tries are made at the usual pace: no adapter is to blame, and a person may be at it.
                return await failed(problem, stored: 0)
            }
            log.log.warning(
                "a band is left alone: its bond needs a person",
                [("device", .text(band.device.text)), ("trouble", .text(trouble.rawValue))])
            _ = await failed(problem, stored: 0)
            return leaveAlone(for: BondRest(trouble: trouble, left: left))
        } catch {
            // Then the failure itself is shown, and its own pause holds.
            return nil
        }
    }

    /// Info was read: where a bond is needed, it works.
    func bondWorked() async {
        rests = nil
        guard let watch = try? await parts.store.bondWatch(of: band.device), watch != BondWatch() else {
            return
        }
        do { try await parts.store.setBondWatch(BondWatch(), of: band.device) } catch {
            log.log.warning("that a bond works could not be noted", [("error", .error(error))])
        }
    }
}
