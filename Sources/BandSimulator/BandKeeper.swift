import BandModel
import BandProfile

/// One band with its files: saves what it must not forget, logs acks, keeps the truth. Used on one queue.
final class BandKeeper: @unchecked Sendable {
    let setup: BandSetup
    var stored: StoredBand
    private let file: BandFile?
    private let ackLog: LineFile?
    private var savedRevision: Int
    /// Something less urgent than the ring changed: a crash may forget it.
    private(set) var isDirty = false
    /// Why the last save failed; nil = it did not.
    private(set) var saveFailure: SimulatorError?
    /// The band as each host sees it, in the order of their buses. They share a queue.
    private(set) var devices: [SimulatedDevice] = []
    /// The one that has the band's link; a band has one link at a time.
    weak var linked: SimulatedDevice?

    init(_ setup: BandSetup, stateDirectory: String?, ackLog: LineFile?) throws(SimulatorError) {
        self.setup = setup
        self.ackLog = ackLog
        file = stateDirectory.map { BandFile(directory: $0, address: setup.address) }
        let known = try file?.load()
        stored = known ?? StoredBand(band: SimulatedBand(setup.options, now: SystemClock.wallMilliseconds))
        // Faults come from the command line, whatever the file was made with.
        stored.band.setFaults(setup.options.faults)
        savedRevision = stored.band.revision
        if known == nil { try file?.save(stored) }
    }

    static func all(_ options: BusSimulatorOptions) throws(SimulatorError) -> [BandKeeper] {
        if let directory = options.stateDirectory { try BandFile.prepare(directory: directory) }
        let log: LineFile? =
            if let path = options.ackLog { try LineFile(path: path, truncate: false) } else { nil }
        var keepers: [BandKeeper] = []
        for setup in options.bands {
            keepers.append(try BandKeeper(setup, stateDirectory: options.stateDirectory, ackLog: log))
        }
        return keepers
    }

    var band: SimulatedBand {
        _read { yield stored.band }
        _modify { yield &stored.band }
    }

    func add(_ device: SimulatedDevice) {
        devices.append(device)
        while stored.hosts.count < devices.count { stored.hosts.append(HostStorage()) }
    }

    /// Its host's adapter has got another name.
    func replace(_ old: SimulatedDevice, by device: SimulatedDevice) {
        guard let place = devices.firstIndex(where: { $0 === old }) else { return }
        devices[place] = device
    }

    /// Its simulator has stopped.
    func remove(_ device: SimulatedDevice) { devices.removeAll { $0 === device } }

    /// - Parameter host: whose gateway sent it.
    func ack(_ bytes: [UInt8], host: Int = 0) {
        band.advance(to: SystemClock.wallMilliseconds)
        let outcome = band.ack(bytes)
        ackLog?.add(BandRecords.ack(outcome, bytes, band: band, address: setup.address, host: host))
        isDirty = true
    }

    func touch() { isDirty = true }

    /// Saves at once when the ring or the clock changed: a new record must outlive a kill.
    func saveIfUrgent() {
        if band.revision != savedRevision { save() }
    }

    func save() {
        savedRevision = band.revision
        isDirty = false
        do throws(SimulatorError) {
            try file?.save(stored)
            saveFailure = nil
        } catch {
            saveFailure = error
        }
    }
}
