"""A host that boots in 1970, as a computer without a clock battery does: it syncs and acks, and holds the upload back."""

import subprocess
import time

from bed import HERE, GatewayCase


class WrongClock(GatewayCase):
    def stack_with_clock(self, **options):
        """The daemon's wall clock is what `set_clock` says."""
        stack = self.stack(bands=1, **options)
        library = stack.directory / "wallclock.so"
        subprocess.run(
            ["cc", "-shared", "-fPIC", "-O2", "-o", str(library), str(HERE.parent / "lab" / "wallclock.c")], check=True)
        self.clock_file = stack.directory / "wallclock"
        stack.daemon.environment.update({"LD_PRELOAD": str(library), "WALLCLOCK_FILE": str(self.clock_file)})
        return stack

    def set_clock(self, offset_ms, synchronised):
        draft = self.clock_file.with_suffix(".new")
        draft.write_text(f"{offset_ms} {int(synchronised)}\n")
        draft.rename(self.clock_file)

    @staticmethod
    def wait_for_clock(stack, code):
        """Until `status` says this of the clock, or with None nothing."""
        def said():
            return [problem["code"] for problem in stack.status()["problems"] if problem["code"].startswith("clock_")]
        stack.wait(lambda: said() == ([code] if code else []), f"the clock: {code}", pause=0.3)

    def check_times(self, stack, count, version):
        truth = {line["seq"]: line["true_ms"] for line in stack.truth() if "true_ms" in line}
        rows = stack.query(stack.store, "SELECT seq, recorded_at_ms, time_bound_ms, time_uncertain, version FROM samples")
        self.assertEqual(len(rows), count)
        for seq, recorded_at, bound, uncertain, found in rows:
            self.assertEqual(uncertain, 0, f"seq {seq}")
            self.assertLess(abs(recorded_at - truth[seq]), 2_000, f"seq {seq}")
            self.assertLessEqual(abs(recorded_at - truth[seq]), bound, f"seq {seq}")
            self.assertEqual(found, version, f"seq {seq}")

    def test_what_was_timed_in_1970_goes_up_with_its_true_times(self):
        # The band is a day behind.
        stack = self.stack_with_clock(band_options=["--records", "600", "--seed", "3", "--clock-offset", "-86400000"])
        self.set_clock(60_000 - int(time.time() * 1000), False)
        stack.start()
        self.wait_for_clock(stack, "clock_implausible")
        stack.wait(
            lambda: any(line["freed"] and line["seq"] >= 600 for line in stack.acks()), "the last ack", pause=0.3)
        self.assertEqual(stack.gateway("SELECT count(*) FROM samples WHERE time_uncertain"), [(600,)])
        self.assertEqual(stack.query(stack.store, "SELECT count(*) FROM samples"), [(0,)])
        stack.wait(lambda: stack.status()["bands"][0]["pending"] == 600, "status to say what waits", pause=0.3)

        # Network time sets the clock of the running daemon.
        self.set_clock(0, True)
        stack.wait(
            lambda: stack.query(stack.store, "SELECT count(*) FROM samples") == [(600,)], "the upload", pause=0.3)
        self.wait_for_clock(stack, None)
        self.check_times(stack, 600, version=2)
        self.check_accounts(stack)

    def test_what_waited_survives_a_kill_and_a_restart(self):
        stack = self.stack_with_clock(band_options=["--records", "600", "--seed", "4"])
        self.set_clock(60_000 - int(time.time() * 1000), False)
        stack.start()
        stack.wait(
            lambda: any(line["freed"] and line["seq"] >= 600 for line in stack.acks()), "the last ack", pause=0.3)
        stack.daemon.kill()
        self.set_clock(0, True)
        # The same boot: its monotonic clock went on.
        stack.start_daemon()
        stack.wait(
            lambda: stack.query(stack.store, "SELECT count(*) FROM samples") == [(600,)], "the upload", pause=0.3)
        self.check_times(stack, 600, version=2)

    def test_an_unsynchronised_clock_uploads_with_a_bound_and_is_corrected(self):
        stack = self.stack_with_clock(band_options=["--records", "600", "--seed", "5"])
        # Three minutes slow, and nobody vouches for it.
        self.set_clock(-180_000, False)
        stack.start()
        self.wait_for_clock(stack, "clock_unsynchronised")
        self.wait_until_calm(stack)
        rows = stack.query(stack.store, "SELECT min(time_bound_ms), max(time_uncertain), count(*) FROM samples")
        self.assertGreater(rows[0][0], 180_000)
        self.assertEqual(rows[0][1:], (0, 600))
        self.set_clock(0, True)
        stack.wait(
            lambda: stack.query(stack.store, "SELECT count(*) FROM samples WHERE version = 2") == [(600,)],
            "the corrections", pause=0.3)
        self.check_times(stack, 600, version=2)
        self.check_accounts(stack)

    def test_no_wait_lasts_longer_for_a_wall_clock_that_was_set_back(self):
        stack = self.stack_with_clock(gateway_options=["sync_interval = 3600"])
        # Ahead for the daemon alone: what it asks the kernel to wait for by that clock is over in an hour, as what it waited
        # for already is when a clock is set back by one.
        self.set_clock(3_600_000, True)
        stack.start_bus().start_server().start_sim()
        stack.server.stop()
        stack.start_daemon()
        self.wait_for_problem(stack, "network_timeout")
        stack.wait(lambda: stack.status()["bands"][0]["pending"] == 600, "the samples", pause=0.3)
        stack.start_server()
        # Nothing but the end of a wait starts the next attempt.
        stack.wait(lambda: stack.query(stack.store, "SELECT count(*) FROM samples") == [(600,)], "the upload", pause=0.3)
