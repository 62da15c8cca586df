import BandProfile
import Conditions
import GatewayModel
import SQLite

/// After the log was lost: what this gateway had acked since it was last moved into the database is no other gateway's doing.
struct LostLog {
    let database: Database

    /// How far the bands were acked is not known: anything from where they were read to may be lost, until they say what they
    /// still have. Rings that were only in the log are those of a lost database.
    func note(now: Timestamp) throws {
        try database.transaction {
            let lost = try SeqIntervals(database, .lost)
            let rings = try database.all(
                """
                SELECT r.id, r.next_seq FROM rings r JOIN bands b ON b.id = r.band WHERE b.mode = 'own'
                AND NOT EXISTS (SELECT 1 FROM gaps g WHERE g.ring = r.id AND g.last_seq IS NULL)
                """
            ) { (id: $0.int64(0), next: $0.int64(1)) }
            for ring in rings {
                guard let next = UInt32(exactly: ring.next) else { continue }
                try lost.add(ring: ring.id, next...UInt32.max)
            }
            try MetaTable(database: database).write(.storageLostAt, now.milliseconds)
            try BandTable(database: database).setProblem(Problem(.storeLogLost), band: 0, now: now)
        }
    }

    /// The band still has what comes from `oldest` on: of that nothing was lost.
    func settle(ring: Int64, oldest: UInt32) throws {
        let isOpen =
            try database.first(
                "SELECT 1 FROM lost WHERE ring = ? AND last_seq = \(UInt32.max)", .integer(ring)
            ) { _ in true } ?? false
        if isOpen { try SeqIntervals(database, .lost).subtract(ring: ring, oldest...UInt32.max) }
    }
}
