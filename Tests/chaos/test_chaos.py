"""Two gateways on one band, two servers on one PostgreSQL, a network that loses, doubles and reorders, and everything killed at random
moments: at the end all sides are equal row by row.

SEEDS (4), FIRST (1), MINUTES (2.5) and WORKERS (2) say how many lives, which, until when one may begin, and how many at a time.
"""

import concurrent.futures
import os
import pathlib
import subprocess
import tempfile
import time
import unittest

from nodes import HERE
from world import World


def number(name, usual):
    return type(usual)(os.environ.get(name) or usual)


class Lives(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory(prefix="bandferry-chaos.")
        cls.addClassCleanup(cls.directory.cleanup)
        cls.wallclock = pathlib.Path(cls.directory.name) / "wallclock.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", str(cls.wallclock), str(HERE.parent / "lab" / "wallclock.c")], check=True)

    def test_all_sides_end_equal(self):
        first, seeds = number("FIRST", 1), number("SEEDS", 4)
        end = time.monotonic() + 60 * number("MINUTES", 2.5)
        with concurrent.futures.ThreadPoolExecutor(number("WORKERS", 2)) as pool:
            problems = list(pool.map(lambda seed: self.live(seed, end), range(first, first + seeds)))
        self.assertEqual([first + index for index, found in enumerate(problems) if found], [], "seeds with problems")
        self.assertIn([], problems, "there was no time for any life")

    def test_a_server_that_lies_is_found_out(self):
        """What it answered and did not store is missing at the end, and the judge of the lives above says so."""
        world = World(number("FIRST", 1), self.wallclock, lies=True)
        problems = world.run()
        print(f"    {world.describe()}", flush=True)
        self.assertRegex("\n".join(problems), "neither on the server nor named in a gap|has it, and not the server")

    def live(self, seed, end):
        """What was wrong; None when there was no time for it."""
        began = time.monotonic()
        if began > end:
            print(f"    seed {seed}: no time for it", flush=True)
            return None
        world = World(seed, self.wallclock)
        problems = world.run()
        print(f"    {'FAILED' if problems else 'ok'} {world.describe()} ({time.monotonic() - began:.0f} s)", flush=True)
        for problem in problems:
            print("        " + problem.replace("\n", "\n        "), flush=True)
        return problems


if __name__ == "__main__":
    unittest.main()
