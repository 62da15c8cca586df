"""One seeded run: bands with faults, kills at random moments, then quiet, then the accounts."""

import pathlib
import random
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lab"))

import ledger  # noqa: E402
from stack import Stack, device_id  # noqa: E402

# Every fault of the simulator, with what it may truly cost.
FAULTS = [
    ("", ()),
    ("drop:0.03", ()),
    ("duplicate:0.1", ()),
    ("truncate:0.02", ()),
    ("badversion:0.02", ()),
    ("badkind:0.02", ()),
    ("badorder:0.02", ()),
    ("reorder:0.05", ()),
    ("empty:0.03", ()),
    ("disconnect:0.02", ()),
    ("stall@9", ()),
    ("noend@1", ()),
    ("lateend:0.5", ()),
    ("lostack:0.4", ()),
    ("slow:300", ()),
    ("overwrite@8:60", ("overwritten", "freed_elsewhere")),
    ("reformat@9:80", ("reformatted",)),
    ("rollback@10:60", ()),
    ("clockstep@7", ()),
    ("badtype:0.01", ()),
    ("badms:0.01", ()),
    ("badoffset:0.01", ()),
    ("badvalue:0.01", ()),
    ("unreadable=100", ("unreadable",)),
    ("absent=77", ("lost_by_band",)),
    ("connect-fails:0.3", ()),
    ("late-services:0.3", ()),
    ("no-objects@2", ()),
    ("vanish@2", ()),
    ("never-answer:ReadValue@5", ()),
    ("failcall:WriteValue@4", ()),
]


class Run:
    def __init__(self, seed, binaries, powercut, synchronous=None):
        self.seed, self.random = seed, random.Random(seed)
        # Three in a row at one seq are named by the rules of the profile, whatever caused them.
        self.faults = [FAULTS[seed % len(FAULTS)], FAULTS[self.random.randrange(len(FAULTS))]]
        self.bands = self.random.choice([1, 2, 3])
        environment = {"POWERCUT_SEED": str(seed + 1)}
        if synchronous:
            environment["POWERCUT_SYNCHRONOUS"] = synchronous
        script = ",".join(text for text, _ in self.faults if text)
        options = ["--records", str(self.random.choice([200, 800, 2500])), "--seed", str(seed),
                   "--window", str(self.random.choice([0, 8, 64])), "--time-scale", "20"]
        if script:
            options += ["--faults", script]
        if self.random.random() < 0.25:
            options += ["--no-acquire-notify"]
        if self.random.random() < 0.25:
            options += ["--mtu", "23"]
        self.options = options
        self.stack = Stack(
            binaries, bands=self.bands, band_options=options, gateway_options=["sync_interval = 1"],
            powercut=powercut, powercut_environment=environment)
        self.problems = []

    @property
    def allowed(self):
        return {"unreadable", "lost_by_band"}.union(*(causes for _, causes in self.faults))

    def describe(self):
        return f"seed {self.seed}: {self.bands} bands, {' '.join(self.options)}"

    def run(self):
        """The problems found, as sentences."""
        try:
            self.stack.start()
            self._kill_at_random()
            self._wait_until_quiet()
            self._account()
        except Exception as error:  # a run reports, the others go on
            self.problems.append(f"{type(error).__name__}: {error}")
        finally:
            if self.problems:
                self.problems += self._tails()
            try:
                self.stack.close()
            except AssertionError as error:
                self.problems.append(str(error))
        return self.problems

    def _kill_at_random(self):
        stack = self.stack
        for _ in range(self.random.randint(1, 4)):
            time.sleep(self.random.uniform(0.05, 1.5))
            victim = self.random.choice(["daemon", "daemon", "server", "sim"])
            process = getattr(stack, victim)
            if not process.running:
                self.problems.append(f"{process.name} had ended by itself")
                return
            process.kill()
            if victim == "daemon":
                self.problems += ledger.acks_ahead(stack.acks(), stack.state / "gateway.db")
            time.sleep(self.random.uniform(0, 0.3))
            getattr(stack, f"start_{victim}")()

    def _wait_until_quiet(self):
        """Twice in a row everything is read and confirmed."""
        quiet = 0

        def is_quiet():
            nonlocal quiet
            answer = self.stack.command("--json", "status", check=False)
            calm = answer.returncode == 0 and self._is_calm(answer.stdout)
            quiet = quiet + 1 if calm else 0
            return quiet >= 3

        self.stack.wait(is_quiet, "everything to be synced and uploaded", deadline=240, pause=0.5)

    def _is_calm(self, text):
        import json
        bands = json.loads(text)["bands"]
        return len(bands) == self.bands and all(
            band["pending"] == 0 and band["problem"] is None and band["next_seq"] is not None
            and band["newest_seq"] is not None and band["next_seq"] > band["newest_seq"] for band in bands)

    def _account(self):
        stack = self.stack
        stack.daemon.stop()
        stack.server.stop()
        stack.sim.stop()
        self.problems += ledger.acks_ahead(stack.acks(), stack.state / "gateway.db")
        self.problems += ledger.check(stack.truth(), ledger.Server(stack.store), device_id, self.allowed)

    def _tails(self):
        return [f"--- {process.name}\n{process.text()[-1500:]}"
                for process in [self.stack.daemon, self.stack.server, self.stack.sim]]
