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

    var band: SimulatedBand {
        _read { yield stored.band }
        _modify { yield &stored.band }
    }

    func ack(_ bytes: [UInt8]) {
        band.advance(to: SystemClock.wallMilliseconds)
        let outcome = band.ack(bytes)
        ackLog?.add(BandRecords.ack(outcome, bytes, band: band, address: setup.address))
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
