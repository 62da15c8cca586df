/// The numbered migrations of `gateway.db`. Append-only: a migration that was released never changes.
///
/// Times are milliseconds since 1970-01-01T00:00:00Z unless a comment says otherwise.
enum Schema {
    /// What `PRAGMA application_id` of a gateway database reads: "BFgw".
    static let applicationID = 0x4246_6777
    static let fileName = "gateway.db"
    /// `migrations[n]` leads from `user_version` n to n + 1.
    static let migrations = [
        migration1, migration2, migration3, migrationStorage, migrationOwning, migrationRadio,
    ]
    static var version: Int { migrations.count }

    private static let migration1 = """
        CREATE TABLE meta (
            key TEXT PRIMARY KEY,           -- see MetaTable
            value INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE bands (
            id INTEGER PRIMARY KEY,
            device TEXT NOT NULL UNIQUE,    -- device_id of ingest API 1
            address INTEGER NOT NULL,       -- 48 bits, the first printed octet highest
            name TEXT,                      -- as advertised
            mode TEXT NOT NULL CHECK (mode IN ('own', 'observe')),
            configured INTEGER NOT NULL,    -- 1 = named in the configuration file
            adopted INTEGER NOT NULL,       -- 1 = taken in by a command or by `adopt = any`
            version_floor INTEGER NOT NULL DEFAULT 0, -- the server's max_version: corrections go above it
            version_used INTEGER NOT NULL DEFAULT 1,  -- the highest version given to a sample here
            mtu INTEGER,                    -- ATT MTU of the last connection, bytes
            battery INTEGER,                -- percent
            firmware TEXT,
            last_contact INTEGER
        ) STRICT;
        CREATE INDEX bands_by_address ON bands (address);

        CREATE TABLE rings (
            id INTEGER PRIMARY KEY CHECK (id < 8388608), -- 23 bits, so that a sample key fits
            band INTEGER NOT NULL REFERENCES bands (id),
            ring INTEGER NOT NULL,          -- ring_id of Band History Profile 1
            format_count INTEGER,           -- orders the rings of one band; NULL = never seen on the band
            window INTEGER,                 -- notifications outstanding without an ack; 0 = no limit
            capacity INTEGER,               -- records
            oldest_seq INTEGER,             -- as last read from Info
            newest_seq INTEGER,             -- as last read from Info
            next_seq INTEGER NOT NULL,      -- the first seq to ask the band for
            stored INTEGER NOT NULL DEFAULT 0, -- rows of this ring in samples
            first_seen INTEGER NOT NULL,
            last_seen INTEGER NOT NULL,
            rolled_back_at INTEGER,         -- the band showed less than was committed: numbers prove nothing
            after_loss INTEGER NOT NULL DEFAULT 0, -- 1 = first seen after the database had been lost
            UNIQUE (band, ring)
        ) STRICT;

        CREATE TABLE clock_readings (
            id INTEGER PRIMARY KEY,
            ring INTEGER NOT NULL REFERENCES rings (id),
            clock_id INTEGER NOT NULL,
            band_time INTEGER NOT NULL,     -- ms since 1970 by the band's clock
            host_time INTEGER NOT NULL,     -- ms, host wall clock at the middle of the read
            host_monotonic INTEGER NOT NULL, -- ms of CLOCK_BOOTTIME at the middle of the read
            boot_id TEXT NOT NULL,          -- the boot that host_monotonic counts from
            bound INTEGER NOT NULL,         -- ms, half the round trip
            seconds_since_boot INTEGER NOT NULL -- of the band
        ) STRICT;
        CREATE INDEX clock_readings_by_clock ON clock_readings (ring, clock_id);

        -- The key packs (ring, seq, type), so that rows append in the order in which they arrive.
        CREATE TABLE samples (
            key INTEGER PRIMARY KEY,        -- rings.id << 40 | seq << 8 | type of Band History Profile 1
            value INTEGER NOT NULL,         -- in the type's fixed unit
            recorded_at INTEGER NOT NULL,   -- band_time plus the clock offset that was used
            band_time INTEGER NOT NULL,     -- ms since 1970 by the band's clock
            tz_offset INTEGER,              -- quarter hours east of UTC; NULL = not known
            clock_id INTEGER NOT NULL,
            clock_reading INTEGER,          -- clock_readings.id of the offset used; NULL = none
            flags INTEGER NOT NULL,         -- bit 0 worn, bit 1 low confidence
            version INTEGER NOT NULL,       -- rises when a derived field changes
            provenance INTEGER NOT NULL,    -- 0 unknown, 1 device, 2 user
            time_uncertain INTEGER NOT NULL -- 1 = the clock that timed it was never read
        ) STRICT;

        -- A second reading of a known key that differs: kept beside the first, sent as a conflict.
        CREATE TABLE conflicts (
            id INTEGER PRIMARY KEY,
            key INTEGER NOT NULL,           -- as in samples; so are the columns down to time_uncertain
            value INTEGER NOT NULL,
            recorded_at INTEGER NOT NULL,
            band_time INTEGER NOT NULL,
            tz_offset INTEGER,
            clock_id INTEGER NOT NULL,
            clock_reading INTEGER,
            flags INTEGER NOT NULL,
            version INTEGER NOT NULL,
            provenance INTEGER NOT NULL,
            time_uncertain INTEGER NOT NULL,
            noted_at INTEGER NOT NULL,
            state INTEGER NOT NULL          -- 0 to be sent, 1 confirmed, 2 rejected
        ) STRICT;
        CREATE INDEX conflicts_by_key ON conflicts (key);
        CREATE INDEX conflicts_to_send ON conflicts (key) WHERE state = 0;

        -- The seqs of stored samples that the server has not confirmed: disjoint, never adjacent.
        CREATE TABLE unconfirmed (
            ring INTEGER NOT NULL,
            first_seq INTEGER NOT NULL,
            last_seq INTEGER NOT NULL,
            PRIMARY KEY (ring, first_seq)
        ) STRICT, WITHOUT ROWID;

        -- Seqs gone from the band, while it is not known whether another gateway has them.
        CREATE TABLE open_questions (
            ring INTEGER NOT NULL,
            first_seq INTEGER NOT NULL,
            last_seq INTEGER NOT NULL,      -- 4294967295 = not known
            cause TEXT NOT NULL,            -- the cause of the gap if nobody has the records
            PRIMARY KEY (ring, first_seq)
        ) STRICT, WITHOUT ROWID;

        -- Seqs of samples with time_uncertain, by the clock whose reading would settle them.
        CREATE TABLE uncertain (
            ring INTEGER NOT NULL,
            clock_id INTEGER NOT NULL,
            first_seq INTEGER NOT NULL,
            last_seq INTEGER NOT NULL,
            PRIMARY KEY (ring, clock_id, first_seq)
        ) STRICT, WITHOUT ROWID;

        -- Disjoint ranges of one ring, healed ones included.
        CREATE TABLE gaps (
            ring INTEGER NOT NULL REFERENCES rings (id),
            first_seq INTEGER NOT NULL,
            last_seq INTEGER,               -- NULL = not known
            cause TEXT NOT NULL,            -- as in ingest API 1
            after INTEGER,                  -- the missing records are later than this, where known
            before INTEGER,                 -- and earlier than this
            noted_at INTEGER NOT NULL,
            healed_at INTEGER,              -- when the records turned up after all
            sent INTEGER NOT NULL,          -- 1 = the server has this row as it is
            PRIMARY KEY (ring, first_seq)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX gaps_to_send ON gaps (ring) WHERE sent = 0;

        -- Bytes that could not be decoded, kept before they are acked.
        CREATE TABLE raw (
            id INTEGER PRIMARY KEY,
            ring INTEGER NOT NULL REFERENCES rings (id),
            seq INTEGER NOT NULL,           -- the first seq that they may stand for
            clock_id INTEGER,               -- NULL = not known
            reason TEXT NOT NULL,
            bytes BLOB NOT NULL,
            noted_at INTEGER NOT NULL,
            UNIQUE (ring, seq, bytes)
        ) STRICT;

        -- Samples that the server will not take.
        CREATE TABLE quarantine (
            key INTEGER PRIMARY KEY,        -- as in samples
            code TEXT NOT NULL,             -- as in ingest API 1
            message TEXT NOT NULL,
            held INTEGER NOT NULL,          -- 1 = for now (consent), 0 = for good and named in gaps
            noted_at INTEGER NOT NULL
        ) STRICT;

        -- Failed tries at the first missing seq of a ring. They outlive connections and restarts.
        CREATE TABLE attempts (
            ring INTEGER PRIMARY KEY,
            seq INTEGER NOT NULL,
            tries INTEGER NOT NULL,
            connections INTEGER NOT NULL,
            last_connection INTEGER NOT NULL,
            saw_unreadable INTEGER NOT NULL
        ) STRICT;

        CREATE TABLE problems (
            band INTEGER PRIMARY KEY,       -- bands.id; 0 = the gateway itself
            code TEXT NOT NULL,
            text TEXT NOT NULL,
            remedy TEXT NOT NULL,
            since INTEGER NOT NULL
        ) STRICT;
        """
    /// Times that can be trusted, and who wore the band.
    private static let migration2 = """
        ALTER TABLE clock_readings ADD COLUMN newest_seq INTEGER;  -- the band's newest record then; NULL = not known
        ALTER TABLE clock_readings ADD COLUMN newest_age INTEGER NOT NULL DEFAULT 0; -- ms between that look and the reading
        ALTER TABLE clock_readings ADD COLUMN host_trust INTEGER NOT NULL DEFAULT 1; -- see HostTrust
        ALTER TABLE clock_readings ADD COLUMN host_bound INTEGER NOT NULL DEFAULT 0; -- ms, error of the host's wall clock
        -- 1 = it and the one before it show that the clock does not keep time
        ALTER TABLE clock_readings ADD COLUMN contradicts INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX clock_readings_by_seq ON clock_readings (ring, newest_seq, id);

        -- What the host's wall clock was worth at a moment of a boot, where that was worth writing down.
        CREATE TABLE host_anchors (
            id INTEGER PRIMARY KEY,
            boot_id TEXT NOT NULL,
            monotonic INTEGER NOT NULL,     -- ms of CLOCK_BOOTTIME
            wall INTEGER NOT NULL,
            bound INTEGER NOT NULL          -- ms
        ) STRICT;
        CREATE INDEX host_anchors_by_boot ON host_anchors (boot_id, monotonic);
        CREATE INDEX clock_readings_by_boot ON clock_readings (boot_id, ring, id);

        -- What of a ring was timed by one clock_id.
        CREATE TABLE clock_spans (
            ring INTEGER NOT NULL REFERENCES rings (id),
            clock_id INTEGER NOT NULL,
            first_seq INTEGER NOT NULL,
            last_seq INTEGER NOT NULL,
            first_band_time INTEGER NOT NULL, -- the lowest and the highest band time
            last_band_time INTEGER NOT NULL,
            PRIMARY KEY (ring, clock_id)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO clock_spans SELECT key >> 40, clock_id, min(key >> 8 & 4294967295), max(key >> 8 & 4294967295),
            min(band_time), max(band_time) FROM samples GROUP BY 1, 2;

        -- For each UTC day the seqs between which all its samples lie. Samples have no index by time.
        CREATE TABLE days (
            ring INTEGER NOT NULL REFERENCES rings (id),
            day INTEGER NOT NULL,           -- since 1970-01-01, of recorded_at
            first_seq INTEGER NOT NULL,
            last_seq INTEGER NOT NULL,
            PRIMARY KEY (ring, day)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO days SELECT key >> 40, (recorded_at - (recorded_at % 86400000 + 86400000) % 86400000) / 86400000,
            min(key >> 8 & 4294967295), max(key >> 8 & 4294967295) FROM samples GROUP BY 1, 2;

        ALTER TABLE samples ADD COLUMN time_bound INTEGER;    -- ms; NULL = not known
        ALTER TABLE samples ADD COLUMN offset_source INTEGER; -- see OffsetSource; NULL = no offset
        ALTER TABLE samples ADD COLUMN person INTEGER;        -- see PersonColumn
        UPDATE samples SET time_bound = (SELECT bound FROM clock_readings r WHERE r.id = clock_reading)
            WHERE NOT time_uncertain;
        UPDATE samples SET offset_source = 0 WHERE tz_offset IS NOT NULL;
        ALTER TABLE samples DROP COLUMN clock_reading;
        CREATE INDEX samples_undecided ON samples (key) WHERE person = -1;
        ALTER TABLE conflicts ADD COLUMN time_bound INTEGER;
        ALTER TABLE conflicts ADD COLUMN offset_source INTEGER;
        ALTER TABLE conflicts ADD COLUMN person INTEGER;
        ALTER TABLE conflicts DROP COLUMN clock_reading;

        -- Seqs whose derived fields have to be derived again.
        CREATE TABLE stale (
            ring INTEGER NOT NULL,
            first_seq INTEGER NOT NULL,
            last_seq INTEGER NOT NULL,
            PRIMARY KEY (ring, first_seq)
        ) STRICT, WITHOUT ROWID;
        -- One range a ring, so that they are disjoint; too much of it costs a look.
        INSERT INTO stale SELECT ring, min(first_seq), max(last_seq) FROM uncertain GROUP BY ring;
        DROP TABLE uncertain;

        -- Seqs of samples whose time is so vague that it may touch a border far away: DerivedFields.isVague.
        CREATE TABLE vague (
            ring INTEGER NOT NULL,
            first_seq INTEGER NOT NULL,
            last_seq INTEGER NOT NULL,
            PRIMARY KEY (ring, first_seq)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO vague SELECT * FROM stale;

        -- Seqs that are not offered to the upload before the host's clock can be trusted.
        CREATE TABLE held (
            ring INTEGER NOT NULL,
            first_seq INTEGER NOT NULL,
            last_seq INTEGER NOT NULL,
            PRIMARY KEY (ring, first_seq)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE persons (
            id INTEGER PRIMARY KEY,
            person TEXT NOT NULL UNIQUE,    -- opaque id of the account
            name TEXT UNIQUE,               -- for people here; NULL = known from the server alone
            shares_name INTEGER NOT NULL,   -- 1 = the server gets the name
            sent INTEGER NOT NULL,          -- 1 = the server has this person as it is
            server_zones TEXT NOT NULL DEFAULT '' -- zones as the server last had them, a line each: ms and name
        ) STRICT;
        CREATE TABLE zone_stays (
            person INTEGER NOT NULL,        -- persons.id; 0 = this host
            from_time INTEGER NOT NULL,
            zone TEXT NOT NULL,             -- IANA name
            PRIMARY KEY (person, from_time)
        ) STRICT, WITHOUT ROWID;
        -- Disjoint for one band.
        CREATE TABLE assignments (
            band INTEGER NOT NULL REFERENCES bands (id),
            from_time INTEGER NOT NULL,
            to_time INTEGER,                -- exclusive; NULL = open
            person INTEGER NOT NULL REFERENCES persons (id),
            PRIMARY KEY (band, from_time)
        ) STRICT, WITHOUT ROWID;
        -- Assignments that were replaced or taken back: what they said of samples is no other gateway's word.
        CREATE TABLE withdrawn (
            id INTEGER PRIMARY KEY,
            band INTEGER NOT NULL REFERENCES bands (id),
            from_time INTEGER NOT NULL,
            to_time INTEGER,
            person INTEGER NOT NULL REFERENCES persons (id)
        ) STRICT;

        -- Seqs that the server knew when they were sent: another gateway may have said something else of them.
        CREATE TABLE contested (
            ring INTEGER NOT NULL,
            first_seq INTEGER NOT NULL,
            last_seq INTEGER NOT NULL,
            PRIMARY KEY (ring, first_seq)
        ) STRICT, WITHOUT ROWID;
        ALTER TABLE bands ADD COLUMN sent_report TEXT; -- the last status that was sent, JSON
        ALTER TABLE bands ADD COLUMN report TEXT;      -- the last status that the server took
        -- Looks at what another gateway said that are still to come, since one was last seen on the band.
        ALTER TABLE bands ADD COLUMN sweeps INTEGER NOT NULL DEFAULT 0;
        -- samples.key: what is older comes with the next look; 0 = from the top.
        ALTER TABLE bands ADD COLUMN swept INTEGER NOT NULL DEFAULT 0;
        """

    /// Who owns which band, as the server last said; all NULL = it has not said so. See LeaseTable.
    private static let migration3 = """
        ALTER TABLE bands ADD COLUMN lease_ours INTEGER;
        ALTER TABLE bands ADD COLUMN lease_holder TEXT;
        ALTER TABLE bands ADD COLUMN lease_until INTEGER;
        """

    /// What is no longer here, and why that is no gap or a gap of its own kind.
    private static let migrationStorage = """
        -- Seqs whose samples the server has and which were let go here for their age: they are known all the same.
        CREATE TABLE pruned (
            ring INTEGER NOT NULL,
            first_seq INTEGER NOT NULL,
            last_seq INTEGER NOT NULL,
            PRIMARY KEY (ring, first_seq)
        ) STRICT, WITHOUT ROWID;
        -- Seqs that a damaged database lost: if the band does not have them either, that is the cause of the gap.
        CREATE TABLE lost (
            ring INTEGER NOT NULL,
            first_seq INTEGER NOT NULL,
            last_seq INTEGER NOT NULL,
            PRIMARY KEY (ring, first_seq)
        ) STRICT, WITHOUT ROWID;
        """

    /// Bands that keep their records until the server has them, and bonds that give trouble.
    private static let migrationOwning = """
        ALTER TABLE bands ADD COLUMN ack TEXT NOT NULL DEFAULT 'stored'; -- see AckPolicy
        -- Every record up to here was confirmed, or is in gaps that the server has. Only of bands with ack = 'upload':
        -- what was confirmed once stays so while a better version of it waits to go up.
        ALTER TABLE rings ADD COLUMN confirmed_through INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE bands ADD COLUMN bond_trouble TEXT;                  -- see BondTrouble; NULL = none
        ALTER TABLE bands ADD COLUMN bond_tries INTEGER NOT NULL DEFAULT 0; -- in a row, with that trouble
        ALTER TABLE bands ADD COLUMN bond_rest_until INTEGER;            -- left alone until then
        """

    /// How long bands are left alone after failures, over a restart. See PauseTable.
    private static let migrationRadio = """
        CREATE TABLE band_pauses (
            band INTEGER PRIMARY KEY REFERENCES bands (id),
            failures INTEGER NOT NULL,      -- in a row
            pause INTEGER NOT NULL,         -- ms from the last of them to the next try
            failed_at INTEGER NOT NULL      -- by a wall clock that may have been stepped since
        ) STRICT;
        """
}
