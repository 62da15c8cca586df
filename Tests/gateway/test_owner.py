"""Who may acknowledge: the owner, as the server says. A gateway that never owned a band observes until it has said so."""

from bed import GatewayCase


class Owner(GatewayCase):
    def test_a_band_of_another_gateway_is_never_acknowledged_and_taken_up_when_it_is_free(self):
        stack = self.stack(bands=1)
        stack.start_bus().start_server()
        self.assertEqual(self.lease(stack, "PUT")["holder"], "gw_other")
        stack.start_sim().start_daemon()
        self.wait_until_calm(stack)
        self.wait_until_calm(stack)
        self.assertEqual(stack.acks(), [], "not in the first session either")
        self.assertEqual(stack.status()["bands"][0]["lease"]["holder"], "gw_other")
        self.assertEqual(stack.daemon.stop(), 0)
        self.assertIsNone(self.lease(stack, "DELETE")["holder"])
        stack.start_daemon()
        stack.wait(stack.acks, "the band to be acknowledged", pause=0.3)
        self.check_accounts(stack)

    def test_while_the_server_never_answered_a_band_is_observed_and_says_why(self):
        # One sync, and no other for an hour by itself.
        stack = self.stack(bands=1, gateway_options=["sync_interval = 3600"])
        stack.start_bus().start_server()
        stack.server.stop()
        stack.start_sim().start_daemon()
        self.wait_until_calm(stack, uploaded=False)
        self.assertEqual(stack.acks(), [])
        band = stack.status()["bands"][0]
        self.assertEqual((band["mode"], band["lease"]), ("own", {"ours": False, "holder": "", "until": None}))
        self.assertIn("own, observing", stack.command("status"))
        self.assertIn("has not said yet", " ".join(stack.command("status").split()))
        stack.start_server()
        stack.wait(stack.acks, "an ack as soon as the server has said so", pause=0.3)
        self.wait_for_upload(stack)
        # What was learnt outlives a restart, and the last owner goes on without the server.
        self.assertEqual(stack.daemon.stop(), 0)
        self.assertEqual(stack.server.stop(), 0)
        acks = len(stack.acks())
        self.record_more(stack)
        stack.start_daemon()
        stack.wait(lambda: len(stack.acks()) > acks, "acks while the server is away", pause=0.3)
        stack.start_server()
        self.wait_for_upload(stack)
        self.check_accounts(stack)

    def test_who_owned_it_long_ago_asks_before_the_first_ack(self):
        stack = self.owned_long_ago(lease_seconds=3)
        self.assertEqual(self.lease(stack, "PUT")["holder"], "gw_other")
        stored = stack.status()["bands"][0]["stored"]
        self.record_more(stack)
        acks = len(stack.acks())
        stack.start_daemon()
        stack.wait(lambda: any(band["stored"] >= stored + 400 for band in stack.status()["bands"]), "the new records", pause=0.3)
        self.wait_until_calm(stack)
        self.assertEqual(stack.acks()[acks:], [])
        self.assertIn("own, observing", stack.command("status"))
        self.check_accounts(stack)

    def test_who_owned_it_long_ago_goes_on_while_the_server_is_away(self):
        stack = self.owned_long_ago(lease_seconds=1)
        self.assertEqual(stack.server.stop(), 0)
        self.record_more(stack)
        acks = len(stack.acks())
        stack.start_daemon()
        stack.wait(lambda: len(stack.acks()) > acks, "acks while the server is away", pause=0.3)
        stack.start_server()
        self.wait_for_upload(stack)
        self.check_accounts(stack)

    def owned_long_ago(self, lease_seconds):
        """The gateway is stopped, and its hold of the band has ended."""
        stack = self.stack(bands=1, upload_options=[f"lease_seconds = {lease_seconds}"])
        stack.start()
        self.wait_until_calm(stack)
        self.assertEqual(stack.daemon.stop(), 0)
        stack.wait(lambda: self.lease(stack, "DELETE")["holder"] is None, "its hold to end", pause=0.3)
        return stack

    def wait_for_upload(self, stack):
        stack.command("upload", "now", check=False)
        stack.wait(lambda: self.is_calm(stack), "the upload", pause=0.3)
