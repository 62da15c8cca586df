import GatewayModel
import SQLite

/// Failed tries at one seq of each ring.
struct AttemptTable {
    let database: Database

    /// The tries at `seq`; none when the last ones were at another seq.
    func read(ring: Int64, seq: UInt32) throws -> Attempts {
        try database.first(
            "SELECT tries, connections, saw_unreadable FROM attempts WHERE ring = ? AND seq = ?",
            .integer(ring),
            .int(seq)
        ) {
            Attempts(seq: seq, tries: $0.int(0), connections: $0.int(1), sawUnreadable: $0.bool(2))
        } ?? Attempts(seq: seq)
    }

    func record(ring: Int64, seq: UInt32, unreadable: Bool, connection: Int64) throws -> Attempts {
        try database.run(
            """
            INSERT INTO attempts (ring, seq, tries, connections, last_connection, saw_unreadable)
            VALUES (?1, ?2, 1, 1, ?4, ?3)
            ON CONFLICT DO UPDATE SET
                tries = iif(seq = ?2, tries + 1, 1),
                connections = iif(seq = ?2, connections + (last_connection != ?4), 1),
                saw_unreadable = iif(seq = ?2, max(saw_unreadable, ?3), ?3),
                last_connection = ?4, seq = ?2
            """, .integer(ring), .int(seq), .int(unreadable ? 1 : 0), .integer(connection))
        return try read(ring: ring, seq: seq)
    }
}
