import GatewayModel
import SQLite

/// What a server's `max_version` told.
public struct VersionNews: Equatable, Sendable {
    /// Somebody else, or this gateway before it was restored from an older copy, corrected samples of the band.
    public var isNews: Bool
    /// Samples that got another version.
    public var raised: Int

    public init(isNews: Bool = false, raised: Int = 0) {
        self.isNews = isNews
        self.raised = raised
    }
}

extension Outbox {
    /// The server has seen versions of this band up to `maxVersion`: corrections start above it, and those that wait to
    /// be sent go above it. With `onlyNews` nothing is done when that was to be expected here.
    ///
    /// Before the first batch of a device in each run: what was given before may not count otherwise. In transactions of
    /// their own; one that was cut off is done again at the next start.
    @discardableResult
    public func raiseVersions(
        of device: DeviceID, above maxVersion: Int, onlyNews: Bool = false
    ) throws(StoreError) -> VersionNews {
        let operation = "raise versions"
        let version = Int64(maxVersion)
        let versions = OutboxVersions(database: database, unconfirmed: unconfirmed)
        let band = try storing(operation, path) { try BandTable(database: database).id(of: device) }
        guard let band else { return VersionNews() }
        let known = try storing(operation, path) { try versions.known(band: band) }
        var news = VersionNews(isNews: version > max(1, known))
        if onlyNews, !news.isNews { return news }
        try write(operation) { _ in try versions.raiseFloor(band: band, to: version) }
        // Without a correction every version is 1, and there is nothing to look for.
        guard known > 1 else { return news }
        let rings = try storing(operation, path) {
            try database.all("SELECT id FROM rings WHERE band = ?", .integer(band)) { $0.int64(0) }
        }
        for ring in rings {
            var last: Int64 = 0
            while true {
                let keys = try storing(operation, path) {
                    try versions.stale(ring: ring, upTo: version, above: last)
                }
                guard let highest = keys.max() else { break }
                try write(operation) { _ in try versions.raise(keys, above: version, band: band) }
                last = highest
                news.raised += keys.count
            }
        }
        return news
    }
}
