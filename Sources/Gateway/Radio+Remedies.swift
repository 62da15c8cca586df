import BandProfile
import BlueZ
import BlueZModel
import GatewayModel
import RadioSchedule
import Systemd

// What a failure says of the adapter, and what is done about it.

extension Radio {
    /// Data came over it.
    func worked(on adapter: BluetoothAddress) {
        ladders[adapter]?.worked()
        serviceLadder.worked()
        restartProblem = nil
    }

    /// bluetoothd is there and does not list its objects.
    func serviceIsSilent() async {
        let remedy = serviceLadder.noticed(
            .serviceSilent, at: clock.monotonic(), mayRestart: mayRestartService, othersUseIt: false)
        await take(remedy, for: .serviceSilent, on: nil)
    }

    func judge(_ end: TurnEnd, of band: BluetoothAddress, on adapter: BluetoothAddress) async {
        // Its owner is done with it, and BlueZ shows it still.
        if schedule.unusedLinks(on: adapter).contains(band) {
            let answers = await blueZ.answers(about: adapter)
            return await noticed(answers ? .stuckLink : .noAnswer, on: adapter)
        }
        guard !end.moved, let failure = end.failure else { return }
        switch failure.kind {
        case .deadline:
            guard await blueZ.answers(about: adapter) else { return await noticed(.noAnswer, on: adapter) }
            if failure.operation == .connect { await noticed(.connectFailed, on: adapter) }
        case .transient where failure.operation == .connect && failure != .notHeard:
            await noticed(.connectFailed, on: adapter)
        case .adapterFault: await noticed(.adapterFault, on: adapter)
        default: break
        }
    }

    func judge(discovery failure: BlueZFailure, on adapter: BluetoothAddress) async {
        switch failure.kind {
        case .notReady, .blocked, .serviceGone, .busGone, .accessDenied, .cancelled: break
        case .deadline:
            let answers = await blueZ.answers(about: adapter)
            await noticed(answers ? .discoveryStuck : .noAnswer, on: adapter)
        default: await noticed(.discoveryStuck, on: adapter)
        }
    }

    func noticed(_ symptom: RadioSymptom, on adapter: BluetoothAddress) async {
        let remedy = ladders[adapter, default: RecoveryLadder()].noticed(
            symptom, at: clock.monotonic(), mayRestart: mayRestartService,
            othersUseIt: schedule.othersUse(adapter))
        await take(remedy, for: symptom, on: adapter)
    }

    private func take(_ remedy: Remedy?, for symptom: RadioSymptom, on adapter: BluetoothAddress?) async {
        let ladder = adapter.flatMap { ladders[$0] } ?? serviceLadder
        var fields: Log.Fields = [
            ("symptom", .text(symptom.rawValue)), ("strikes", .count(ladder.strikes)),
            ("remedy", .text(remedy?.rawValue ?? "none")),
        ]
        if let adapter { fields.append(("adapter", .text(adapter.description))) }
        guard let remedy else {
            log.info("Bluetooth misbehaves", fields)
            return
        }
        fields.append(("times", .count(ladder.taken[remedy] ?? 0)))
        log.warning("Bluetooth misbehaves", fields)
        publish()
        do throws(BlueZFailure) {
            switch (remedy, adapter) {
            case (.dropLink, let adapter?):
                for band in schedule.unusedLinks(on: adapter) { await blueZ.disconnect(band, on: adapter) }
            case (.stopDiscovery, let adapter?): await blueZ.resetDiscovery(on: adapter)
            case (.powerCycle, let adapter?): try await blueZ.powerCycle(adapter)
            case (.restartService, _):
                try await blueZ.restartService()
                restartProblem = nil
            case (_, nil): break
            }
        } catch {
            log.warning(
                "a remedy failed", [("remedy", .text(remedy.rawValue)), ("error", .text(error.description))])
            if remedy == .restartService { restartProblem = .restartRefused(error) }
        }
        publish()
        wake()
    }
}
