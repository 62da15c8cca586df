"""Reads the SQLite store of bandferry-ingest as tables with a row for each sample, written by nothing of its code.

The packed form is described in docs/decisions and in Sources/SampleChunks: fields one after the other, each as the differences of
neighbours, plain or in runs, as zigzag varints.
"""

import sqlite3

NO_OFFSET = 1 << 15
FIELDS = ("type", "seq", "value", "band_time_ms", "clock_id", "flags", "provenance", "version", "recorded_at_ms", "tz_offset_min",
          "time_bound_ms", "time_uncertain", "person")


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7f) << shift
            if byte < 0x80:
                return value
            shift += 7

    def signed(self):
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def text(self):
        length = self.varint()
        self.at += length
        return self.data[self.at - length:self.at].decode()

    def column(self, count):
        values, last, runs = [], 0, self.byte()
        while len(values) < count:
            difference = self.signed()
            for _ in range(self.varint() if runs else 1):
                last = (last + difference + 2**63) % 2**64 - 2**63
                values.append(last)
        return values


def samples(content):
    """The samples of a chunk as tuples in the order of FIELDS."""
    data = Bytes(content)
    assert data.byte() == 1, "a chunk of another version"
    count = data.varint()
    persons = [None] + [data.text() for _ in range(data.varint())]
    columns = [data.column(count) for _ in FIELDS]
    assert data.at == len(content), "a chunk goes on after its end"
    for row in zip(*columns):
        row = dict(zip(FIELDS, row))
        row["recorded_at_ms"] += row["band_time_ms"]
        row["tz_offset_min"] = None if row["tz_offset_min"] == NO_OFFSET else row["tz_offset_min"]
        row["time_bound_ms"] = None if row["time_bound_ms"] < 0 else row["time_bound_ms"]
        row["person"] = persons[row["person"]]
        yield tuple(row[field] for field in FIELDS)


def connect(path):
    """A database in memory with `devices` (id, name), `samples`, `conflicts` and `gaps` as they are now."""
    store = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=30)
    tables = sqlite3.connect(":memory:")
    columns = ", ".join(("device_id", "ring", *FIELDS))
    marks = ", ".join("?" * (len(FIELDS) + 2))
    tables.execute("CREATE TABLE devices (id, name)")
    tables.execute("CREATE TABLE gaps (device_id, ring, first_seq, last_seq, after_ms, before_ms, cause, healed_ms)")
    try:
        store.execute("BEGIN")
        tables.executemany("INSERT INTO devices VALUES (?, ?)", store.execute("SELECT device_id, name FROM devices"))
        tables.executemany("INSERT INTO gaps VALUES (?, ?, ?, ?, ?, ?, ?, ?)", store.execute("SELECT * FROM gaps"))
        for table, source in (("samples", "SELECT device_id, ring, content FROM chunks"),
                              ("conflicts", "SELECT device_id, ring, sample FROM conflicts")):
            tables.execute(f"CREATE TABLE {table} ({columns})")
            for device, ring, content in store.execute(source):
                tables.executemany(f"INSERT INTO {table} VALUES ({marks})", ((device, ring, *row) for row in samples(content)))
    finally:
        store.close()
    return tables
