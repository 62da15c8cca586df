import BlueZ
import BlueZModel
import GatewayModel
import HistorySync
import Store

/// A band whose bond gives trouble is tried a few times and then left alone, until a person acts or a long time passed.
extension BandKeeper {
    /// Nil = it may be tried now. `isAsked`: a person wants it tried.
    func rest(isAsked: Bool) async -> SyncResult? {
        guard !isAsked, let watch = try? await parts.store.bondWatch(of: band.device),
            let trouble = watch.trouble, let left = watch.rest(at: parts.clock.wall()),
            // Somebody removed the bond, or made one.
            await isBonded == trouble.isOfABond
        else { return nil }
        return SyncResult(
            stored: 0, problem: .bond(trouble, of: band.address), pause: min(left, parts.syncInterval))
    }

    var isBonded: Bool {
        get async { await parts.blueZ.device(band.address)?.paired ?? false }
    }

    /// Judges why there was no session; nil = not for a reason that lies in the bond, or not certainly so yet.
    func bondFailed(_ failure: BlueZFailure?, wasBonded: Bool) async -> SyncResult? {
        guard let failure, failure != .notHeard, failure != .stopped else { return nil }
        let evidence = BondEvidence(
            kind: failure.kind, operation: failure.operation, wasBonded: wasBonded,
            demand: await parts.blueZ.pairingDemand(of: band.address),
            reason: await parts.blueZ.dropReason(of: band.address))
        guard let trouble = BondJudge.judge(evidence) else { return nil }
        do {
            var watch = try await parts.store.bondWatch(of: band.device)
            watch.failed(trouble, at: parts.clock.wall())
            try await parts.store.setBondWatch(watch, of: band.device)
            guard watch.isNamed, let trouble = watch.trouble else { return nil }
            var result = await failed(.bond(trouble, of: band.address), stored: 0)
            if let left = watch.rest(at: parts.clock.wall()) {
                result.pause = min(left, parts.syncInterval)
                log.log.warning(
                    "a band is left alone: its bond needs a person",
                    [("device", .text(band.device.text)), ("trouble", .text(trouble.rawValue))])
            }
            return result
        } catch {
            // Then the failure itself is shown, and its own pause holds.
            return nil
        }
    }

    /// Info was read: where a bond is needed, it works.
    func bondWorked() async {
        guard let watch = try? await parts.store.bondWatch(of: band.device), watch != BondWatch() else {
            return
        }
        do { try await parts.store.setBondWatch(BondWatch(), of: band.device) } catch {
            log.log.warning("that a bond works could not be noted", [("error", .error(error))])
        }
    }
}
