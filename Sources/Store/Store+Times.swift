import GatewayModel

/// What the host's clock is worth, and where the host is.
extension Store {
    /// Writes down what the host's wall clock is worth; samples that were timed by it in this boot may become better.
    public func noteHostClock(_ stamp: HostStamp) throws(StoreError) {
        try write("note the host's clock") { engine, _ in try engine.note(stamp) }
    }

    /// Counts time that samples wait for the host's clock. After a day they go up as they are: see `HostClockHold`.
    public func countHold(milliseconds: Int64) throws(StoreError) {
        let isOfUse = try read("look at what is held") { engine in
            let isWaiting = try engine.database.first("SELECT 1 FROM held LIMIT 1") { _ in true } ?? false
            return try isWaiting || MetaTable(database: engine.database).read(.holdUsed) ?? 0 != 0
        }
        guard isOfUse else { return }
        _ = try write("count a wait") { engine, _ in
            try engine.times.hold.count(milliseconds: milliseconds, unconfirmed: engine.writer.unconfirmed)
        }
    }

    /// The zone that this host is in from now on; the first one holds for all time before it, too.
    public func noteHostZone(_ zone: String, from: Timestamp) throws(StoreError) {
        let stays = try read("look up the zone") { engine in try engine.people.zones(of: PersonTable.host) }
        guard stays.last?.zone != zone else { return }
        try write("note the zone") { engine, _ in
            try engine.people.setZone(ZoneStay(zone: zone, from: from), of: PersonTable.host)
            engine.times.forget()
            // Of the first one there is nothing yet that rests on another.
            let begin = stays.isEmpty ? nil : from.milliseconds - DayTable.milliseconds
            try engine.markEverywhere(from: begin, to: nil)
        }
    }

    /// The latest time of the host that was ever written down while its clock could be believed: true time is not
    /// before it.
    public func latestTrustedTime() throws(StoreError) -> Timestamp? {
        try read("look up the last time") { engine in
            try engine.database.first(
                """
                SELECT max(t) FROM (
                    SELECT t FROM (SELECT host_time AS t FROM clock_readings WHERE host_trust = 2
                        ORDER BY id DESC LIMIT 1)
                    UNION ALL SELECT max(wall) FROM host_anchors WHERE bound <= 60000)
                """
            ) { $0.optionalInt64(0).map { Timestamp(milliseconds: $0) } } ?? nil
        }
    }
}

extension Engine {
    /// Derives samples of all bands between two times again; nil = for all time on that side.
    func markEverywhere(from: Int64?, to: Int64?) throws {
        for ring in try database.all("SELECT id FROM rings", row: { $0.int64(0) }) {
            try times.revisions.changed(ring: ring, from: from, to: to)
        }
    }

    func mark(band: Int64, from: Int64?, to: Int64?) throws {
        for ring in try rings.all(band: band) {
            try times.revisions.changed(ring: ring.id, from: from, to: to)
        }
    }
}
