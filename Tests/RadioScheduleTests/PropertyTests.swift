import BandProfile
import Glibc
import HistorySync
import RadioSchedule
import Testing

/// More with BANDFERRY_RADIO_SEEDS.
private let seeds: [UInt64] = {
    let many = getenv("BANDFERRY_RADIO_SEEDS").flatMap { UInt64(String(cString: $0)) } ?? 4
    return Array(1...max(1, many))
}()

@Suite struct PropertyTests {
    /// 20 bands with 14,400 records each, a day of one every six seconds, 5 slots, links that break and attempts that fail.
    @Test(arguments: seeds) func twentyBandsOnFiveSlotsAreAllServedAndNoneStarves(_ seed: UInt64) throws {
        var world = RadioWorld(
            bands: RadioWorld.alike(20, records: 14_400, drops: 0.01, fails: 0.15),
            adapters: [adapterAddress(0)],
            slots: 5, seed: seed)
        world.run(for: 4 * 3_600_000) { $0.bands.values.allSatisfy { $0.caughtUpAt != nil } }
        let times = world.bands.values.compactMap(\.caughtUpAt).sorted()
        try #require(times.count == 20, "seed \(seed): only \(times.count) were caught up")
        let median = (times[9] + times[10]) / 2
        #expect(
            times[19] <= 3 * median, "seed \(seed): the slowest took \(times[19]) ms, the median \(median) ms"
        )
        #expect(world.violations.isEmpty, "seed \(seed): \(world.violations.prefix(3))")
        let counters = world.schedule.counters(at: world.time)
        // Discovery is a small part of it.
        #expect(counters.scanMilliseconds < world.now / 4, "seed \(seed): \(counters)")
    }

    /// 20 bands, 5 slots, sessions of half a minute, and a bluetoothd that forgets whom it does not hear for five seconds: whoever
    /// waits is forgotten before its turn. Shown by what BlueZ knows, or only by attempts that end before they begin.
    @Test(arguments: seeds, [true, false])
    func bandsThatAreForgottenWhileTheyWaitAreServedInTurn(_ seed: UInt64, _ isShown: Bool) {
        var world = RadioWorld(
            bands: RadioWorld.alike(20, records: 4_800, fails: 0.1), adapters: [adapterAddress(0)], slots: 5,
            seed: seed)
        world.forgetsAfter = 5_000
        world.showsWhatIsKnown = isShown
        world.run(for: 1_200_000) { $0.bands.values.allSatisfy { $0.caughtUpAt != nil } }
        let times = world.bands.values.compactMap(\.caughtUpAt).sorted()
        #expect(times.count == 20, "seed \(seed): \(times)")
        // Four rounds of five, and what listening takes between them.
        #expect((times.last ?? .max) < 300_000, "seed \(seed): \(times)")
        #expect(world.violations.isEmpty, "seed \(seed): \(world.violations.prefix(3))")
    }

    /// Whatever is plugged, is switched off and on, comes and goes: no slot is overdrawn, no two attempts run, and in the end all are served.
    @Test(arguments: seeds) func aTurbulentDayEndsWithAllServed(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed &* 77)
        let adapters = [adapterAddress(0), adapterAddress(1)]
        var bands: [BluetoothAddress: RadioWorld.Band] = [:]
        for index in 0..<12 {
            var rssi: [BluetoothAddress: Int] = [adapters[index % 2]: -60]
            if generator.next() % 2 == 0 { rssi[adapters[1 - index % 2]] = -70 + Int(generator.next() % 20) }
            bands[bandAddress(index)] = RadioWorld.Band(
                records: Int(generator.next() % 20_000), rssi: rssi, failsToConnect: 0.3, drops: 0.02,
                odd: 0.1)
        }
        var world = RadioWorld(bands: bands, adapters: adapters, slots: 3, seed: seed)
        for _ in 0..<60 {
            switch generator.next() % 10 {
            case 0: world.unplug(adapters[Int(generator.next() % 2)])
            case 1, 2: world.adapters = Set(adapters)
            case 3, 4: world.bands[bandAddress(Int(generator.next() % 12))]?.isPresent.toggle()
            case 5: world.tell(.asked(bandAddress(Int(generator.next() % 12))))
            case 6: world.tell(.listen(Int64(generator.next() % 30_000)))
            case 7: world.power(adapters[Int(generator.next() % 2)], false)
            case 8: for adapter in adapters { world.power(adapter, true) }
            default: world.foreign[adapters[0]] = generator.next() % 2 == 0 ? [BluetoothAddress(bits: 1)] : []
            }
            world.run(for: Int64(generator.next() % 120_000))
        }
        world.adapters = Set(adapters)
        for adapter in adapters { world.power(adapter, true) }
        for index in 0..<12 {
            world.bands[bandAddress(index)]?.isPresent = true
            world.bands[bandAddress(index)]?.syncs = 0
            world.bands[bandAddress(index)]?.failsToConnect = 0.1
            world.bands[bandAddress(index)]?.odd = 0
        }
        world.run(for: 3 * 3_600_000) { $0.bands.values.allSatisfy { $0.syncs > 0 } }
        #expect(world.bands.values.allSatisfy { $0.syncs > 0 }, "seed \(seed)")
        // A foreign link may come while all slots are taken: that is not the schedule's doing.
        #expect(world.violations.isEmpty, "seed \(seed): \(world.violations.prefix(3))")
    }

    /// One band that always fails costs the others little, and is still tried.
    @Test(arguments: seeds) func oneThatAlwaysFailsHoldsNobodyUp(_ seed: UInt64) {
        var bands = RadioWorld.alike(8, records: 2_000)
        bands[bandAddress(0)]?.failsToConnect = 1
        var world = RadioWorld(bands: bands, adapters: [adapterAddress(0)], slots: 2, seed: seed)
        world.run(for: 2 * 3_600_000)
        #expect((1..<8).allSatisfy { (world.bands[bandAddress($0)]?.syncs ?? 0) >= 7 }, "seed \(seed)")
        let tries = world.actions.filter { $0 == .connect(bandAddress(0), on: adapterAddress(0)) }.count
        #expect((20...60).contains(tries), "seed \(seed): \(tries) tries in two hours")
        #expect(world.violations.isEmpty)
    }

    /// Bands that need a person, and an adapter that refuses, cost the others little; somebody who listens disturbs nobody.
    @Test(arguments: seeds) func whoNeedsHelpIsLeftAloneAndHoldsNobodyUp(_ seed: UInt64) {
        var bands = RadioWorld.alike(8, records: 2_000)
        bands[bandAddress(0)]?.ends = .needsHelp
        bands[bandAddress(1)]?.ends = .rest(1_800_000)
        bands[bandAddress(2)]?.ends = .radioFault
        bands[bandAddress(3)]?.ends = .noSlot
        var world = RadioWorld(bands: bands, adapters: [adapterAddress(0)], slots: 3, seed: seed)
        for _ in 0..<12 {
            world.tell(.listen(5_000))
            world.run(for: 600_000)
        }
        #expect((4..<8).allSatisfy { (world.bands[bandAddress($0)]?.syncs ?? 0) >= 6 }, "seed \(seed)")
        let tries = (0..<4).map { index in
            world.actions.filter { $0 == .connect(bandAddress(index), on: adapterAddress(0)) }.count
        }
        #expect((6...9).contains(tries[0]) && (3...5).contains(tries[1]), "seed \(seed): \(tries)")
        // Tried again and again, and not without a pause: it is not the band's fault.
        #expect(tries[2] > 20 && tries[2] < 3_600 && tries[3] > 20, "seed \(seed): \(tries)")
        #expect(world.violations.isEmpty, "seed \(seed): \(world.violations.prefix(3))")
    }

    /// A busy radio does not make it deaf for the one who comes home.
    @Test(arguments: seeds) func whoComesHomeToABusyRadioIsHeard(_ seed: UInt64) {
        var bands = RadioWorld.alike(9, records: 40_000)
        bands[bandAddress(0)]?.isPresent = false
        bands[bandAddress(0)]?.records = 100
        var world = RadioWorld(
            bands: bands, adapters: [adapterAddress(0)], slots: 8, syncInterval: 1_000, seed: seed)
        for index in 1..<9 { world.bands[bandAddress(index)]?.drops = 0.2 }
        world.run(for: 600_000)
        world.bands[bandAddress(0)]?.isPresent = true
        let home = world.now
        world.run(for: 600_000) { ($0.bands[bandAddress(0)]?.syncs ?? 0) > 0 }
        #expect(world.now - home < 120_000, "seed \(seed): \(world.now - home) ms")
    }
}
