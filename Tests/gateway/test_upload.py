"""What people tell the upload: status, now, pause, resume, retry."""

import datetime
import json
import os
import shutil
import sqlite3
import subprocess

from bed import GatewayCase


class Upload(GatewayCase):
    def upload(self, stack, *arguments):
        return json.loads(stack.command("--json", "upload", *arguments))

    def test_a_pause_holds_over_a_restart_and_bands_go_on(self):
        stack = self.stack(bands=1, band_options=["--records", "300", "--capacity", "400", "--seed", "3"])
        stack.start()
        self.wait_until_calm(stack)
        known = self.on_server(stack)
        self.assertIsNone(self.upload(stack, "pause")["until"])
        self.wait_for_problem(stack, "upload_paused")
        # The band writes over what nobody read: whether it may be acked past that is asked, paused or not.
        stack.daemon.stop()
        self.assertEqual(self.upload(stack, "status")["state"], "stopped")
        stack.sim.stop()
        acks = len(stack.acks())
        options = ["--record-every", "2"]
        stack.sim.command += options
        stack.start_sim()
        stack.wait(lambda: len(stack.truth()) > 1200, "records to be written over", pause=0.2)
        stack.sim.stop()
        del stack.sim.command[-2:]
        stack.start_sim().start_daemon()
        self.wait_until_calm(stack, uploaded=False)
        stack.wait(lambda: any(ack["freed"] > 0 for ack in stack.acks()[acks:]), "the band to free its memory")
        status = self.upload(stack, "status")
        self.assertEqual((status["state"], status["problem"]), ("paused", None))
        self.assertGreater(status["pending"], 200)
        self.assertIn("overwritten", stack.command("--json", "gaps"))
        self.assertEqual(self.on_server(stack), known)
        now = stack.command("--json", "upload", "now", check=False)
        self.assertEqual(now.returncode, 1)
        self.assertEqual(json.loads(now.stdout)["problem"]["code"], "upload_paused")
        stack.command("upload", "resume")
        self.wait_until_calm(stack)
        stack.wait(lambda: "upload_paused" not in self.problems(stack), "the pause to end", pause=0.3)
        self.check_accounts(stack, allowed=["overwritten"])

    def test_a_pause_for_a_time_ends_by_itself(self):
        stack = self.stack(bands=1)
        stack.start_bus().start_server().start_daemon()
        stack.wait(lambda: stack.status()["running"], "the daemon", pause=0.2)
        self.assertIsNotNone(self.upload(stack, "pause", "--for", "4s")["until"])
        stack.start_sim()
        stack.wait(lambda: self.upload(stack, "status")["pending"] > 0, "samples that wait", pause=0.2)
        self.wait_until_calm(stack)
        self.assertIsNone(self.upload(stack, "status")["paused"])

    def test_now_says_what_went_up_and_why_no_more_did(self):
        stack = self.stack(bands=1)
        stack.start_bus().start_server()
        stack.server.stop()
        stack.start_sim().start_daemon()
        self.wait_until_calm(stack, uploaded=False)
        stack.wait(lambda: self.problems(stack), "the problem", pause=0.2)
        failed = stack.command("--json", "upload", "now", check=False)
        self.assertEqual(failed.returncode, 1)
        self.assertEqual(json.loads(failed.stdout)["problem"]["code"], "network_timeout")
        self.assertEqual(json.loads(failed.stdout)["sent"], 0)
        stack.start_server()
        # Whatever it waits for by itself.
        report = self.upload(stack, "now")
        self.assertEqual((report["left"], report["problem"], report["timed_out"]), (0, None, False))
        self.assertGreaterEqual(report["sent"], 600)
        self.assertEqual(self.on_server(stack), report["sent"])
        status = self.upload(stack, "status")
        self.assertEqual(status["last_error"]["code"], "network_timeout")
        self.assertIsNotNone(status["last_success"])
        stack.daemon.stop()
        # The database and the daemon each note when they heard of it.
        stored, told = (datetime.datetime.fromisoformat(answer["last_success"][:-1]) for answer in (self.upload(stack, "status"), status))
        self.assertLess(abs(stored - told), datetime.timedelta(seconds=1))
        stack.start_daemon()
        self.wait_until_calm(stack)
        self.check_accounts(stack)

    def test_what_the_server_refused_is_listed_and_tried_again(self):
        stack = self.stack(bands=1)
        stack.start_bus().start_server()
        stack.server.stop()
        stack.start_sim().start_daemon()
        self.wait_until_calm(stack, uploaded=False)
        stack.daemon.stop()
        stack.sim.stop()
        with sqlite3.connect(stack.state / "gateway.db") as database:
            key, value = database.execute(
                "SELECT key, value FROM samples WHERE key & 255 = 1 ORDER BY key LIMIT 1 OFFSET 5").fetchone()
            database.execute("UPDATE samples SET value = 999 WHERE key = ?", (key,))
        database.close()
        stack.start_server().start_daemon()
        stack.wait(lambda: self.upload(stack, "status")["pending"] == 0, "the rest to go up", pause=0.3)
        kept = self.upload(stack, "status")["bands"][0]["kept"]
        seq = key >> 8 & 0xFFFFFFFF
        self.assertEqual([(one["reason"], one["code"], one["count"]) for one in kept],
                         [("refused", "value_out_of_range", 1)])
        self.assertEqual(kept[0]["ranges"], [{"first_seq": seq, "last_seq": seq}])
        self.assertNotIn("999", json.dumps(kept))
        stack.wait(lambda: self.gaps_on_server(stack) == [(seq, "unreadable", False)], "its gap", pause=0.3)
        # Refused once more: named as before, and never said to be healed.
        self.assertEqual(self.upload(stack, "retry"), {"samples": 1})
        stack.command("upload", "now")
        self.assertEqual(len(self.upload(stack, "status")["bands"][0]["kept"]), 1)
        self.assertEqual(self.gaps_on_server(stack), [(seq, "unreadable", False)])
        stack.daemon.stop()
        with sqlite3.connect(stack.state / "gateway.db") as database:
            database.execute("UPDATE samples SET value = ? WHERE key = ?", (value, key))
        database.close()
        stack.start_daemon()
        stack.wait(lambda: stack.status()["running"], "the daemon", pause=0.2)
        self.assertEqual(self.upload(stack, "retry", stack.bands[0]), {"samples": 1})
        stack.command("upload", "now")
        self.assertEqual(self.upload(stack, "status")["bands"][0]["kept"], [])
        stack.wait(lambda: self.gaps_on_server(stack) == [(seq, "unreadable", True)], "the gap to heal", pause=0.3)
        stack.start_sim()
        self.wait_until_calm(stack)
        self.check_accounts(stack)


class Reconcile(GatewayCase):
    """What the server lost is found and sent again, and nothing else."""

    def restored(self):
        """All of a band went up; then the server was restored from a backup of the middle. And how much it lost."""
        stack = self.stack(bands=1, band_options=["--records", "3000", "--seed", "3", "--interval", "60000"])
        stack.start()
        self.wait_until_calm(stack)
        clean = self.reconcile(stack)
        self.assertEqual((clean["missing"], clean["differing_days"], clean["problem"]), (0, 0, None))
        self.assertGreater(clean["days"], 1)
        stack.server.stop()
        backup = stack.directory / "backup.db"
        shutil.copy(stack.store, backup)
        stack.sim.stop()
        stack.sim.command += ["--record-every", "2"]
        stack.start_server().start_sim()
        stack.wait(lambda: stack.status()["bands"][0]["stored"] > 3500, "more records", pause=0.2)
        stack.sim.stop()
        del stack.sim.command[-2:]
        stack.start_sim()
        self.wait_until_calm(stack)
        total = self.on_server(stack)
        stack.server.stop()
        for path in stack.directory.glob("ingest.db*"):
            path.unlink()
        shutil.copy(backup, stack.store)
        stack.start_server()
        lost = total - self.on_server(stack)
        self.assertGreater(lost, 400)
        return stack, total, lost

    def reconcile(self, stack, *arguments):
        return json.loads(stack.command("--json", "reconcile", *arguments))[0]

    def test_what_the_server_lost_goes_up_again_and_nothing_else(self):
        stack, total, lost = self.restored()
        looked = self.reconcile(stack, stack.bands[0], "--dry-run")
        self.assertEqual((looked["missing"], looked["marked"], self.on_server(stack)), (lost, False, total - lost))
        found = self.reconcile(stack)
        self.assertEqual((found["missing"], found["marked"], found["only_there"]), (lost, True, 0))
        report = json.loads(stack.command("--json", "upload", "now"))
        self.assertEqual((report["left"], self.on_server(stack)), (0, total))
        again = self.reconcile(stack)
        self.assertEqual((again["missing"], again["differing_days"]), (0, 0))
        self.check_accounts(stack)

    def test_a_kill_in_the_middle_loses_nothing(self):
        stack, total, _ = self.restored()
        asked = subprocess.Popen(
            [stack._program("bandferry"), "--config", str(stack.configuration), "reconcile"],
            env={**os.environ, "DBUS_SYSTEM_BUS_ADDRESS": stack.bus_address},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        stack.wait(lambda: asked.poll() is not None or stack.gateway("SELECT count(*) FROM unconfirmed")[0][0] > 0,
                   "the comparison to find something", deadline=20, pause=0.01)
        stack.daemon.kill()
        asked.wait(30)
        stack.start_daemon()
        stack.wait(lambda: stack.status()["running"], "the daemon", pause=0.2)
        self.assertIsNone(self.reconcile(stack)["problem"])
        self.wait_until_calm(stack)
        self.assertEqual((self.reconcile(stack)["missing"], self.on_server(stack)), (0, total))
        self.check_accounts(stack)
