/// Constant text of the one dialect that both engines understand. Every statement of the storage is a case of one of
/// the three kinds below, so what may be said at all is written in one place.
protocol SQLStatement: Sendable {
    var text: String { get }
}

extension SQLStatement where Self: RawRepresentable, RawValue == String {
    var text: String { rawValue }
}

/// About one device: names `device_id = $1`, or inserts it as `$1`. These tables can be spread over machines by it.
enum DeviceStatement: String, SQLStatement, CaseIterable {
    case make = """
        INSERT INTO devices (device_id, account, name) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING
        """
    /// Nobody else changes anything of the device before the transaction ends. No row where another has that lock: nobody
    /// waits for it.
    case lock = """
        SELECT account, name, max_version, least_offset_min, greatest_offset_min, persons, touched, touches,
            frozen_through, expired_first_ms, report, lease_holder, lease_expires_ms, first_ms, last_ms, expired_last_ms
        FROM devices WHERE device_id = $1 FOR UPDATE SKIP LOCKED
        """
    case read = """
        SELECT account, name, max_version, least_offset_min, greatest_offset_min, persons, touched, touches,
            frozen_through, expired_first_ms, report, lease_holder, lease_expires_ms, first_ms, last_ms, expired_last_ms
        FROM devices WHERE device_id = $1
        """
    /// What is shown of it, and how many rings it has. Not what grows with it: of many devices, all this is in hand at once.
    case shown = """
        SELECT account, name, max_version, first_ms, last_ms, expired_first_ms, expired_last_ms, report,
            (SELECT count(*) FROM rings WHERE device_id = $1)
        FROM devices WHERE device_id = $1
        """
    case noteBatch = """
        UPDATE devices SET max_version = $2, least_offset_min = $3, greatest_offset_min = $4, persons = $5, touched = $6,
            touches = $7, first_ms = $8, last_ms = $9
        WHERE device_id = $1
        """
    case findFirstTime = """
        UPDATE devices SET first_ms = (SELECT min(first_ms) FROM chunks WHERE device_id = $1) WHERE device_id = $1
        """
    case findLastTime = """
        UPDATE devices SET last_ms = (SELECT max(last_ms) FROM chunks WHERE device_id = $1) WHERE device_id = $1
        """
    case noteTouched = "UPDATE devices SET touched = $2, touches = $3 WHERE device_id = $1"
    case freeze = """
        UPDATE devices SET frozen_through = $2, expired_first_ms = $3, expired_last_ms = $4 WHERE device_id = $1
        """
    case putReport = "UPDATE devices SET report = $2 WHERE device_id = $1"
    case putLease = "UPDATE devices SET lease_holder = $2, lease_expires_ms = $3 WHERE device_id = $1"

    case rings = """
        SELECT ring, complete_through, first_seen_ms, types FROM rings WHERE device_id = $1 ORDER BY first_seen_ms, ring
        """
    case ring = """
        SELECT ring, complete_through, first_seen_ms, types FROM rings WHERE device_id = $1 AND ring = $2
        """
    /// A row when there are more rings than $2.
    case ringBeyond = "SELECT ring FROM rings WHERE device_id = $1 LIMIT 1 OFFSET $2"
    case ringNumbers = "SELECT ring FROM rings WHERE device_id = $1"
    case putRing = """
        INSERT INTO rings (device_id, ring, complete_through, first_seen_ms, types) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (device_id, ring) DO UPDATE
        SET complete_through = excluded.complete_through, types = excluded.types
        """
    case makeRing = """
        INSERT INTO rings (device_id, ring, first_seen_ms, types) VALUES ($1, $2, $3, '') ON CONFLICT DO NOTHING
        """

    /// The chunks that reach into the seqs $3 to $4, and the last one before them. Its content only where a batch of
    /// these seqs would go into it: near, and not full. ($5 = seqs that are near, $6 = samples that are enough.)
    case chunksAround = """
        SELECT first_seq, last_seq,
            CASE WHEN last_seq >= $3 OR (last_seq >= $3 - $5 AND samples < $6) THEN content END
        FROM chunks
        WHERE device_id = $1 AND ring = $2 AND first_seq <= $4 AND first_seq >= coalesce(
            (SELECT max(first_seq) FROM chunks WHERE device_id = $1 AND ring = $2 AND first_seq <= $3), 0)
        ORDER BY first_seq
        """
    case putChunk = """
        INSERT INTO chunks (device_id, ring, first_seq, last_seq, samples, first_ms, last_ms, received_ms, content)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        ON CONFLICT (device_id, ring, first_seq) DO UPDATE SET last_seq = excluded.last_seq, samples = excluded.samples,
            first_ms = excluded.first_ms, last_ms = excluded.last_ms, received_ms = excluded.received_ms,
            content = excluded.content
        """
    case dropChunk = "DELETE FROM chunks WHERE device_id = $1 AND ring = $2 AND first_seq = $3"
    case chunksBetween = """
        SELECT ring, content FROM chunks WHERE device_id = $1 AND last_ms >= $2 AND first_ms < $3 ORDER BY ring, first_seq
        """
    case chunkKeysBetween = """
        SELECT ring, first_seq, first_ms FROM chunks WHERE device_id = $1 AND last_ms >= $2 AND first_ms < $3
        ORDER BY first_ms, ring, first_seq
        """
    case chunk = "SELECT content FROM chunks WHERE device_id = $1 AND ring = $2 AND first_seq = $3"
    /// In the order of their keys, after one of them, $4 at most.
    case chunksAfter = """
        SELECT ring, first_seq, content FROM chunks
        WHERE device_id = $1 AND (ring, first_seq) > ($2, $3) ORDER BY ring, first_seq LIMIT $4
        """
    /// Which chunks have seqs above $3 in the ring $2, or are of a ring after it, and how large they are: the first $4.
    case chunkSizes = """
        SELECT ring, first_seq, last_seq, length(content) FROM chunks
        WHERE device_id = $1 AND (ring, first_seq) >= ($2, coalesce(
            (SELECT max(first_seq) FROM chunks WHERE device_id = $1 AND ring = $2 AND first_seq <= $3), 0))
            AND (ring > $2 OR last_seq > $3)
        ORDER BY ring, first_seq LIMIT $4
        """
    case oldChunks = """
        SELECT ring, first_seq, last_seq, first_ms, last_ms, content FROM chunks
        WHERE device_id = $1 AND last_ms < $2 AND received_ms < $2 ORDER BY ring, first_seq LIMIT $3
        """

    case expiredAround = """
        SELECT first_seq, last_seq, keys FROM expired_keys
        WHERE device_id = $1 AND ring = $2 AND first_seq <= $4 AND first_seq >= coalesce(
            (SELECT max(first_seq) FROM expired_keys WHERE device_id = $1 AND ring = $2 AND first_seq <= $3), 0)
        ORDER BY first_seq
        """
    case putExpired = """
        INSERT INTO expired_keys (device_id, ring, first_seq, last_seq, keys) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (device_id, ring, first_seq) DO UPDATE SET last_seq = excluded.last_seq, keys = excluded.keys
        """
    case dropExpired = "DELETE FROM expired_keys WHERE device_id = $1 AND ring = $2 AND first_seq = $3"

    case keepConflict = """
        INSERT INTO conflicts (device_id, ring, type, seq, value, band_time_ms, clock_id, flags, received_ms, sample)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING
        """

    case gaps = """
        SELECT ring, first_seq, last_seq, after_ms, before_ms, cause, healed_ms FROM gaps
        WHERE device_id = $1 ORDER BY ring, first_seq
        """
    case gap = """
        SELECT ring, first_seq, last_seq, after_ms, before_ms, cause, healed_ms FROM gaps
        WHERE device_id = $1 AND ring = $2 AND first_seq = $3
        """
    case gapCount = "SELECT count(*) FROM gaps WHERE device_id = $1"
    case putGap = """
        INSERT INTO gaps (device_id, ring, first_seq, last_seq, after_ms, before_ms, cause, healed_ms)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        ON CONFLICT (device_id, ring, first_seq) DO UPDATE SET last_seq = excluded.last_seq, after_ms = excluded.after_ms,
            before_ms = excluded.before_ms, cause = excluded.cause, healed_ms = excluded.healed_ms
        """

    case trendDays = "SELECT day, content FROM trend_days WHERE device_id = $1 AND day BETWEEN $2 AND $3"
    case putTrendDay = """
        INSERT INTO trend_days (device_id, day, content) VALUES ($1, $2, $3)
        ON CONFLICT (device_id, day) DO UPDATE SET content = excluded.content
        """
    case dropTrendDay = "DELETE FROM trend_days WHERE device_id = $1 AND day = $2"
}

/// About one account: names `account = $1`, or inserts it as `$1`. Small tables that are read before a device is known.
enum AccountStatement: String, SQLStatement, CaseIterable {
    case make =
        "INSERT INTO accounts (account, created_ms) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING account"
    case addToken = """
        INSERT INTO tokens (account, id, digest, role, label, created_ms) VALUES ($1, $2, $3, $4, $5, $6)
        """
    case tokens = """
        SELECT id, account, role, label, digest, created_ms, revoked_ms FROM tokens WHERE account = $1
        ORDER BY created_ms, id
        """
    case noteDevice = """
        INSERT INTO account_devices (account, name, device_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING
        """
    /// In the order of their names, after one of them, $3 at most.
    case devices = """
        SELECT name, device_id FROM account_devices WHERE account = $1 AND name > $2 ORDER BY name LIMIT $3
        """
    case notePerson = "INSERT INTO persons (account, person) VALUES ($1, $2) ON CONFLICT DO NOTHING"
    case putPerson = """
        INSERT INTO persons (account, person, record) VALUES ($1, $2, $3)
        ON CONFLICT (account, person) DO UPDATE SET record = excluded.record
        """
    case person = "SELECT record FROM persons WHERE account = $1 AND person = $2"
    case persons = "SELECT person, record FROM persons WHERE account = $1 ORDER BY person LIMIT $2"
    case notePersonDevice = """
        INSERT INTO person_devices (account, person, name, device_id) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING
        """
    case personDevices = """
        SELECT name, device_id FROM person_devices WHERE account = $1 AND person = $2 ORDER BY name
        """
    case allPersonDevices = """
        SELECT person, name FROM person_devices WHERE account = $1 ORDER BY person, name LIMIT $2
        """
}

/// About the server itself.
enum ServerStatement: String, SQLStatement, CaseIterable {
    /// A token is all that a request brings: what account it is of is the question.
    case token = """
        SELECT id, account, role, label, digest, created_ms, revoked_ms FROM tokens WHERE digest = $1
        """
    case tokenByID = """
        SELECT id, account, role, label, digest, created_ms, revoked_ms FROM tokens WHERE id = $1
        """
    case allTokens = """
        SELECT id, account, role, label, digest, created_ms, revoked_ms FROM tokens ORDER BY created_ms, id
        """
    case revokeToken = "UPDATE tokens SET revoked_ms = $2 WHERE id = $1 AND revoked_ms IS NULL"
    case accounts = "SELECT account FROM accounts ORDER BY account"
    /// For work on all devices, a page at a time.
    case devicesAfter = """
        SELECT account, name FROM devices WHERE device_id > $1 ORDER BY device_id LIMIT $2
        """
    case probe = """
        INSERT INTO probe (id, written_ms, padding) VALUES (1, $1, $2)
        ON CONFLICT (id) DO UPDATE SET written_ms = excluded.written_ms, padding = excluded.padding
        """
}
