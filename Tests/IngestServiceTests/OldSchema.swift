/// The tables of the first two versions of the SQLite store, which had a row for each sample.
enum OldSchema {
    static let migrations = [
        """
        CREATE TABLE accounts (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE
        ) STRICT;
        CREATE TABLE devices (
            id INTEGER PRIMARY KEY,
            account_id INTEGER NOT NULL REFERENCES accounts,
            name TEXT NOT NULL,
            max_version INTEGER NOT NULL DEFAULT 0,
            report TEXT,                        -- JSON, as the gateway put it
            lease_holder TEXT,
            lease_expires_ms INTEGER,           -- Unix milliseconds, like all *_ms
            UNIQUE (account_id, name)
        ) STRICT;
        CREATE TABLE persons (
            id INTEGER PRIMARY KEY,
            account_id INTEGER NOT NULL REFERENCES accounts,
            name TEXT NOT NULL,
            record TEXT,                        -- JSON; NULL = only named by samples so far
            UNIQUE (account_id, name)
        ) STRICT;
        CREATE TABLE rings (
            device_id INTEGER NOT NULL REFERENCES devices,
            ring INTEGER NOT NULL,              -- the eight hex digits as a number
            complete_through INTEGER,
            first_seen_ms INTEGER NOT NULL,
            PRIMARY KEY (device_id, ring)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE ring_types (
            device_id INTEGER NOT NULL,
            ring INTEGER NOT NULL,
            type INTEGER NOT NULL,
            max_seq INTEGER NOT NULL,
            keys INTEGER NOT NULL,              -- ever stored, whatever expires later
            PRIMARY KEY (device_id, ring, type)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE samples (
            device_id INTEGER NOT NULL REFERENCES devices,
            ring INTEGER NOT NULL,
            type INTEGER NOT NULL,              -- 1 heart_rate, 2 steps, 3 spo2, 4 sleep_stage
            seq INTEGER NOT NULL,
            value INTEGER NOT NULL,
            band_time_ms INTEGER NOT NULL,
            clock_id INTEGER NOT NULL,
            flags INTEGER NOT NULL,
            provenance INTEGER NOT NULL,        -- 0 unknown, 1 device, 2 user
            version INTEGER NOT NULL,
            recorded_at_ms INTEGER NOT NULL,
            tz_offset_min INTEGER,
            time_bound_ms INTEGER,
            time_uncertain INTEGER NOT NULL,
            person_id INTEGER REFERENCES persons,
            PRIMARY KEY (device_id, ring, type, seq)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX samples_by_time ON samples (device_id, recorded_at_ms, ring, seq, type);
        CREATE INDEX samples_by_person ON samples (person_id, recorded_at_ms) WHERE person_id IS NOT NULL;
        CREATE TABLE conflicts (                -- what differs from the first of its key in a raw field
            id INTEGER PRIMARY KEY,
            device_id INTEGER NOT NULL REFERENCES devices,
            ring INTEGER NOT NULL,
            type INTEGER NOT NULL,
            seq INTEGER NOT NULL,
            value INTEGER NOT NULL,
            band_time_ms INTEGER NOT NULL,
            clock_id INTEGER NOT NULL,
            flags INTEGER NOT NULL,
            provenance INTEGER NOT NULL,
            version INTEGER NOT NULL,
            recorded_at_ms INTEGER NOT NULL,
            tz_offset_min INTEGER,
            time_bound_ms INTEGER,
            time_uncertain INTEGER NOT NULL,
            person_id INTEGER REFERENCES persons,
            received_ms INTEGER NOT NULL,
            UNIQUE (device_id, ring, type, seq, value, band_time_ms, clock_id, flags)
        ) STRICT;
        CREATE TABLE gaps (
            device_id INTEGER NOT NULL REFERENCES devices,
            ring INTEGER NOT NULL,
            first_seq INTEGER NOT NULL,
            last_seq INTEGER,                   -- NULL = not known
            after_ms INTEGER,
            before_ms INTEGER,
            cause TEXT NOT NULL,
            healed_ms INTEGER,
            PRIMARY KEY (device_id, ring, first_seq)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE probe (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            written_ms INTEGER NOT NULL,
            padding BLOB                        -- as much as a full batch, while room for one is in doubt
        ) STRICT;
        """,
        """
        CREATE TABLE trend_days (               -- what the samples of a civil day come to
            device_id INTEGER NOT NULL REFERENCES devices,
            person_id INTEGER NOT NULL,         -- 0 = all samples of the device, whoever wore it
            type INTEGER NOT NULL,
            day INTEGER NOT NULL,               -- civil days since 1970-01-01
            floating INTEGER NOT NULL,          -- samples without an offset of their own: a zone may move them
            content TEXT NOT NULL,              -- numbers, see TrendCode
            frozen_ms INTEGER,                  -- NULL = the samples are all there, to compute it from again
            PRIMARY KEY (device_id, person_id, type, day)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE touched_days (             -- where trend_days is older than samples and gaps
            device_id INTEGER NOT NULL REFERENCES devices,
            person_id INTEGER NOT NULL,
            type INTEGER NOT NULL,
            day INTEGER NOT NULL,
            stamp INTEGER NOT NULL,             -- tells this touch from a later one of the same day
            PRIMARY KEY (device_id, person_id, type, day)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE person_devices (           -- whose samples a device ever had
            person_id INTEGER NOT NULL REFERENCES persons,
            device_id INTEGER NOT NULL REFERENCES devices,
            PRIMARY KEY (person_id, device_id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX person_devices_by_device ON person_devices (device_id, person_id);
        -- Offsets that samples of the device ever had, and 0: they bound the instants of a civil day.
        ALTER TABLE devices ADD COLUMN least_offset_min INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE devices ADD COLUMN greatest_offset_min INTEGER NOT NULL DEFAULT 0;
        INSERT INTO person_devices SELECT DISTINCT person_id, device_id FROM samples WHERE person_id IS NOT NULL;
        INSERT INTO touched_days
            WITH days AS (
                SELECT device_id, person_id, type,
                    recorded_at_ms + coalesce(tz_offset_min, 0) * 60000 AS local_ms
                FROM samples WHERE NOT time_uncertain AND (type <> 1 OR flags & 1)
            ), numbered AS (
                SELECT device_id, person_id, type,
                    (local_ms - (local_ms % 86400000 + 86400000) % 86400000) / 86400000 AS day
                FROM days
            )
            SELECT device_id, 0, type, day, 0 FROM numbered
            UNION SELECT device_id, person_id, type, day, 0 FROM numbered WHERE person_id IS NOT NULL;
        WITH offsets AS (
            SELECT device_id, min(tz_offset_min) AS least, max(tz_offset_min) AS greatest
            FROM samples WHERE tz_offset_min IS NOT NULL GROUP BY device_id
        )
        UPDATE devices SET least_offset_min = min(0, offsets.least), greatest_offset_min = max(0, offsets.greatest)
            FROM offsets WHERE offsets.device_id = devices.id;
        """,
    ]
}
