"""DAYS (2), BANDS (8) and SEED (1) say how long, how many, and which faults come when. Thirty days are run by `make soak`."""

import os
import pathlib
import statistics
import tempfile
import time
import unittest

from world import World


def number(name, usual):
    return int(os.environ.get(name) or usual)


# So much more is noise: an allocator's, a pool's thread that comes and goes, a connection that is just open.
NOISE = {"memory, KiB": 3 * 1024, "threads": 3, "descriptors": 4, "match rules": 0}


class Soak(unittest.TestCase):
    def test_weeks_of_faults_lose_nothing_and_gather_nothing(self):
        directory = tempfile.TemporaryDirectory(prefix="bandferry-soak.")
        self.addCleanup(directory.cleanup)
        days, bands, seed = number("DAYS", 2), number("BANDS", 8), number("SEED", 1)
        world = World(pathlib.Path(directory.name), days, bands, seed)
        self.addCleanup(world.stack.close)
        began = time.monotonic()
        world.run()
        took = time.monotonic() - began
        # The first and the last third of the process that nobody killed.
        third = max(1, len(world.measures) // 3)
        first, last = world.measures[:third], world.measures[-third:]
        report = [f"{days} days of {bands} bands, seed {seed}: {took:.0f} s, {world.deeds}"]
        grown = {}
        for name, noise in NOISE.items():
            before, after = (statistics.median(measure[name] for measure in some) for some in (first, last))
            report.append(f"{name}: {before:.0f}, at the end {after:.0f}")
            if after > before + noise:
                grown[name] = (before, after)
        found = world.problems()
        print("".join(f"    {line}\n" for line in report), end="", flush=True)
        self.assertEqual(found[:5], [], f"{len(found)} problems")
        self.assertEqual(grown, {})
        self.assertLess(world.deeds["failed syncs"], world.deeds["syncs"], "no sync ended well")


if __name__ == "__main__":
    unittest.main()
