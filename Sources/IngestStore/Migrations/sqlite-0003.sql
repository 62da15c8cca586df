-- What bandferry-ingest keeps. Times are Unix milliseconds (*_ms), days are civil days since 1970-01-01.

-- Small tables of accounts.
CREATE TABLE accounts (
    account TEXT PRIMARY KEY,
    created_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE tokens (
    digest BLOB PRIMARY KEY,                   -- SHA-256 of the token, which is kept nowhere
    id TEXT NOT NULL UNIQUE,
    account TEXT NOT NULL REFERENCES accounts,
    role TEXT NOT NULL,                         -- gateway or read
    label TEXT,
    created_ms INTEGER NOT NULL,
    revoked_ms INTEGER
) STRICT;
CREATE INDEX tokens_by_account ON tokens (account);
CREATE TABLE persons (
    account TEXT NOT NULL,
    person TEXT NOT NULL,
    record TEXT,                                -- JSON; NULL = only named by samples so far
    PRIMARY KEY (account, person)
) STRICT;
CREATE TABLE account_devices (
    account TEXT NOT NULL,
    name TEXT NOT NULL,
    device_id BLOB NOT NULL,
    PRIMARY KEY (account, name)
) STRICT;
CREATE TABLE person_devices (                   -- whose samples a device ever had
    account TEXT NOT NULL,
    person TEXT NOT NULL,
    name TEXT NOT NULL,
    device_id BLOB NOT NULL,
    PRIMARY KEY (account, person, name)
) STRICT;
CREATE TABLE probe (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    written_ms INTEGER NOT NULL,
    padding BLOB                               -- as much as a full batch, while room for one is in doubt
) STRICT;

-- Everything of a device.
CREATE TABLE devices (
    device_id BLOB PRIMARY KEY,                -- 16 bytes of SHA-256(account, 0, name)
    account TEXT NOT NULL,
    name TEXT NOT NULL,
    max_version INTEGER NOT NULL DEFAULT 0,
    least_offset_min INTEGER NOT NULL DEFAULT 0, -- offsets that its samples ever had, and 0
    greatest_offset_min INTEGER NOT NULL DEFAULT 0,
    persons TEXT NOT NULL DEFAULT '',           -- whoever ever wore it, one a line
    touched TEXT NOT NULL DEFAULT '',           -- type, first and last day where trend_days is older than samples
    touches INTEGER NOT NULL DEFAULT 0,          -- rises with each change of touched
    frozen_through INTEGER,                      -- up to this day trend_days stays as it is: samples may be gone
    expired_first_ms INTEGER,
    report TEXT,                                -- JSON, as the gateway put it
    lease_holder TEXT,
    lease_expires_ms INTEGER
) STRICT;
CREATE TABLE rings (
    device_id BLOB NOT NULL,
    ring INTEGER NOT NULL,                       -- the eight hex digits as a number
    complete_through INTEGER,
    first_seen_ms INTEGER NOT NULL,
    types TEXT NOT NULL,                        -- type, highest seq and keys ever stored, of each type
    PRIMARY KEY (device_id, ring)
) STRICT;
CREATE TABLE chunks (                           -- samples, packed; chunks of a ring do not overlap
    device_id BLOB NOT NULL,
    ring INTEGER NOT NULL,
    first_seq INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    samples INTEGER NOT NULL,
    first_ms INTEGER NOT NULL,                   -- of recorded_at
    last_ms INTEGER NOT NULL,
    received_ms INTEGER NOT NULL,                -- the last change
    content BLOB NOT NULL,
    PRIMARY KEY (device_id, ring, first_seq)
) STRICT;
CREATE INDEX chunks_by_time ON chunks (device_id, last_ms);
CREATE TABLE expired_keys (                     -- keys whose samples are gone: what comes again is not new
    device_id BLOB NOT NULL,
    ring INTEGER NOT NULL,
    first_seq INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    keys BLOB NOT NULL,
    PRIMARY KEY (device_id, ring, first_seq)
) STRICT;
CREATE TABLE conflicts (                        -- what differs from the first of its key in what the band gave
    device_id BLOB NOT NULL,
    ring INTEGER NOT NULL,
    type INTEGER NOT NULL,                       -- 1 heart_rate, 2 steps, 3 spo2, 4 sleep_stage
    seq INTEGER NOT NULL,
    value INTEGER NOT NULL,
    band_time_ms INTEGER NOT NULL,
    clock_id INTEGER NOT NULL,
    flags INTEGER NOT NULL,
    received_ms INTEGER NOT NULL,
    sample BLOB NOT NULL,                      -- the whole sample, packed as a chunk of one
    PRIMARY KEY (device_id, ring, type, seq, value, band_time_ms, clock_id, flags)
) STRICT;
CREATE TABLE gaps (
    device_id BLOB NOT NULL,
    ring INTEGER NOT NULL,
    first_seq INTEGER NOT NULL,
    last_seq INTEGER,                            -- NULL = not known
    after_ms INTEGER,
    before_ms INTEGER,
    cause TEXT NOT NULL,
    healed_ms INTEGER,
    PRIMARY KEY (device_id, ring, first_seq)
) STRICT;
CREATE TABLE trend_days (                       -- what the samples of a civil day come to
    device_id BLOB NOT NULL,
    person TEXT NOT NULL,           -- '' = all samples of the device, whoever wore it
    type INTEGER NOT NULL,
    day INTEGER NOT NULL,
    floating INTEGER NOT NULL,                   -- samples without an offset of their own: a zone may move them
    content TEXT NOT NULL,                      -- numbers
    PRIMARY KEY (device_id, person, type, day)
) STRICT;
