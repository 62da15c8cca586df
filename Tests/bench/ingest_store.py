"""Stores of `make bench-ingest`: databases that know many devices and have as many samples of them as wanted.

A store is filled without sending each sample: the server takes the uploads of the first 64 devices, one of each life
(ingest_life.h), and computes their trends; rows of the others are copies of theirs with another device id and ring.
Chunks hold neither, so they are what the server itself would have written.
"""

import hashlib
import sqlite3
import time

LIVES = 64
ACCOUNT = "account"
# Of ingest_load.c.
NAME_DIGITS = 12
RING_FACTOR = 7919
# Columns that say which device it is; the others are as those of the device that is copied.
KEYS = ("device_id", "account", "name")


class Store:
    """`next` is the number of the next upload that it has not seen, `uploads` how many it has."""

    label = ""

    def __init__(self, machine):
        self.machine = machine
        self.next = self.uploads = 0

    def wait_for_trends(self):
        while self.touched():
            time.sleep(0.2)

    def make(self, devices, uploads):
        """Tables, and devices that have so many uploads each."""
        assert devices > LIVES, "fewer devices than lives"
        if uploads:
            # The server remembers which trends are due, so it goes on until they are computed.
            self.machine.run_load(
                self, "--uploads", LIVES * uploads, devices=LIVES, afterwards=self.wait_for_trends)
        else:
            self.machine.run_load(self, "--uploads", 0)  # makes the tables
        self.copy(devices, LIVES if uploads else 0)
        self.next = self.uploads = devices * uploads


class PostgreSQLStore(Store):
    label = "PostgreSQL"

    def __init__(self, machine):
        super().__init__(machine)
        self.name = machine.name()
        self.uri = machine.postgresql.database(self.name)

    def query(self, sql):
        return self.machine.postgresql.query(self.name, sql)

    def close(self):
        self.machine.postgresql.query("postgres", f'DROP DATABASE "{self.name}" WITH (FORCE)')

    def touched(self):
        return int(self.query("SELECT count(*) FROM devices WHERE touched <> ''")[0][0])

    def days(self):
        """Bytes of stored trends, and the days of devices that they are of."""
        self.query("VACUUM FULL trend_days")
        return tuple(map(int, self.query("SELECT pg_total_relation_size('trend_days'), (SELECT count(*) FROM "
                                         "(SELECT DISTINCT device_id, day FROM trend_days) AS days)")[0]))

    def copy(self, devices, templates):
        number = f"n.number % {LIVES}" if templates else "NULL"
        known, days = self.columns("devices"), self.columns("trend_days")
        self.query(f"""
            SET synchronous_commit = off;
            CREATE TEMPORARY TABLE copies AS
                SELECT number, name, {ring_sql('number')} AS ring,
                    substr(sha256(convert_to('{ACCOUNT}', 'UTF8') || '\\x00'::bytea || convert_to(name, 'UTF8')), 1, 16) AS id
                FROM (SELECT number, 'band_' || lpad(upper(to_hex(number)), {NAME_DIGITS}, '0') AS name
                    FROM generate_series(0, {devices - 1}) AS number) AS numbers;
            CREATE UNIQUE INDEX ON copies (number);
            CREATE TEMPORARY TABLE pairs AS
                SELECT n.number, n.name, n.id, n.ring, t.id AS of_id
                FROM copies n LEFT JOIN copies t ON t.number = {number} WHERE n.number >= {templates};
            ANALYZE pairs;
            INSERT INTO account_devices SELECT '{ACCOUNT}', name, id FROM pairs;
            INSERT INTO devices (device_id, account, name) SELECT id, '{ACCOUNT}', name FROM pairs WHERE of_id IS NULL;
            INSERT INTO devices (device_id, account, name, {known})
                SELECT id, '{ACCOUNT}', p.name, {known} FROM pairs p JOIN devices d ON d.device_id = p.of_id;
            INSERT INTO person_devices SELECT d.account, d.person, p.name, p.id
                FROM pairs p JOIN person_devices d ON d.device_id = p.of_id;
            INSERT INTO rings SELECT p.id, p.ring, r.complete_through, r.first_seen_ms, r.types
                FROM pairs p JOIN rings r ON r.device_id = p.of_id;
            INSERT INTO chunks SELECT p.id, p.ring, c.first_seq, c.last_seq, c.samples, c.first_ms, c.last_ms, c.received_ms,
                    c.content FROM pairs p JOIN chunks c ON c.device_id = p.of_id;
            INSERT INTO trend_days (device_id, {days})
                SELECT p.id, {days} FROM pairs p JOIN trend_days t ON t.device_id = p.of_id;
            """)
        self.query("VACUUM ANALYZE")

    def columns(self, table):
        rows = self.query(f"SELECT column_name FROM information_schema.columns WHERE table_name = '{table}'")
        return ", ".join(name for name, in rows if name not in KEYS)

    def sizes(self):
        """Bytes of each table with its indexes, the largest first; small ones together."""
        self.query("VACUUM")
        rows = self.query("SELECT relname, pg_total_relation_size(oid) FROM pg_class WHERE relkind = 'r' AND "
                          "relnamespace = 'public'::regnamespace ORDER BY 2 DESC")
        sizes = {name: int(size) for name, size in rows}
        large = dict(list(sizes.items())[:4])
        return {**large, "others": sum(sizes.values()) - sum(large.values())}


class SQLiteStore(Store):
    label = "SQLite"

    def __init__(self, machine):
        super().__init__(machine)
        self.path = machine.directory / f"{machine.name()}.sqlite"
        self.uri = f"sqlite:{self.path}"

    def close(self):
        for suffix in ("", "-wal", "-shm"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)

    def ask(self, sql):
        database = sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)
        try:
            return database.execute(sql).fetchone()
        finally:
            database.close()

    def touched(self):
        return self.ask("SELECT count(*) FROM devices WHERE touched <> ''")[0]

    def days(self):
        """Bytes of stored trends, and the days of devices that they are of."""
        return (self.ask("SELECT sum(pgsize) FROM dbstat WHERE name IN ('trend_days', 'sqlite_autoindex_trend_days_1')")[0],
                self.ask("SELECT count(*) FROM (SELECT DISTINCT device_id, day FROM trend_days)")[0])

    def copy(self, devices, templates):
        database = sqlite3.connect(self.path, isolation_level=None)
        # What is lost at a power cut is not what is measured.
        database.execute("PRAGMA synchronous = OFF")
        database.execute("PRAGMA cache_size = -1000000")
        known, days = (
            ", ".join(name for _, name, *_ in database.execute(f"PRAGMA table_info({table})") if name not in KEYS)
            for table in ("devices", "trend_days"))
        database.execute("BEGIN")
        for number in range(templates, devices):
            name = f"band_{number:0{NAME_DIGITS}X}"
            key, of = device_id(name), device_id(f"band_{number % LIVES:0{NAME_DIGITS}X}")
            ring = number * RING_FACTOR & 0xffffffff
            database.execute("INSERT INTO account_devices VALUES (?, ?, ?)", (ACCOUNT, name, key))
            if not templates:
                database.execute("INSERT INTO devices (device_id, account, name) VALUES (?, ?, ?)", (key, ACCOUNT, name))
                continue
            database.execute(f"INSERT INTO devices (device_id, account, name, {known}) SELECT ?, account, ?, {known} "
                             "FROM devices WHERE device_id = ?", (key, name, of))
            for table, columns in [
                    ("rings", "complete_through, first_seen_ms, types"),
                    ("chunks", "first_seq, last_seq, samples, first_ms, last_ms, received_ms, content")]:
                database.execute(f"INSERT INTO {table} (device_id, ring, {columns}) SELECT ?, ?, {columns} FROM {table} "
                                 "WHERE device_id = ?", (key, ring, of))
            database.execute(f"INSERT INTO trend_days (device_id, {days}) SELECT ?, {days} FROM trend_days "
                             "WHERE device_id = ?", (key, of))
            database.execute("INSERT INTO person_devices SELECT account, person, ?, ? FROM person_devices WHERE name = ? AND "
                             "account = ?", (name, key, f"band_{number % LIVES:0{NAME_DIGITS}X}", ACCOUNT))
        database.execute("COMMIT")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.close()

    def sizes(self):
        return {"the file": self.path.stat().st_size}


def device_id(name):
    return hashlib.sha256(f"{ACCOUNT}\0{name}".encode()).digest()[:16]


def ring_sql(number):
    return f"({number}::bigint * {RING_FACTOR} & 4294967295)"
