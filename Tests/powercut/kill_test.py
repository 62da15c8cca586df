#!/usr/bin/env python3
"""Kills a process that commits through powercut.so, again and again.

    kill_test.py LIBRARY DIRECTORY FULL|OFF

Exits with 0 when no commit that the process told of was lost, with 3 when one was, with 1 when nothing was shown.
"""
import os
import signal
import sqlite3
import subprocess
import sys

ROUNDS = 12


def commit_for_ever(path):
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    if int(database.execute("PRAGMA synchronous").fetchone()[0]) != 2:
        sys.exit("synchronous does not read back as FULL")
    database.execute("CREATE TABLE IF NOT EXISTS t (n INTEGER PRIMARY KEY, text TEXT)")
    number = database.execute("SELECT coalesce(max(n), 0) FROM t").fetchone()[0]
    while True:
        number += 1
        database.execute("INSERT INTO t VALUES (?, ?)", (number, "x" * 300))
        print(number, flush=True)
        if number % 7 == 0:
            database.execute("PRAGMA wal_checkpoint(PASSIVE)")


def kept(path):
    try:
        with sqlite3.connect(path) as database:
            if database.execute("PRAGMA integrity_check").fetchone()[0] != "ok":
                return 0
            return database.execute("SELECT coalesce(max(n), 0) FROM t").fetchone()[0]
    except sqlite3.Error:
        return 0


def main(library, directory, synchronous):
    told_of = 0
    for seed in range(ROUNDS):
        path = os.path.join(directory, f"{synchronous}.db")
        environment = dict(
            os.environ, LD_PRELOAD=library, POWERCUT_MATCH=directory, POWERCUT_SEED=str(seed),
            POWERCUT_SYNCHRONOUS=synchronous)
        child = subprocess.Popen(
            [sys.executable, __file__, "child", path], env=environment, stdout=subprocess.PIPE, text=True)
        # A number of commits, not a time: the same on a slow machine.
        for _ in range(5 + seed * 3):
            line = child.stdout.readline()
            if not line:
                sys.exit("the process ended by itself")
            told_of = int(line)
        child.send_signal(signal.SIGKILL)
        for line in child.stdout:
            if line.endswith("\n"):
                told_of = int(line)
        child.wait()
        have = kept(path)
        if have < told_of:
            print(f"seed {seed}: {told_of} commits were told of, {have} are there")
            return 3
    print(f"{ROUNDS} kills, {told_of} commits, none lost")
    return 0 if told_of >= ROUNDS else 1


if __name__ == "__main__":
    if sys.argv[1] == "child":
        commit_for_ever(sys.argv[2])
    sys.exit(main(*sys.argv[1:4]))
