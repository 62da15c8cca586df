import BandProfile
import GatewayModel
import Store

/// What people's commands need of the store on the upload thread.
protocol CommandOutbox: AnyObject {
    /// What people told the upload before, also before a restart.
    func record() throws -> UploadRecord
    /// Its time is over.
    func endPause(_ pause: UploadPause) throws
    func noteError(_ code: String, at time: Timestamp) throws
    /// What the server refused goes up again; nil = of every device. Returns how many samples.
    func releaseRefused(_ device: DeviceID?) throws -> Int

    /// For a comparison with the server: see `Outbox`'s functions of the same names.
    func days(of device: DeviceID) throws -> [Int64]
    /// The first UTC day of which all samples that were stored still are; nil = all days.
    func keptFrom() throws -> Int64?
    func storedDay(_ day: Int64, of device: DeviceID) throws -> [StoredPart]
    func stored(_ seqs: [UInt32], _ type: SampleType, in ring: RingID, of device: DeviceID) throws
        -> Set<UInt32>
    func hasStored(
        _ seqs: ClosedRange<UInt32>, _ type: SampleType, in ring: RingID, of device: DeviceID
    ) throws -> Bool
    func markUnconfirmed(_ seqs: [UInt32], in ring: RingID, of device: DeviceID) throws
    func openGaps(of device: DeviceID) throws -> [RingID: [ClosedRange<UInt32>]]
    func heal(_ seqs: [UInt32], in ring: RingID, of device: DeviceID) throws

    /// Bands whose lease is to be asked for, kept, or given back.
    func leasedBands() throws -> [LeasedBand]
    func noteLease(_ lease: BandLease?, of device: DeviceID) throws
    /// The name of this gateway at the server.
    func gatewayID() throws -> String
}

extension StoreOutbox {
    func record() throws -> UploadRecord { try outbox.record() }

    func endPause(_ pause: UploadPause) throws { try outbox.endPause(pause) }

    func noteError(_ code: String, at time: Timestamp) throws { try outbox.noteError(code, at: time) }

    func leasedBands() throws -> [LeasedBand] { try outbox.leasedBands() }

    func noteLease(_ lease: BandLease?, of device: DeviceID) throws {
        try outbox.noteLease(lease, of: device)
    }

    func gatewayID() throws -> String { try outbox.gatewayID() }

    func releaseRefused(_ device: DeviceID?) throws -> Int {
        try (device.map { [$0] } ?? outbox.devices()).reduce(0) {
            try $0 + outbox.releaseQuarantined($1)
        }
    }

    func days(of device: DeviceID) throws -> [Int64] { try outbox.days(of: device) }

    func keptFrom() throws -> Int64? { try outbox.keptFrom() }

    func storedDay(_ day: Int64, of device: DeviceID) throws -> [StoredPart] {
        try outbox.storedDay(day, of: device)
    }

    func stored(
        _ seqs: [UInt32], _ type: SampleType, in ring: RingID, of device: DeviceID
    ) throws -> Set<UInt32> {
        try outbox.stored(seqs, type, in: ring, of: device)
    }

    func hasStored(
        _ seqs: ClosedRange<UInt32>, _ type: SampleType, in ring: RingID, of device: DeviceID
    ) throws -> Bool {
        try outbox.hasStored(seqs, type, in: ring, of: device)
    }

    func openGaps(of device: DeviceID) throws -> [RingID: [ClosedRange<UInt32>]] {
        try outbox.openGaps(of: device)
    }

    func heal(_ seqs: [UInt32], in ring: RingID, of device: DeviceID) throws {
        try outbox.heal(seqs, in: ring, of: device)
    }

    func markUnconfirmed(_ seqs: [UInt32], in ring: RingID, of device: DeviceID) throws {
        try outbox.markUnconfirmed(seqs, in: ring, of: device)
    }
}
