import BandModel
import BandProfile
import DBus

// What bands do by themselves: stream, measure, and be saved.

extension BusSimulator {
    /// Sends what the band's stream has, in bursts, so that no band starves another.
    func pump(_ device: SimulatedDevice) {
        guard !device.pump.isScheduled, device.isConnected,
            let characteristic = device.characteristic(.historyData)
        else { return }
        let rate = device.keeper.band.options.faults.notificationsPerSecond ?? options.rate
        let allowance = device.pump.allowance(rate: rate, now: SystemClock.monotonicNanoseconds)
        var count = 0
        var buffer = device.pump.buffer
        device.pump.buffer = []
        while count < allowance, device.keeper.band.nextNotification(into: &buffer) {
            notify(characteristic, buffer)
            count += 1
        }
        device.pump.buffer = buffer
        device.pump.spend(count)
        if count > 0 { device.keeper.touch() }
        saveSoon()
        guard device.keeper.band.isLinked else {
            device.pump.idle()
            return linkLost(device, reason: .remote)
        }
        guard count == allowance else { return device.pump.idle() }
        device.pump.isScheduled = true
        after(rate > 0 ? .nanoseconds(1_000_000_000 / rate) : .zero) { simulator in
            device.pump.isScheduled = false
            simulator.pump(device)
        }
    }

    // MARK: measuring

    func measure(every interval: Duration) {
        after(interval) { simulator in
            for device in simulator.devices { simulator.record(1, device) }
            simulator.measure(every: interval)
        }
    }

    func record(_ count: Int, _ device: SimulatedDevice) {
        device.keeper.band.record(count, now: SystemClock.wallMilliseconds)
        saveSoon()
        withLinked(device) { $0.pump($1) }
    }

    // MARK: files

    /// What must outlive a kill is saved at once, the rest within 50 ms.
    func saveSoon() {
        var isDirty = false
        for device in devices {
            device.keeper.saveIfUrgent()
            isDirty = isDirty || device.keeper.isDirty
        }
        guard isDirty, !saveIsScheduled else { return }
        saveIsScheduled = true
        after(.milliseconds(50)) { simulator in
            simulator.saveIsScheduled = false
            for device in simulator.devices where device.keeper.isDirty { device.keeper.save() }
        }
    }

    /// The whole truth as of now.
    func writeTruth() {
        guard let path = options.truthFile, let file = try? LineFile(path: path, truncate: true) else {
            return
        }
        for device in devices {
            BandRecords.writeTruth(of: device.keeper.band, address: device.address) { file.add($0) }
        }
    }
}
