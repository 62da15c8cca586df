"""Compares what the bands recorded with what the server holds: each record once, or a gap that names it."""

import collections
import pathlib
import shutil
import sqlite3
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lab"))
import serverstore

TYPES = {1: "heart_rate", 2: "steps", 3: "spo2", 4: "sleep_stage"}


class Server:
    """The server's database, read after it has ended."""

    SAMPLES = """SELECT name, ring, type, seq, value, band_time_ms, clock_id, flags, tz_offset_min FROM {} AS s
        JOIN devices AS d ON d.id = s.device_id"""

    def __init__(self, path):
        tables = serverstore.connect(path)
        self.samples = {}
        for device, ring, kind, seq, *given in tables.execute(self.SAMPLES.format("samples")):
            self.samples[(device, f"{ring:08x}", TYPES[kind], seq)] = tuple(given)
        self.conflicts = collections.defaultdict(set)
        for device, ring, kind, seq, *given in tables.execute(self.SAMPLES.format("conflicts")):
            self.conflicts[(device, f"{ring:08x}", TYPES[kind], seq)].add(tuple(given[:4]))
        self.gaps = collections.defaultdict(list)
        for device, ring, first, last, cause, healed in tables.execute(
                "SELECT name, ring, first_seq, last_seq, cause, healed_ms FROM gaps AS g "
                "JOIN devices AS d ON d.id = g.device_id"):
            if healed is None:
                self.gaps[(device, f"{ring:08x}")].append((first, last if last is not None else 2**32, cause))
        tables.close()

    def cause(self, device, ring, seq):
        for first, last, cause in self.gaps[(device, ring)]:
            if first <= seq <= last:
                return cause
        return None


def check(truth, server, device_id, allowed_causes):
    """Sentences about what is wrong; none = every record is on the server once, or named."""
    problems = []
    losses = [line for line in truth if line["kind"] == "loss"]
    known = collections.defaultdict(set)

    def rolled_back(record):
        return any(
            loss["cause"] == "rolled_back" and loss["band"] == record["band"] and loss["ring"] == record["ring"]
            and loss["generation"] == record["generation"]
            and loss["first_seq"] <= record["seq"] <= loss["last_seq"] for loss in losses)

    for record in truth:
        if record["kind"] != "record":
            continue
        device = device_id(record["band"])
        where = f"{device} ring {record['ring']} seq {record['seq']}"
        cause = server.cause(device, record["ring"], record["seq"])
        if record["fault"] is not None:
            # Lost on the way like any other record, or kept raw and named.
            if cause not in {"unreadable", *allowed_causes} and not rolled_back(record):
                problems.append(f"{where}: its content is faulty ({record['fault']}) and no gap names it")
            continue
        key = (device, record["ring"], record["type"], record["seq"])
        given = (record["value"], record["band_time_ms"], record["clock_id"], record["flags"])
        known[key].add(given)
        stored = server.samples.get(key)
        is_current = stored is not None and stored[:4] == given
        if is_current and stored[4] != record["tz_offset_min"]:
            problems.append(f"{where}: another UTC offset than recorded")
        if is_current or given in server.conflicts[key]:
            continue
        if cause is None:
            # What the band took back before it was ever sent can't be known to anybody.
            if not rolled_back(record):
                problems.append(f"{where}: neither stored nor named")
        elif cause not in allowed_causes:
            problems.append(f"{where}: named {cause}, which did not happen")
    for key, given in server.samples.items():
        if given[:4] not in known[key]:
            problems.append(f"{key}: on the server, but never recorded")
    return problems


def acks_ahead(acks, database):
    """Acks of a killed gateway that its database does not bear out.

    Reads a copy: opening the database itself would recover its log, which is for the daemon to do.
    """
    with tempfile.TemporaryDirectory(prefix="bandferry-ledger.") as directory:
        copy = f"{directory}/gateway.db"
        try:
            shutil.copy(database, copy)
        except FileNotFoundError:
            return [f"ack {line['seq']} honoured, and there is no database" for line in acks
                    if line["outcome"] == "honoured" and line["freed"] > 0]
        try:
            shutil.copy(f"{database}-wal", f"{copy}-wal")
        except FileNotFoundError:
            pass
        connection = sqlite3.connect(copy)
        try:
            rings = {f"{ring:08x}": next_seq for ring, next_seq, rolled in connection.execute(
                "SELECT ring, next_seq, rolled_back_at FROM rings")}
            rewound = {f"{ring:08x}" for ring, in connection.execute(
                "SELECT ring FROM rings WHERE rolled_back_at IS NOT NULL")}
        except sqlite3.DatabaseError as error:
            if not any(line["freed"] for line in acks):
                return []
            return [f"acks were honoured, and the database says: {error}"]
        finally:
            connection.close()
    highest = {}
    for line in acks:
        if line["outcome"] == "honoured" and line["freed"] > 0:
            highest[line["ring"]] = max(highest.get(line["ring"], 0), line["seq"])
    return [f"ring {ring}: acked through {seq}, durable through {rings.get(ring, 1) - 1}"
            for ring, seq in highest.items() if ring not in rewound and seq >= rings.get(ring, 1)]
