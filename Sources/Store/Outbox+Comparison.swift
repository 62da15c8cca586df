import GatewayModel
import SQLite

/// What another gateway said better.
extension Outbox {
    /// What is to be compared with the server next, at most `limit` samples of one ring.
    public func nextComparison(
        limit: Int = 2_000, skipping: Set<DeviceID> = []
    ) throws(StoreError) -> ComparisonSlice? {
        try storing("look for samples to compare", path) {
            try comparisons.next(limit: max(1, limit), skipping: skipping)
        }
    }

    /// These were compared as far as that was possible.
    public func endComparison(_ slice: ComparisonSlice) throws(StoreError) {
        try write("note a comparison") { _ in try comparisons.end(slice) }
    }

    /// Takes over what beats the samples here, as the server ranks them: the higher version, then the smaller bound, then
    /// what it had first. Samples that wait to be sent are left alone. What was adopted shows that another gateway syncs
    /// the band, too.
    public func adopt(_ samples: [Sample], of device: DeviceID) throws(StoreError) -> AdoptionReport {
        try write("adopt what the server has") { _ in
            guard let band = try BandTable(database: database).id(of: device) else { return AdoptionReport() }
            let report = try Adoption(self).adopt(samples, band: band)
            if report.adopted > 0 { try SharingTable(database: database, band: band).noteOthers() }
            return report
        }
    }

    // MARK: Other gateways

    /// Another gateway syncs the band, too.
    public func noteOthers(of device: DeviceID) throws(StoreError) {
        _ = try sharing(device) { table in try table.noteOthers() }
    }

    public func isShared(_ device: DeviceID) throws(StoreError) -> Bool {
        try storing("look who syncs a band", path) { try sharing(device)?.isShared() ?? false }
    }

    /// Lets the newest `count` samples of a shared band and as many older ones be compared. False when no other gateway
    /// syncs it.
    public func sweep(_ device: DeviceID, count: Int) throws(StoreError) -> Bool {
        let ranges = try sharing(device) { table in try table.sweep(count: max(1, count)) } ?? nil
        guard let ranges else { return false }
        let rings = try storing("list the rings", path) {
            try ranges.compactMap { id, seqs in try selection.ring(id).map { (ring: $0, seqs: seqs) } }
        }
        comparisons.sweep(rings, of: device)
        return true
    }

    /// Statuses that the server may have from here, as they were given to `noteSending`.
    public func reports(of device: DeviceID) throws(StoreError) -> [String] {
        try storing("look up the status", path) { try sharing(device)?.reports() ?? [] }
    }

    /// Before a status goes up.
    public func noteSending(report: String, of device: DeviceID) throws(StoreError) {
        _ = try sharing(device) { table in try table.noteSending(report: report) }
    }

    /// The server took a status.
    public func noteTaken(report: String, of device: DeviceID) throws(StoreError) {
        _ = try sharing(device) { table in try table.noteTaken(report: report) }
    }

    private func sharing<Value>(
        _ device: DeviceID, _ body: (SharingTable) throws -> Value
    ) throws(StoreError) -> Value? {
        try write("note who syncs a band") { _ in
            try sharing(device).map(body)
        }
    }

    private func sharing(_ device: DeviceID) throws -> SharingTable? {
        try BandTable(database: database).id(of: device).map { SharingTable(database: database, band: $0) }
    }
}
