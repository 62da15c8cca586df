import BandProfile
import HistorySync
import RadioSchedule

/// Adapters, bands and the air between them, in simulated time. It does what the schedule says, and checks each step.
struct RadioWorld {
    struct Band {
        /// Records that wait in it.
        var records = 0
        var isPresent = true
        /// Adapters that hear it, with dBm.
        var rssi: [BluetoothAddress: Int]
        /// An attempt fails, a link breaks in its next second: by chance.
        var failsToConnect = 0.0
        var drops = 0.0
        /// An attempt ends in one of the rarer ways: by chance.
        var odd = 0.0
        /// Each of its attempts ends so.
        var ends: SyncOutcome?
        var caughtUpAt: Int64?
        var syncs = 0
    }

    enum Work: Equatable {
        case connecting(on: BluetoothAddress, until: Int64, succeeds: Bool)
        case linked(on: BluetoothAddress)
        case disconnecting(on: BluetoothAddress, until: Int64, SyncOutcome)

        var adapter: BluetoothAddress {
            switch self {
            case .connecting(let adapter, _, _), .linked(let adapter), .disconnecting(let adapter, _, _):
                adapter
            }
        }
    }

    /// Records a second over one link, and what an adapter carries in all.
    static let linkRate = 400
    static let step: Int64 = 200

    var now: Int64 = 0
    var schedule: RadioSchedule
    var bands: [BluetoothAddress: Band]
    var adapters: Set<BluetoothAddress>
    /// Of these, those that are switched off.
    private(set) var off: Set<BluetoothAddress> = []
    var slots: Int
    /// BlueZ forgets a band so long after it was heard, ms; nil = never. Whether it is seen that it did.
    var forgetsAfter: Int64?
    var showsWhatIsKnown = true
    private var heardAt: [BluetoothAddress: Int64] = [:]
    /// Attempts that begin with a band that BlueZ has forgotten.
    private var unknown: Set<BluetoothAddress> = []
    var foreign: [BluetoothAddress: Set<BluetoothAddress>] = [:]
    var scanning: Set<BluetoothAddress> = []
    var work: [BluetoothAddress: Work] = [:]
    var generator: SeededGenerator
    /// What must never happen, and did.
    var violations: [String] = []
    var notHeard: [BluetoothAddress] = []
    var actions: [RadioAction] = []
    /// Bands that are to be left alone until then, unless somebody asks.
    private var leftAlone: [BluetoothAddress: Int64] = [:]
    private var sightings: [RadioView.Sighting] = []

    init(
        bands: [BluetoothAddress: Band], adapters: [BluetoothAddress], slots: Int,
        syncInterval: Int64 = 900_000,
        seed: UInt64
    ) {
        self.bands = bands
        self.adapters = Set(adapters)
        self.slots = slots
        generator = SeededGenerator(seed: seed)
        schedule = RadioSchedule(settings: RadioSettings(syncInterval: syncInterval, maxLinks: slots))
        look()
        for band in bands.keys.sorted() { tell(.kept(band)) }
    }

    var time: MonotonicTime { MonotonicTime(milliseconds: now) }

    mutating func tell(_ event: RadioEvent) {
        if case .asked(let band) = event { leftAlone[band] = nil }
        for action in schedule.handle(event, at: time) { perform(action) }
    }

    mutating func run(for duration: Int64, until isDone: (RadioWorld) -> Bool = { _ in false }) {
        let end = now + duration
        while now < end, !isDone(self) {
            now += Self.step
            air()
            links()
            look()
            tell(.timePassed)
        }
    }

    private mutating func look() {
        let shown = adapters.sorted().map { adapter in
            let own = work.filter { $0.value.adapter == adapter && !isConnecting($0.key) }.keys
            return RadioView.Adapter(
                address: adapter, isPowered: isOn(adapter),
                connected: isOn(adapter) ? Set(own).union(foreign[adapter] ?? []) : [],
                known: showsWhatIsKnown && forgetsAfter != nil
                    ? Set(bands.keys.filter { work[$0] != nil || isKnown($0) }) : nil)
        }
        let seen = sightings
        sightings = []
        tell(.seen(RadioView(adapters: shown, sightings: seen)))
    }

    private func isKnown(_ band: BluetoothAddress) -> Bool {
        guard let forgetsAfter else { return true }
        return heardAt[band].map { now <= $0 + forgetsAfter } ?? false
    }

    private func isConnecting(_ band: BluetoothAddress) -> Bool {
        if case .connecting = work[band] { true } else { false }
    }

    /// Bands advertise once a second or so; an advertisement is heard four times in five.
    private mutating func air() {
        for (address, band) in bands.sorted(by: { $0.key < $1.key })
        where band.isPresent && work[address] == nil && chance(0.2) {
            for adapter in scanning.sorted() {
                guard let rssi = band.rssi[adapter], isOn(adapter), chance(0.8) else { continue }
                heardAt[address] = now
                sightings.append(
                    .init(band: address, adapter: adapter, rssi: rssi + Int(generator.next() % 5), at: time))
            }
        }
    }

    private mutating func links() {
        for address in work.keys.sorted() {
            guard let what = work[address] else { continue }
            switch what {
            case .connecting(let adapter, let until, let succeeds):
                guard until <= now else { continue }
                guard unknown.remove(address) == nil else {
                    end(address, .forgotten)
                    continue
                }
                if let outcome = oddEnd(of: address) {
                    end(address, outcome)
                    continue
                }
                guard succeeds, bands[address]?.isPresent == true, isOn(adapter) else {
                    end(address, .failed(moved: false))
                    continue
                }
                work[address] = .linked(on: adapter)
                tell(.linked(address))
            case .linked(let adapter):
                transfer(address, adapter)
            case .disconnecting(_, let until, let outcome):
                if until <= now { end(address, outcome) }
            }
        }
    }

    private mutating func oddEnd(of band: BluetoothAddress) -> SyncOutcome? {
        if let ends = bands[band]?.ends { return ends }
        guard chance(bands[band]?.odd ?? 0) else { return nil }
        let all: [SyncOutcome] = [.needsHelp, .rest(60_000), .noSlot, .radioFault, .again]
        return all[Int(generator.next() % UInt64(all.count))]
    }

    private mutating func transfer(_ address: BluetoothAddress, _ adapter: BluetoothAddress) {
        guard var band = bands[address] else { return }
        let others = work.values.filter { if case .linked(adapter) = $0 { true } else { false } }.count
        let moved = min(band.records, Self.linkRate * Int(Self.step) / 1_000 * 2 / max(2, others))
        band.records -= moved
        bands[address] = band
        guard band.isPresent, isOn(adapter), !chance(band.drops / 5) else {
            return end(address, .failed(moved: moved > 0))
        }
        guard band.records == 0 else { return }
        work[address] = .disconnecting(on: adapter, until: now + 2_000, .caughtUp)
    }

    private mutating func end(_ address: BluetoothAddress, _ outcome: SyncOutcome) {
        work[address] = nil
        switch outcome {
        case .rest(let time): leftAlone[address] = now + time
        case .needsHelp: leftAlone[address] = now + 900_000
        default: leftAlone[address] = nil
        }
        if outcome == .caughtUp {
            bands[address]?.syncs += 1
            if bands[address]?.caughtUpAt == nil { bands[address]?.caughtUpAt = now }
        }
        tell(.ended(address, outcome, jitter: Double(generator.next() % 1_000) / 1_000))
    }

    private mutating func perform(_ action: RadioAction) {
        actions.append(action)
        switch action {
        case .startScan(let adapter):
            if !scanning.insert(adapter).inserted { violations.append("\(now): scans twice on \(adapter)") }
            if off.contains(adapter) { violations.append("\(now): scans on \(adapter), which is off") }
        case .stopScan(let adapter):
            if scanning.remove(adapter) == nil { violations.append("\(now): no scan to stop on \(adapter)") }
        case .connect(let band, let adapter):
            if let until = leftAlone[band], now < until {
                violations.append("\(now): \(band) is to be left alone until \(until)")
            }
            if work[band] != nil { violations.append("\(now): \(band) is busy") }
            if off.contains(adapter) { violations.append("\(now): connects over \(adapter), which is off") }
            if work.values.contains(where: { if case .connecting(adapter, _, _) = $0 { true } else { false } }
            ) {
                violations.append("\(now): two attempts on \(adapter)")
            }
            let held = work.values.filter { $0.adapter == adapter }.count + (foreign[adapter]?.count ?? 0)
            if held >= slots { violations.append("\(now): \(held + 1) links on \(adapter)") }
            let fails = chance(bands[band]?.failsToConnect ?? 0)
            let isThere = bands[band]?.isPresent == true && bands[band]?.rssi[adapter] != nil
            guard isKnown(band) else {
                unknown.insert(band)
                work[band] = .connecting(on: adapter, until: now, succeeds: false)
                break
            }
            work[band] = .connecting(
                on: adapter, until: now + (isThere ? 300 + Int64(generator.next() % 1_500) : 25_000),
                succeeds: isThere && !fails)
        case .notHeard(let band): notHeard.append(band)
        case .noAdapter, .refused, .deaf: break
        }
    }

    private mutating func chance(_ probability: Double) -> Bool {
        probability > 0 && Double(generator.next() % 1_000_000) / 1_000_000 < probability
    }

    mutating func unplug(_ adapter: BluetoothAddress) {
        adapters.remove(adapter)
    }

    private func isOn(_ adapter: BluetoothAddress) -> Bool {
        adapters.contains(adapter) && !off.contains(adapter)
    }

    /// BlueZ shows it at once, and shows no link over one that is off.
    mutating func power(_ adapter: BluetoothAddress, _ isOn: Bool) {
        if isOn { off.remove(adapter) } else { off.insert(adapter) }
        look()
    }
}

func bandAddress(_ index: Int) -> BluetoothAddress {
    BluetoothAddress(bits: 0xF0F1_F2F3_F400 + UInt64(index))
}
func adapterAddress(_ index: Int) -> BluetoothAddress {
    BluetoothAddress(bits: 0x00AA_0100_0000 + UInt64(index))
}

extension RadioWorld {
    static func alike(_ count: Int, records: Int, drops: Double = 0, fails: Double = 0) -> [BluetoothAddress:
        Band]
    {
        Dictionary(
            uniqueKeysWithValues: (0..<count).map { index in
                (
                    bandAddress(index),
                    Band(
                        records: records, rssi: [adapterAddress(0): -50 - index], failsToConnect: fails,
                        drops: drops)
                )
            })
    }
}
