-- What bandferry-ingest keeps. Times are Unix milliseconds (*_ms), days are civil days since 1970-01-01.
-- Text is compared byte by byte: the order of names is the same everywhere.

-- Small tables of accounts. They can be copied to every node (reference tables of Citus), or spread by account.
CREATE TABLE accounts (
    account TEXT COLLATE "C" PRIMARY KEY,
    created_ms BIGINT NOT NULL
);
CREATE TABLE tokens (
    digest BYTEA PRIMARY KEY,                   -- SHA-256 of the token, which is kept nowhere
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    account TEXT COLLATE "C" NOT NULL REFERENCES accounts,
    role TEXT NOT NULL,                         -- gateway or read
    label TEXT,
    created_ms BIGINT NOT NULL,
    revoked_ms BIGINT
);
CREATE INDEX tokens_by_account ON tokens (account);
CREATE TABLE persons (
    account TEXT COLLATE "C" NOT NULL,
    person TEXT COLLATE "C" NOT NULL,
    record TEXT,                                -- JSON; NULL = only named by samples so far
    PRIMARY KEY (account, person)
);
CREATE TABLE account_devices (
    account TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    device_id BYTEA NOT NULL,
    PRIMARY KEY (account, name)
);
CREATE TABLE person_devices (                   -- whose samples a device ever had
    account TEXT COLLATE "C" NOT NULL,
    person TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    device_id BYTEA NOT NULL,
    PRIMARY KEY (account, person, name)
);
CREATE TABLE probe (
    id BIGINT PRIMARY KEY CHECK (id = 1),
    written_ms BIGINT NOT NULL,
    padding BYTEA                               -- as much as a full batch, while room for one is in doubt
);

-- Everything of a device. Every statement names one device_id, so these can be spread over nodes by it.
CREATE TABLE devices (
    device_id BYTEA PRIMARY KEY,                -- 16 bytes of SHA-256(account, 0, name)
    account TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    max_version BIGINT NOT NULL DEFAULT 0,
    least_offset_min BIGINT NOT NULL DEFAULT 0, -- offsets that its samples ever had, and 0
    greatest_offset_min BIGINT NOT NULL DEFAULT 0,
    persons TEXT NOT NULL DEFAULT '',           -- whoever ever wore it, one a line
    touched TEXT NOT NULL DEFAULT '',           -- type, first and last day where trend_days is older than samples
    touches BIGINT NOT NULL DEFAULT 0,          -- rises with each change of touched
    frozen_through BIGINT,                      -- up to this day trend_days stays as it is: samples may be gone
    expired_first_ms BIGINT,
    report TEXT,                                -- JSON, as the gateway put it
    lease_holder TEXT,
    lease_expires_ms BIGINT
) WITH (fillfactor = 70);
CREATE TABLE rings (
    device_id BYTEA NOT NULL,
    ring BIGINT NOT NULL,                       -- the eight hex digits as a number
    complete_through BIGINT,
    first_seen_ms BIGINT NOT NULL,
    types TEXT NOT NULL,                        -- type, highest seq and keys ever stored, of each type
    PRIMARY KEY (device_id, ring)
) WITH (fillfactor = 70);
CREATE TABLE chunks (                           -- samples, packed; chunks of a ring do not overlap
    device_id BYTEA NOT NULL,
    ring BIGINT NOT NULL,
    first_seq BIGINT NOT NULL,
    last_seq BIGINT NOT NULL,
    samples BIGINT NOT NULL,
    first_ms BIGINT NOT NULL,                   -- of recorded_at
    last_ms BIGINT NOT NULL,
    received_ms BIGINT NOT NULL,                -- the last change
    content BYTEA NOT NULL,
    PRIMARY KEY (device_id, ring, first_seq)
) WITH (toast_tuple_target = 8160);
-- Packed already: to try again would cost time for nothing.
ALTER TABLE chunks ALTER COLUMN content SET STORAGE EXTERNAL;
CREATE INDEX chunks_by_time ON chunks (device_id, last_ms);
CREATE TABLE expired_keys (                     -- keys whose samples are gone: what comes again is not new
    device_id BYTEA NOT NULL,
    ring BIGINT NOT NULL,
    first_seq BIGINT NOT NULL,
    last_seq BIGINT NOT NULL,
    keys BYTEA NOT NULL,
    PRIMARY KEY (device_id, ring, first_seq)
);
CREATE TABLE conflicts (                        -- what differs from the first of its key in what the band gave
    device_id BYTEA NOT NULL,
    ring BIGINT NOT NULL,
    type BIGINT NOT NULL,                       -- 1 heart_rate, 2 steps, 3 spo2, 4 sleep_stage
    seq BIGINT NOT NULL,
    value BIGINT NOT NULL,
    band_time_ms BIGINT NOT NULL,
    clock_id BIGINT NOT NULL,
    flags BIGINT NOT NULL,
    received_ms BIGINT NOT NULL,
    sample BYTEA NOT NULL,                      -- the whole sample, packed as a chunk of one
    PRIMARY KEY (device_id, ring, type, seq, value, band_time_ms, clock_id, flags)
);
CREATE TABLE gaps (
    device_id BYTEA NOT NULL,
    ring BIGINT NOT NULL,
    first_seq BIGINT NOT NULL,
    last_seq BIGINT,                            -- NULL = not known
    after_ms BIGINT,
    before_ms BIGINT,
    cause TEXT NOT NULL,
    healed_ms BIGINT,
    PRIMARY KEY (device_id, ring, first_seq)
);
CREATE TABLE trend_days (                       -- what the samples of a civil day come to
    device_id BYTEA NOT NULL,
    person TEXT COLLATE "C" NOT NULL,           -- '' = all samples of the device, whoever wore it
    type BIGINT NOT NULL,
    day BIGINT NOT NULL,
    floating BIGINT NOT NULL,                   -- samples without an offset of their own: a zone may move them
    content TEXT NOT NULL,                      -- numbers
    PRIMARY KEY (device_id, person, type, day)
);
