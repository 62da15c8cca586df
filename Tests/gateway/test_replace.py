"""A gateway that is lost: another one takes its bands over, or an old copy of its card comes back."""

import json
import shutil

from bed import GatewayCase, device_id


class Replace(GatewayCase):
    def lost(self, records=600, **options):
        """A gateway that synced and uploaded all of a band, and whose card is no more. Its hold ends soon."""
        options.setdefault("band_options", ["--records", str(records), "--seed", "3", "--time-scale", "20"])
        stack = self.stack(bands=1, upload_options=["lease_seconds = 4"], **options)
        stack.start()
        return stack

    def new_card(self, stack):
        """An empty state directory, and a configuration that names no band."""
        stack.state = stack.directory / "new-card"
        stack.modes = {}
        stack.start_daemon()
        stack.wait(lambda: stack.status()["running"], "the new gateway", pause=0.2)

    def replace(self, stack, *arguments):
        return json.loads(stack.command("--json", "replace", *arguments))

    @staticmethod
    def lease_end(stack):
        """Until when the gateway's band is owned, ms."""
        return stack.gateway("SELECT lease_until FROM bands")[0][0]

    def acked(self, stack, since):
        return [ack for ack in stack.acks()[since:] if ack["freed"] > 0]

    def test_a_new_gateway_goes_on_where_the_server_is(self):
        stack = self.lost()
        self.wait_until_calm(stack)
        stack.command("person", "add", "Anna", "--share-name", "--id", "p_a")
        stack.command("assign", stack.bands[0], "Anna", "--from", "2020-01-01T00:00Z")
        self.wait_until_calm(stack)
        stack.wait(lambda: self.api(stack, f"/v1/samples?device_id={device_id(stack.bands[0])}&limit=1")["samples"][0]
                   .get("person") == "p_a", "the wearer to go up", pause=0.3)
        stack.daemon.kill()
        self.record_more(stack)
        acks = len(stack.acks())
        self.new_card(stack)
        band = device_id(stack.bands[0])
        listed = self.replace(stack)
        self.assertEqual([(one["device_id"], one["address"], one["mode"]) for one in listed],
                         [(band, stack.bands[0], None)])
        self.assertGreaterEqual(listed[0]["samples"], 600)
        self.assertIsNotNone(listed[0]["last_contact"])
        stack.wait(lambda: self.replace(stack)[0]["lease"] is None, "the lost gateway's hold to end", pause=0.5)
        looked = self.replace(stack, "--all", "--dry-run")[0]
        self.assertEqual((looked["outcome"], stack.status()["bands"]), ("would_take_over", []))
        self.assertEqual(looked["wearer"]["person"], "p_a")
        through = looked["rings"][0]["complete_through"]
        self.assertGreaterEqual(through, 600)
        done = self.replace(stack, stack.bands[0])[0]
        self.assertEqual(done["outcome"], "taken_over")
        self.assertEqual([(ring["complete_through"], ring["next_seq"]) for ring in done["rings"]],
                         [(through, through + 1)])
        self.assertTrue(done["lease"]["ours"])
        self.assertEqual((done["persons"], done["wearer"]["name"]), (1, "Anna"))
        self.wait_until_calm(stack)
        self.assertTrue(self.acked(stack, acks), "it owns the band: its memory is freed")
        self.assertEqual(json.loads(stack.command("--json", "gaps")), [])
        self.assertEqual(stack.gateway("SELECT min(key >> 8 & 4294967295) FROM samples")[0][0], through + 1,
                         "nothing is read twice")
        self.assertEqual(self.replace(stack, "--all"), [])
        self.check_accounts(stack)

    def test_the_old_card_comes_back_and_only_observes(self):
        stack = self.lost(band_options=["--records", "3000", "--seed", "3", "--rate", "1500", "--window", "16"])
        # What it acknowledged last was not uploaded yet, most likely.
        stack.wait(lambda: len(self.acked(stack, 0)) > 3 and self.on_server(stack) > 100, "half a history", pause=0.05)
        stack.daemon.kill()
        old_state, old_modes = stack.state, stack.modes
        self.new_card(stack)
        stack.wait(lambda: self.replace(stack)[0]["lease"] is None, "the lost gateway's hold to end", pause=0.5)
        self.assertEqual(self.replace(stack, "--all")[0]["outcome"], "taken_over")
        self.wait_until_calm(stack)
        self.assertEqual(stack.daemon.stop(), 0)
        # What the old one had acknowledged and not uploaded is missing, said honestly, until its card is found.
        new_state = stack.state
        stack.upload_options = ["lease_seconds = 600"]
        before = self.lease_end(stack)
        stack.start_daemon()
        stack.wait(lambda: self.lease_end(stack) > before + 60_000, "the band to be the new gateway's for longer", pause=0.3)
        self.assertEqual(stack.daemon.stop(), 0)
        self.record_more(stack)
        acks = len(stack.acks())
        stack.state, stack.modes = old_state, old_modes
        stack.start_daemon()
        self.wait_until_calm(stack)
        status = stack.status()["bands"][0]
        self.assertEqual((status["mode"], status["lease"]["ours"]), ("own", False))
        self.assertIn("own, observing", stack.command("status"))
        self.assertEqual(self.acked(stack, acks), [], "the band is the new gateway's")
        self.assertEqual(stack.daemon.stop(), 0)
        stack.state, stack.modes = new_state, {}
        stack.start_daemon()
        self.wait_until_calm(stack)
        self.assertTrue(self.acked(stack, acks))
        # It looks twice a day by itself, where another gateway is at work; or when a person asks.
        stack.command("reconcile")
        stack.wait(lambda: all(healed for _, _, healed in self.gaps_on_server(stack)), "the gaps to heal", pause=0.3)
        self.check_accounts(stack)

    def test_an_old_copy_of_the_card_loses_nothing_and_doubles_nothing(self):
        stack = self.lost()
        self.wait_until_calm(stack)
        self.assertEqual(stack.daemon.stop(), 0)
        copy = stack.directory / "old-copy"
        shutil.copytree(stack.state, copy)
        self.record_more(stack)
        stack.start_daemon()
        self.wait_until_calm(stack)
        self.assertEqual(stack.daemon.stop(), 0)
        shutil.rmtree(stack.state)
        copy.rename(stack.state)
        self.record_more(stack)
        stack.start_daemon()
        stack.wait(lambda: stack.status()["bands"], "the band", pause=0.2)
        done = self.replace(stack, stack.bands[0])[0]
        self.assertEqual((done["outcome"], done["lease"]["ours"]), ("refreshed", True))
        self.wait_until_calm(stack)
        self.assertEqual(json.loads(stack.command("--json", "gaps")), [])
        self.check_accounts(stack)

    def test_a_band_that_another_gateway_holds_is_refused_unless_forced(self):
        stack = self.lost()
        self.wait_until_calm(stack)
        self.assertEqual(stack.daemon.stop(), 0)
        self.record_more(stack)
        acks = len(stack.acks())
        stack.wait(lambda: self.lease(stack, "DELETE")["holder"] is None, "the first one's hold to end", pause=0.3)
        self.assertEqual(self.lease(stack, "PUT")["holder"], "gw_other")
        self.new_card(stack)
        band = device_id(stack.bands[0])
        refused = stack.command("--json", "replace", band, check=False)
        self.assertEqual(refused.returncode, 8)
        self.assertEqual(json.loads(refused.stdout)[0]["problem"]["code"], "lease_held")
        self.assertEqual(stack.status()["bands"], [])
        self.assertEqual(stack.command("replace", "band_000000000001", check=False).returncode, 5)
        forced = self.replace(stack, band, "--force")[0]
        self.assertEqual((forced["outcome"], forced["lease"]["ours"]), ("taken_over", False))
        self.wait_until_calm(stack)
        self.assertEqual(self.acked(stack, acks), [], "the other one may be at work")
        # The other one's time ends; a restart makes no difference.
        self.lease(stack, "PUT", ttl=3)
        self.assertEqual(stack.daemon.stop(), 0)
        stack.start_daemon()
        stack.wait(lambda: self.acked(stack, acks), "the band to be acknowledged", pause=0.3)
        self.wait_until_calm(stack)
        self.check_accounts(stack)
