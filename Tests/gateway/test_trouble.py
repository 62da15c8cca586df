"""A stopped server, a full disk, a read-only or corrupt database: it stays up, says so, loses nothing, heals."""

import shutil
import sqlite3
import time

from bed import GatewayCase, powercut


class Server(GatewayCase):
    def test_a_stopped_server_is_said_and_healed(self):
        stack = self.stack(bands=1)
        stack.start()
        self.wait_until_calm(stack)
        stack.server.stop()
        stack.sim.stop()
        stack.sim.command += ["--record-every", "200"]
        stack.start_sim()
        stack.wait(lambda: any(band["pending"] for band in stack.status()["bands"]), "rows that wait", pause=0.3)
        stack.wait(lambda: self.problems(stack), "the problem", pause=0.3)
        stack.sim.stop()
        del stack.sim.command[-2:]
        stack.start_sim().start_server()
        # What the status says of the band may be older than its last record.
        stack.command("sync")
        self.wait_until_calm(stack)
        self.check_accounts(stack)

    def test_a_token_that_others_can_read_is_refused_until_it_is_mended(self):
        stack = self.stack(bands=1)
        stack.start_bus().start_server().start_sim()
        token = stack.directory / "gateway-token"
        token.chmod(0o644)
        stack.start_daemon()
        self.wait_for_problem(stack, "token_readable_by_others")
        token.chmod(0o600)
        self.wait_until_calm(stack)

    def test_a_wrong_token_is_said(self):
        stack = self.stack(bands=1)
        stack.start_bus().start_server().start_sim()
        (stack.directory / "gateway-token").write_text("wrong\n")
        stack.start_daemon()
        self.wait_for_problem(stack, "authentication_failed")


class Disk(GatewayCase):
    def trouble(self, fault, code):
        """Writes fail while the band sends; nothing is acked that is not kept; it heals by itself."""
        stack = self.stack(
            bands=1, powercut=powercut(),
            band_options=["--records", "3000", "--seed", "3", "--time-scale", "20", "--window", "8"])
        fault_file = stack.directory / "fault"
        stack.daemon.environment["POWERCUT_FAULT_FILE"] = str(fault_file)
        stack.start_bus().start_server().start_daemon()
        stack.wait(lambda: stack.status()["running"], "the daemon", pause=0.2)
        fault_file.write_text(fault)
        stack.start_sim()
        self.wait_for_problem(stack, code)
        self.assertTrue(stack.daemon.running)
        self.assertEqual([line for line in stack.acks() if line["freed"]], [])
        fault_file.unlink()
        self.wait_until_calm(stack)
        self.check_accounts(stack)

    def test_a_full_disk(self):
        self.trouble("full", "store_full")

    def test_a_read_only_database(self):
        self.trouble("readonly", "store_read_only")

    def test_a_medium_that_fails(self):
        self.trouble("ioerr", "store_io")


class Space(GatewayCase):
    def test_below_the_floor_no_band_is_connected_and_the_problem_says_how_much_is_free(self):
        stack = self.stack(bands=1, gateway_options=["sync_interval = 1", "[storage]", "free_space_floor = 1000000000000"])
        stack.start()
        self.wait_for_problem(stack, "store_low_space")
        self.assertIn(" MB are free", " ".join(problem["text"] for problem in stack.status()["problems"]))
        time.sleep(2)
        self.assertEqual(stack.acks(), [], "nothing is read, so nothing is acked")
        self.assertEqual([band["stored"] for band in stack.status()["bands"]], [0])
        stack.daemon.stop()
        stack.gateway_options = ["sync_interval = 1"]
        stack.write_configuration()
        stack.start_daemon()
        self.wait_until_calm(stack)
        self.check_accounts(stack)


class Salvage(GatewayCase):
    def test_what_can_be_read_is_salvaged_and_the_rest_comes_again_or_is_named(self):
        """A page of samples is destroyed of which the server knows nothing and which the band has let go."""
        stack = self.stack(bands=1, band_options=["--records", "100", "--seed", "3", "--time-scale", "20"])
        stack.start()
        # It owns the band, and goes on while the server is away.
        self.wait_until_calm(stack)
        stack.server.stop()
        self.record(stack, 3000)
        stack.wait(lambda: any(ack["seq"] >= 3100 for ack in stack.acks()), "acks of what never went up", pause=0.3)
        self.wait_until_calm(stack, uploaded=False)
        stack.daemon.stop()
        destroy_a_leaf_of_samples(stack.state / "gateway.db")
        stack.start_server().start_daemon()
        self.wait_for_problem(stack, "store_salvaged")
        self.assertEqual(len(list(stack.state.glob("gateway.db.salvaged-*"))), 1)
        stack.sim.stop()
        stack.sim.command += ["--record-every", "500"]
        stack.start_sim()
        stack.wait(lambda: "storage_lost" in stack.command("--json", "gaps"), "the gap", pause=0.3)
        stack.sim.stop()
        del stack.sim.command[-2:]
        stack.start_sim()
        self.wait_for_bands(stack)
        self.check_accounts(stack, allowed=["storage_lost"])

    def wait_for_bands(self, stack):
        """As `wait_until_calm`; that something was salvaged is said for a week."""
        stack.wait(lambda: self.is_calm(stack) and self.problems(stack) == ["store_salvaged"], "calm", pause=0.3)
        stack.wait(lambda: stack.query(stack.store, "SELECT count(*) FROM gaps")[0][0] > 0, "the gap on the server",
                   pause=0.3)


def destroy_a_leaf_of_samples(database):
    """One in the middle of the table."""
    connection = sqlite3.connect(database)
    root, = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'samples'").fetchone()
    connection.close()
    content = bytearray(database.read_bytes())
    page = content[(root - 1) * 4096:root * 4096]
    assert page[0] == 5, "the table has more than one page"
    cells = int.from_bytes(page[3:5], "big")
    pointer = 12 + 2 * (cells // 2)
    cell = int.from_bytes(page[pointer:pointer + 2], "big")
    leaf = int.from_bytes(page[cell:cell + 4], "big")
    content[(leaf - 1) * 4096:leaf * 4096] = b"\xff" * 4096
    database.write_bytes(content)


class Corrupt(GatewayCase):
    def set_aside(self, stack):
        """Databases set aside, their logs not counted."""
        return len([path for path in stack.state.glob("gateway.db.corrupt-*") if not path.name.endswith(("-wal", "-shm"))])

    def damaged(self):
        """A stack whose database was synced halfway to the server's knowledge, then damaged."""
        stack = self.stack(bands=1)
        stack.start()
        self.wait_until_calm(stack)
        stack.daemon.stop()
        database = stack.state / "gateway.db"
        whole = stack.directory / "whole.db"
        shutil.copy(database, whole)
        with open(database, "r+b") as file:
            for page in range(1, database.stat().st_size // 4096):
                file.seek(page * 4096)
                file.write(b"\x5a" * 512)
        acks = len(stack.acks())
        stack.start_daemon()
        self.wait_for_problem(stack, "store_corrupt")
        self.assertFalse(database.exists())
        self.assertEqual(self.set_aside(stack), 1)
        time.sleep(2)
        self.assertEqual(len(stack.acks()), acks, "nothing is acked while the database is lost")
        return stack, database, whole

    def test_it_is_set_aside_and_heals_when_it_is_restored(self):
        stack, database, whole = self.damaged()
        shutil.copy(whole, database)
        database.chmod(0o600)
        self.wait_until_calm(stack)
        self.check_accounts(stack)

    def test_recover_starts_empty_from_what_the_server_knows(self):
        stack, database, _ = self.damaged()
        self.assertNotEqual(stack.command("recover", "--start-empty", check=False).returncode, 0,
                            "not while the daemon runs")
        stack.daemon.stop()
        stack.command("recover", "--start-empty")
        stack.start_daemon()
        self.wait_until_calm(stack)
        self.assertEqual(self.set_aside(stack), 1, "it is never deleted")
        self.check_accounts(stack)

    def test_what_was_acked_and_never_uploaded_is_named_storage_lost(self):
        stack = self.stack(bands=1)
        stack.start()
        # It owns the band, and goes on while the server is away.
        self.wait_until_calm(stack)
        stack.server.stop()
        acks = len(stack.acks())
        self.record_more(stack)
        stack.wait(lambda: len(stack.acks()) > acks, "acks of what never went up", pause=0.3)
        self.wait_until_calm(stack, uploaded=False)
        stack.daemon.stop()
        (stack.state / "gateway.db").write_bytes(b"\x5a" * 65536)
        stack.start_daemon()
        self.wait_for_problem(stack, "store_corrupt")
        stack.daemon.stop()
        stack.command("recover", "--start-empty")
        stack.sim.stop()
        stack.sim.command += ["--record-every", "500"]
        stack.start_server().start_sim().start_daemon()
        stack.wait(lambda: "storage_lost" in stack.command("--json", "gaps"), "the gap", pause=0.3)
        stack.sim.stop()
        del stack.sim.command[-2:]
        stack.start_sim()
        self.wait_until_calm(stack)
        stack.wait(lambda: stack.query(stack.store, "SELECT count(*) FROM gaps")[0][0] > 0, "the gap on the server",
                   pause=0.3)
        self.check_accounts(stack, allowed=["storage_lost"])

    def test_a_newer_schema_is_refused_and_left_alone(self):
        stack = self.stack(bands=1)
        stack.start()
        self.wait_until_calm(stack)
        stack.daemon.stop()
        connection = sqlite3.connect(stack.state / "gateway.db")
        connection.execute("PRAGMA user_version = 4711")
        connection.close()
        before = (stack.state / "gateway.db").read_bytes()
        stack.start_daemon()
        self.wait_for_problem(stack, "store_newer_schema")
        self.assertEqual((stack.state / "gateway.db").read_bytes(), before)


class Moved(GatewayCase):
    """Somebody takes the database away from a daemon that runs, or puts another one in its place."""

    def lines_up(self, records=100):
        """It owns the band, has stored and sent what there was, and goes on while the server is away."""
        stack = self.stack(bands=1, band_options=["--records", str(records), "--seed", "3", "--time-scale", "20"])
        stack.start()
        self.wait_until_calm(stack)
        stack.server.stop()
        return stack

    def record_and_store(self, stack, count=300):
        through = max(ack["seq"] for ack in stack.acks())
        self.record(stack, count)
        stack.wait(lambda: stack.acks()[-1]["seq"] >= through + count, "acks", pause=0.3)

    def expect_no_acks(self, stack, count=300):
        """Records that come now stay on the band."""
        acks = len(stack.acks())
        self.record(stack, count)
        stack.command("sync", check=False)
        self.wait_for_problem(stack, "store_corrupt")
        time.sleep(2)
        self.assertEqual(len(stack.acks()), acks, "what is not kept is not acked")

    def test_nothing_is_acked_once_it_is_removed(self):
        stack = self.lines_up()
        for name in ("gateway.db", "gateway.db-wal", "gateway.db-shm"):
            (stack.state / name).unlink()
        self.expect_no_acks(stack)
        stack.daemon.stop()
        stack.command("recover", "--start-empty")
        stack.start_server().start_daemon()
        self.wait_until_calm(stack)
        self.check_accounts(stack)

    def test_one_that_is_renamed_goes_on_when_it_is_back(self):
        stack = self.lines_up()
        self.record_and_store(stack)
        (stack.state / "gateway.db").rename(stack.state / "elsewhere")
        self.expect_no_acks(stack)
        (stack.state / "elsewhere").rename(stack.state / "gateway.db")
        stack.start_server()
        self.wait_until_calm(stack)
        self.check_accounts(stack)

    def test_nothing_is_lost_with_the_log(self):
        stack = self.lines_up()
        self.record_and_store(stack)
        (stack.state / "gateway.db-wal").unlink()
        self.record_and_store(stack)
        stack.daemon.kill()
        stack.start_server().start_daemon()
        self.wait_until_calm(stack)
        self.check_accounts(stack)

    def test_an_older_copy_that_takes_its_place_is_what_counts(self):
        stack = self.lines_up()
        source = sqlite3.connect(f"file:{stack.state}/gateway.db?mode=ro", uri=True)
        copy = sqlite3.connect(stack.directory / "copy.db")
        source.backup(copy)
        source.close()
        copy.close()
        shutil.move(stack.directory / "copy.db", stack.state / "gateway.db")
        (stack.state / "gateway.db").chmod(0o600)
        self.record_and_store(stack)
        # What is acked is in the copy.
        stack.daemon.kill()
        stack.start_server().start_daemon()
        self.wait_until_calm(stack)
        self.check_accounts(stack)
