"""Persons, zones and bands that change hands: the commands against a daemon, and what becomes of stored samples."""

import json
import re
import shlex

from bed import GatewayCase


class People(GatewayCase):
    def started(self):
        stack = self.stack(
            bands=1, band_options=["--records", "600", "--seed", "3", "--time-scale", "20", "--interval", "60000",
                                   "--utc-offset", "unknown"],
            # The clock of a machine that runs tests need not be synchronised; then nobody could be told apart.
            gateway_options=["sync_interval = 1", "[time]", "trust = always"])
        stack.start()
        self.wait_until_calm(stack)
        return stack

    def refused(self, stack, status, *arguments):
        """What a command says that ends with this status and changes nothing."""
        done = stack.command(*arguments, check=False)
        self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
        return done.stderr

    def exported(self, stack):
        return [json.loads(line) for line in stack.command("export", "--format", "jsonl").splitlines()]

    def wearers(self, stack):
        """How many samples are whose, as the database says it."""
        rows = stack.gateway(
            "SELECT persons.person, count(*) FROM samples LEFT JOIN persons ON persons.id = samples.person GROUP BY 1")
        return dict(rows)

    def test_an_assignment_holds_for_what_is_stored_already(self):
        stack = self.started()
        band = stack.bands[0]
        times = sorted(sample["recorded_at"] for sample in self.exported(stack))
        anna = json.loads(stack.command("--json", "person", "add", "Anna"))["id"]
        self.assertRegex(anna, "^p_[0-9a-f]{16}$")
        stack.command("person", "add", "Ben", "--id", "p_ben", "--share-name")
        change = times[300][:16] + "Z"
        stack.command("assign", band, "Ben", "--from", times[0][:10] + "T00:00Z", "--to", change)
        name = stack.status()["bands"][0]["name"]
        self.assertTrue(name)
        stack.command("assign", name, anna, "--from", change)
        stack.wait(lambda: sum(n for who, n in self.wearers(stack).items() if who) >= 598, "everybody's samples")
        found = self.wearers(stack)
        self.assertLess(abs(found["p_ben"] - 300), 3, found)
        self.assertLess(abs(found[anna] - 300), 3, found)
        # What is too near to the change is nobody's, and listed.
        listed = json.loads(stack.command("--json", "assignments", name))
        self.assertEqual([entry["person"] for entry in listed["assignments"]], ["p_ben", anna])
        undecided = sum(entry["count"] for entry in listed["undecided"])
        self.assertEqual(sum(found.values()), 600)
        self.assertEqual(found.get(None, 0), undecided)
        stack.command("unassign", name, "--from", change)
        stack.wait(lambda: anna not in self.wearers(stack), "the assignment to be taken back")

    def test_an_overlap_names_the_command_that_makes_room(self):
        stack = self.started()
        band = stack.bands[0]
        for name in ["Anna", "Ben O'Neil"]:
            stack.command("person", "add", name)
        stack.command("assign", band, "Ben O'Neil", "--from", "2026-01-01T00:00Z")
        later = ["assign", band, "Anna", "--from", "2026-02-01T00:00:30Z"]
        words = self.refused(stack, 8, *later)
        self.assertIn("until further notice", words)
        remedy = re.search(r"bandferry (assign .*)", words).group(1)
        stack.command(*shlex.split(remedy))
        stack.command(*later)
        words = self.refused(stack, 8, "assign", band, "Ben O'Neil", "--from", "2026-01-15T00:00Z", "--to", "2026-02-02T00:00Z")
        self.assertIn("--to 2026-01-15T00:00Z", words)
        self.refused(stack, 2, "assign", band, "Anna", "--from", "2026-01-01T00:00Z", "--to", "2025-01-01T00:00Z")
        listed = json.loads(stack.command("--json", "assignments"))["assignments"]
        self.assertEqual(
            [(entry["from"], entry["to"]) for entry in listed],
            [("2026-01-01T00:00:00.000Z", "2026-02-01T00:00:30.000Z"), ("2026-02-01T00:00:30.000Z", None)])

    def test_a_zone_gives_the_offset_that_the_band_does_not_know(self):
        stack = self.started()
        band = stack.bands[0]
        stack.command("person", "add", "Anna")
        stack.command("assign", band, "Anna", "--from", "2000-01-01T00:00Z")
        stack.command("person", "zone", "Anna", "Asia/Kolkata", "--from", "2000-01-01T00:00Z")
        stack.wait(
            lambda: {sample["tz_offset_min"] for sample in self.exported(stack)} == {330}, "the offset of Kolkata")
        stack.command("person", "zone", "Anna", "--remove", "--from", "2000-01-01T00:00Z")
        stack.wait(
            lambda: 330 not in {sample["tz_offset_min"] for sample in self.exported(stack)}, "the zone to be taken back")
        listed = json.loads(stack.command("--json", "person", "list"))
        self.assertEqual(listed[0]["zones"], [])

    def test_what_can_not_be_meant_is_refused(self):
        stack = self.started()
        band = stack.bands[0]
        stack.command("person", "add", "Anna", "--id", "p_anna")
        for arguments in [("Anna",), ("p_anna",), ("Ben", "--id", "p_anna"), ("Ben", "--id", "Anna")]:
            self.refused(stack, 8, "person", "add", *arguments)
        self.assertIn("Mars/Base", self.refused(stack, 2, "person", "zone", "Anna", "Mars/Base", "--from", "now"))
        self.assertIn("Known: Anna", self.refused(stack, 5, "person", "zone", "Dora", "UTC", "--from", "now"))
        self.refused(stack, 5, "person", "zone", "Anna", "--remove", "--from", "now")
        self.refused(stack, 5, "assign", band, "Dora", "--from", "now")
        self.refused(stack, 5, "assign", "band_of_nobody", "Anna", "--from", "now")
        self.refused(stack, 5, "unassign", band, "--from", "2026-01-01T00:00Z")
        self.refused(stack, 2, "person", "add", "")

    def test_only_somebody_who_never_wore_a_band_is_removed(self):
        stack = self.started()
        band = stack.bands[0]
        stack.command("person", "add", "Anna")
        stack.command("person", "add", "Ana", "--id", "p_slip")
        stack.command("assign", band, "Anna", "--from", "2000-01-01T00:00Z")
        stack.wait(lambda: len(self.wearers(stack)) == 1 and None not in self.wearers(stack), "the samples to follow", pause=0.3)
        words = self.refused(stack, 1, "person", "remove", "Anna")
        self.assertIn("Samples that are stored here are of Anna", words)
        self.assertEqual(json.loads(stack.command("--json", "person", "remove", "p_slip")), {"person": "p_slip", "removed": True})
        self.assertEqual([person["name"] for person in json.loads(stack.command("--json", "person", "list"))], ["Anna"])
        self.refused(stack, 5, "person", "remove", "Ana")
        # A name that was free again is taken as any other.
        stack.command("person", "add", "Ana", "--id", "p_slip")
        stack.command("assign", band, "Anna", "--from", "2000-01-01T00:00Z", "--to", "2000-01-02T00:00Z")
        stack.wait(lambda: list(self.wearers(stack)) == [None], "the samples to be nobody's", pause=0.3)
        words = self.refused(stack, 1, "person", "remove", "Anna")
        stack.command(*shlex.split(re.search(r"bandferry (unassign .*)", words).group(1)))
        stack.command("person", "remove", "Anna")
