"""What a band gives of its history: streams that stall, ends that lie, records that go, and records that are wrong."""

import subprocess

from lab import TESTS, FieldCase

DAY = 86_400_000


class Streams(FieldCase):
    def test_one_that_stalls(self):
        self.comes_through(self.line("stall@9"))

    def test_one_that_stalls_again_and_again_is_named_and_goes_on(self):
        stack = self.line("stall:0.5", records=1500)
        stack.start()
        self.wait_for_band_problem(stack, ["stalled"])
        self.control(stack, "SetFaults", "string:")
        self.comes_through(stack)

    def test_one_without_an_end(self):
        self.comes_through(self.line("noend"))

    def test_acks_that_are_lost(self):
        self.comes_through(self.line("lostack:0.5", further=["--window", "8"]))

    def test_a_band_that_waits_for_each_ack(self):
        self.comes_through(self.line(further=["--window", "1"]))

    def test_notifications_that_say_what_they_do_not_hold(self):
        self.comes_through(self.line("badkind:0.03,badversion:0.03,badorder:0.03,truncate:0.03", records=1500),
                           allowed=["unreadable", "lost_by_band"])


class Records(FieldCase):
    def test_content_that_can_not_be_is_kept_and_blocks_nothing(self):
        self.comes_through(self.line("badtype:0.02,badms:0.02,badoffset:0.02,badvalue:0.02"))

    def test_one_that_can_not_be_read_is_named(self):
        self.comes_through(self.line("unreadable=100"), allowed=["unreadable"])

    def test_one_that_is_not_there_is_named(self):
        self.comes_through(self.line("absent=100"), allowed=["lost_by_band"])

    def test_those_that_are_overwritten_while_they_are_read_are_named(self):
        self.comes_through(self.line("overwrite@8:60"), allowed=["overwritten", "freed_elsewhere"])

    def test_a_ring_that_is_formatted_while_it_is_read(self):
        self.comes_through(self.line("reformat@9:80"), allowed=["reformatted"])

    def test_a_ring_that_falls_back_while_it_is_read(self):
        self.comes_through(self.line("rollback@10:60"))

    def test_bands_with_the_same_numbers_do_not_mix(self):
        self.comes_through(self.line("disconnect:0.05", bands=3))


class Clocks(FieldCase):
    """A band's own clock decides nothing about what is fetched or kept."""

    def off_by(self, milliseconds, *further):
        stack = self.line(further=["--clock-offset", str(milliseconds), *further])
        stack.start()
        self.wait_until_calm(stack)
        truth = {line["seq"]: line["true_ms"] for line in stack.truth() if "true_ms" in line}
        rows = stack.query(stack.store, "SELECT seq, recorded_at_ms, time_uncertain FROM samples")
        self.assertEqual(len(rows), 600)
        return stack, [(abs(at - truth[seq]), uncertain) for seq, at, uncertain in rows]

    def times_are_right(self, milliseconds):
        stack, rows = self.off_by(milliseconds)
        self.assertEqual([row for row in rows if row[0] > 2_000 or row[1]], [])
        self.check_accounts(stack)

    def test_it_shows_2029(self):
        self.times_are_right(3 * 365 * DAY)

    def test_it_shows_2052(self):
        self.times_are_right(26 * 365 * DAY)

    def test_it_shows_1971(self):
        self.times_are_right(-55 * 365 * DAY)

    def test_it_is_set_while_it_is_read(self):
        self.comes_through(self.line("clockstep@7:3600000"))

    def test_it_was_set_again_and_again(self):
        self.comes_through(self.line(further=["--clock-steps", "6"]))


class Silence(FieldCase):
    def test_a_band_that_has_stopped_recording_is_told_from_one_that_is_caught_up(self):
        stack = self.line(bands=2)
        library, clock = stack.directory / "wallclock.so", stack.directory / "wallclock"
        subprocess.run(
            ["cc", "-shared", "-fPIC", "-O2", "-o", str(library), str(TESTS / "lab" / "wallclock.c")], check=True)
        clock.write_text(f"{-3 * DAY} 1\n")
        # Three days ago both recorded.
        usual = dict(stack.sim.environment)
        stack.sim.environment.update({"LD_PRELOAD": str(library), "WALLCLOCK_FILE": str(clock)})
        stack.start_bus().start_server().start_sim()
        stack.sim.stop()
        stack.sim.environment = usual
        stack.start_sim()
        # Only one does still.
        self.control(stack, "Record", "uint32:10", band=1)
        stack.start_daemon()
        self.wait_until_calm(stack)
        found = {band["address"]: band["recording"] for band in stack.status()["bands"]}
        self.assertEqual([found[band] for band in stack.bands], ["stopped", "caught_up"])
        self.check_accounts(stack)
