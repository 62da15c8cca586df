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
    def test_all_sides_end_equal(self):
        with tempfile.TemporaryDirectory(prefix="bandferry-chaos.") as directory:
            wallclock = pathlib.Path(directory) / "wallclock.so"
            subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", str(wallclock), str(HERE.parent / "lab" / "wallclock.c")], check=True)
            first, seeds = number("FIRST", 1), number("SEEDS", 4)
            self.end = time.monotonic() + 60 * number("MINUTES", 2.5)
            with concurrent.futures.ThreadPoolExecutor(number("WORKERS", 2)) as pool:
                failed = [text for text in pool.map(lambda seed: self.live(seed, wallclock), range(first, first + seeds)) if text]
        self.assertEqual(failed, [])

    def live(self, seed, wallclock):
        """The seed if something was wrong."""
        if time.monotonic() > self.end:
            print(f"    seed {seed}: no time for it", flush=True)
            return None
        began = time.monotonic()
        world = World(seed, wallclock)
        problems = world.run()
        lines = [f"    {'FAILED' if problems else 'ok'} {world.describe()}; {getattr(world, 'outcome', 'no end')} "
                 f"({time.monotonic() - began:.0f} s)"]
        print("\n".join(lines + ["        " + problem.replace("\n", "\n        ") for problem in problems]), flush=True)
        return seed if problems else None


if __name__ == "__main__":
    unittest.main()
