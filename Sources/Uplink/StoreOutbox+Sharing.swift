import GatewayModel
import IngestAPI
import Store

extension StoreOutbox {
    func raiseVersions(of device: DeviceID, above maxVersion: Int, onlyNews: Bool) throws -> VersionNews {
        try outbox.raiseVersions(of: device, above: maxVersion, onlyNews: onlyNews)
    }

    // MARK: comparisons

    func nextComparison(limit: Int, skipping: Set<DeviceID>) throws -> PendingComparison? {
        try outbox.nextComparison(limit: limit, skipping: skipping).map { slice in
            PendingComparison(
                device: slice.device, ring: slice.ring, seqs: slice.seqs, moments: slice.moments,
                stored: slice)
        }
    }

    func endComparison(_ comparison: PendingComparison) throws {
        if let slice = comparison.stored { try outbox.endComparison(slice) }
    }

    func adopt(_ samples: [Sample], of device: DeviceID) throws -> AdoptionReport {
        try outbox.adopt(samples, of: device)
    }

    // MARK: other gateways

    func noteOthers(of device: DeviceID) throws { try outbox.noteOthers(of: device) }

    func isShared(_ device: DeviceID) throws -> Bool { try outbox.isShared(device) }

    func sweep(_ device: DeviceID, count: Int) throws -> Bool { try outbox.sweep(device, count: count) }

    func noteSending(_ report: DeviceReport, of device: DeviceID) throws {
        try outbox.noteSending(report: Self.text(report), of: device)
    }

    func noteTaken(_ report: DeviceReport, of device: DeviceID) throws {
        try outbox.noteTaken(report: Self.text(report), of: device)
    }

    func mayBeOurs(_ report: DeviceReport, of device: DeviceID) throws -> Bool {
        try outbox.reports(of: device).contains { text in
            (try? APIJSON.decode(DeviceReport.self, from: Array(text.utf8))) == report
        }
    }

    private static func text(_ report: DeviceReport) throws -> String {
        String(decoding: try APIJSON.encode(report), as: UTF8.self)
    }

    // MARK: persons

    func persons() throws -> [SyncedPerson] { try outbox.persons() }

    func mergePerson(_ id: PersonID, zones: [ZoneStay]) throws -> (person: SyncedPerson, marked: Bool)? {
        try outbox.mergePerson(id, zones: zones)
    }

    func markPersonSent(_ person: Person) throws { try outbox.markPersonSent(person) }
}
