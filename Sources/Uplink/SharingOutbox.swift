import BandProfile
import GatewayModel
import IngestAPI
import Store

/// What the uploader needs of the store where another gateway syncs the same band.
protocol SharingOutbox: AnyObject {
    /// The server has seen versions up to this. See `Outbox.raiseVersions`.
    func raiseVersions(of device: DeviceID, above maxVersion: Int, onlyNews: Bool) throws -> VersionNews
    /// What is to be compared next, at most `limit` samples.
    func nextComparison(limit: Int, skipping: Set<DeviceID>) throws -> PendingComparison?
    func endComparison(_ comparison: PendingComparison) throws
    /// Takes over what beats the samples here.
    func adopt(_ samples: [Sample], of device: DeviceID) throws -> AdoptionReport
    func noteOthers(of device: DeviceID) throws
    func isShared(_ device: DeviceID) throws -> Bool
    /// Lets a part of what is stored be compared. False when nobody else syncs the band.
    func sweep(_ device: DeviceID, count: Int) throws -> Bool
    /// Before a status goes up, and when it was taken.
    func noteSending(_ report: DeviceReport, of device: DeviceID) throws
    func noteTaken(_ report: DeviceReport, of device: DeviceID) throws
    /// The server may have this status from here.
    func mayBeOurs(_ report: DeviceReport, of device: DeviceID) throws -> Bool
}

/// Persons as the uploader needs them.
protocol PersonOutbox: AnyObject {
    func persons() throws -> [SyncedPerson]
    /// Unites the zones; nil for a person that is not known any more.
    func mergePerson(_ id: PersonID, zones: [ZoneStay]) throws -> (person: SyncedPerson, marked: Bool)?
    func markPersonSent(_ person: Person) throws
}

/// Samples to be compared, as the outbox has them now.
struct PendingComparison: Sendable {
    var device: DeviceID
    var ring: RingID
    var seqs: ClosedRange<UInt32>
    var moments: [ComparisonSlice.Moment]
    /// What the store knows it by.
    var stored: ComparisonSlice?
}
