import GatewayModel
import SQLite

/// How far a band may be acked that keeps its records until the server has them: `ack = upload`.
///
/// That is the highest seq up to which every record is confirmed by the server, or can't be read, was refused or is
/// missing, and is then named in a gap that the server has. What was confirmed once stays so while a better version of it
/// waits to go up, so it is kept as a mark; the mark falls where the band's numbers or the server's word no longer hold.
struct ConfirmedThrough {
    let database: Database
    let unconfirmed: SeqIntervals

    /// Raises the mark to what is confirmed now, and returns it; 0 = nothing is.
    func raise(ring: Int64) throws -> UInt32 {
        let mark = try read(ring: ring)
        let now = try CompleteThrough(database: database, unconfirmed: unconfirmed)
            .read(ring: ring, confirming: [], done: [], above: mark)
        guard let now, now > mark else { return mark }
        try database.run(
            "UPDATE rings SET confirmed_through = ?2 WHERE id = ?1", .integer(ring), .int(now))
        return now
    }

    /// As `raise`, if the ring is one of a band that is acked so.
    func raiseIfWanted(ring: Int64) throws {
        let isWanted = try database.first(
            "SELECT ack = ?2 FROM bands WHERE id = (SELECT band FROM rings WHERE id = ?1)", .integer(ring),
            .text(AckPolicy.upload.rawValue)
        ) { $0.bool(0) }
        if isWanted == true { _ = try raise(ring: ring) }
    }

    func read(ring: Int64) throws -> UInt32 {
        try database.first("SELECT confirmed_through FROM rings WHERE id = ?", .integer(ring)) {
            UInt32(clamping: $0.int64(0))
        } ?? 0
    }

    /// Nothing from `seq` on is taken for confirmed any more.
    func lower(ring: Int64, below seq: UInt32) throws(SQLiteError) {
        try database.run(
            "UPDATE rings SET confirmed_through = min(confirmed_through, ?2) WHERE id = ?1", .integer(ring),
            .integer(max(0, Int64(seq) - 1)))
    }
}
