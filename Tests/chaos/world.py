"""One life of the whole line: two gateways on one band, two nodes on one PostgreSQL, a bad network between them, and kills."""

import json
import random
import signal
import subprocess
import sys
import time

from gateway import Gateway
from nodes import BINARIES, DEADLINE, HERE, Cluster, Stack
from proxy import BAD_WEATHER, Proxy
from stack import Process, address, device_id

import judge

sys.path.insert(0, str(HERE.parent / "faults"))

import ledger  # noqa: E402

# Faults of the bands, and what they may truly cost.
FAULTS = [
    ("", ()), ("", ()), ("drop:0.02", ()), ("duplicate:0.1", ()), ("reorder:0.05", ()), ("disconnect:0.02", ()), ("lostack:0.4", ()),
    ("lateend:0.5", ()), ("slow:300", ()), ("connectfails:0.2", ()), ("overwrite@9:60", ("overwritten", "freed_elsewhere")),
    ("absent=77", ("lost_by_band",)), ("unreadable=100", ("unreadable",)), ("reformat@12:80", ("reformatted",)),
]
# A notification holds up to 15 records.
UNDELIVERABLE = {"absent=77": {77}, "unreadable=100": set(range(86, 116))}
MODES = [("own", "observe"), ("observe", "own"), ("observe", "observe"), ("observe", "observe"), ("own", "own")]
# Restarts after which both gateways have compared everything with the server; each begins with a look.
ROUNDS = 6


class World:
    """`lies`: from some time on batches are answered as if they had been stored, as a test of this test. To the end: what
    another gateway's comparison with the server finds missing goes up again."""

    def __init__(self, seed, wallclock, lies=False):
        self.seed, self.random, self.lies = seed, random.Random(seed), lies
        choice = self.random
        self.fault, self.causes = choice.choice(FAULTS)
        self.modes = choice.choice(MODES)
        self.records = choice.choice([200, 800, 2000])
        self.window = choice.choice([0, 8, 64])
        self.bands = [address(index) for index in range(choice.choice([1, 1, 2]))]
        self.starts_offline = choice.random() < 0.5
        self.batch = choice.choice([20, 60, 500])
        self.seconds = choice.uniform(18, 28)
        self.done = {"kills": {}, "other": {}}
        self.problems = []
        self.down = {}
        self.asked = []
        self.story = []
        self.cluster = Cluster(2)
        self.proxy = Proxy(self.cluster.nodes, ["a", "b"], choice.random())
        directory = self.cluster.directory
        self.gateways = [
            Gateway(name, index, directory, {band: self.modes[index] for band in self.bands}, self.cluster.token, wallclock,
                    self.batch)
            for index, name in enumerate("ab")]
        self.band_state, self.ack_log = directory / "bands", directory / "acks"
        a, b = self.gateways
        options = ["--records", str(self.records), "--seed", str(seed), "--window", str(self.window), "--time-scale", "20",
                   "--drift", str(choice.randrange(-60, 60)), "--clock-offset", str(choice.choice([0, 0, 25_200_000, -630_720_000_000]))]
        if self.fault:
            options += ["--faults", self.fault]
        self.sim = Process(
            "bandsim", [str(BINARIES / "bandsim"), "bus", "--address", a.bus_address, "--also-on", b.bus_address,
                        "--bands", str(len(self.bands)), "--first-address", self.bands[0], "--state", str(self.band_state),
                        "--ack-log", str(self.ack_log), *options], str(directory / "bandsim.log"), {})

    def describe(self):
        counts = {"requests": self.proxy.requests, "batches": self.proxy.batches}
        outcome = getattr(self, "outcome", "no end")
        return (f"seed {self.seed}: {'/'.join(self.modes)}, {len(self.bands)} x {self.records} records, window {self.window}, batches of {self.batch}, "
                f"faults {self.fault or 'none'}; kills {self.done['kills']}, {self.done['other']}, {counts}, deeds {dict(self.proxy.deeds)}; {outcome}")

    def note(self, text):
        self.story.append(f"{time.monotonic() - self.began:6.2f} {text}")

    # the life

    def run(self):
        """What is wrong, as sentences."""
        self.began = time.monotonic()
        try:
            self.start()
            self.live()
            self.come_to_rest()
        except Exception as error:  # a life reports, the others go on
            self.problems.append(f"{type(error).__name__}: {error}")
        finally:
            if self.problems:
                self.problems += self.story[-60:] + self.tails()
            self.close()
        return self.problems

    def start(self):
        self.cluster.start()
        self.proxy.start()
        self.proxy.weather = BAD_WEATHER
        if self.starts_offline:
            self.proxy.unreachable = {"a", "b"}
        for gateway in self.gateways:
            gateway.start_bus()
            gateway.url = f"http://127.0.0.1:{self.proxy.ports[gateway.name]}"
            # Both clocks are right, each a little off in its own way.
            gateway.set_clock(self.random.randrange(-15, 15))
        self.start_sim()
        for gateway in self.gateways:
            gateway.start()

    def start_sim(self):
        offset = len(self.sim.text())
        self.sim.start()
        Stack.wait(lambda: "ready" in self.sim.text()[offset:] or not self.sim.running, "bandsim", DEADLINE)
        assert self.sim.running, self.sim.text()[-2000:]

    def live(self):
        end = time.monotonic() + self.seconds
        half = time.monotonic() + self.seconds / 3
        while time.monotonic() < end:
            time.sleep(self.random.uniform(0.05, 1.2))
            if self.starts_offline and time.monotonic() > half:
                self.starts_offline = False
                self.proxy.unreachable = set()
                self.note("the servers can be reached")
            self.bring_back()
            self.check_alive()
            self.proxy.lies = self.lies and not self.starts_offline
            event = self.random.choices(
                [self.kill_gateway, self.kill_node, self.kill_database, self.kill_sim, self.drop_link, self.measure, self.part, self.worry,
                 self.hand_over, self.ask], [11, 13, 5, 4, 7, 30, 4, 4, 2, 20])[0]
            event()

    def check_alive(self):
        """Only what was killed is dead."""
        for process in [self.sim, *(node.process for node in self.cluster.nodes), *(gateway.daemon for gateway in self.gateways)]:
            assert process.running or process.name in self.down, f"{process.name} had ended by itself with {process.popen.returncode}: {process.text()[-1500:]}"

    def count(self, kind, what):
        self.done[kind][what] = self.done[kind].get(what, 0) + 1

    def fell(self, name, start):
        self.count("kills", name)
        self.note(f"kill {name}")
        self.down[name] = (time.monotonic() + self.random.choice([0, 0, 0.3, 1.5]), start)

    def bring_back(self, everything=False):
        """The database first: a node does not start without it."""
        for name in sorted(self.down, key=lambda name: (name != "database", name)):
            due, start = self.down[name]
            if not everything and (due > time.monotonic() or name.startswith("node") and "database" in self.down):
                continue
            start()
            del self.down[name]
            self.note(f"start {name}")

    # events

    def kill_gateway(self):
        gateway = self.random.choice(self.gateways)
        if gateway.daemon.name in self.down:
            return
        gateway.daemon.kill()
        self.check_acks(gateway)
        if self.random.random() < 0.3:
            gateway.set_clock(self.random.randrange(-15, 15))
        self.fell(gateway.daemon.name, gateway.start)

    def kill_node(self):
        node = self.random.choice(self.cluster.nodes)
        if node.name not in self.down:
            node.kill()
            self.fell(node.name, node.start)

    def kill_database(self):
        if "database" not in self.down:
            self.cluster.database.kill()
            self.fell("database", self.cluster.database.start)

    def kill_sim(self):
        if "bandsim" not in self.down:
            self.sim.kill()
            self.fell("bandsim", self.start_sim)

    def drop_link(self):
        self.control(self.random.choice(self.gateways), "Disconnect")
        self.count("other", "links cut")

    def measure(self):
        count = self.random.choice([1, 5, 40, 150])
        self.control(self.gateways[0], "Record", f"uint32:{count}")
        self.count("other", "measured")

    def part(self):
        """One gateway has no network for a while, or has it again."""
        name = self.random.choice("ab")
        self.proxy.unreachable = set() if self.proxy.unreachable else {name}
        self.count("other", "partitions")

    def worry(self):
        """Nobody vouches for one host's clock any more, which is some seconds off."""
        gateway = self.random.choice(self.gateways)
        gateway.set_clock(self.random.randrange(-8_000, 8_000), False)
        self.count("other", "clocks lost")

    def ask(self):
        """Somebody asks for the upload now: it does not sit out its waits."""
        gateway = self.random.choice(self.gateways)
        if gateway.daemon.name not in self.down:
            self.asked.append(gateway.ask("upload", "now", "--wait", "0"))
            self.count("other", "asked")

    def hand_over(self):
        """Owner and observer change, both with a restart. Never are two owners made of one."""
        a, b = self.gateways
        if self.modes[0] == self.modes[1] or a.daemon.name in self.down or b.daemon.name in self.down:
            return
        a.bands, b.bands = b.bands, a.bands
        for gateway in (a, b):
            gateway.daemon.kill()
            self.check_acks(gateway)
        for gateway in (a, b):
            gateway.start()
        self.count("other", "handed over")
        self.note("hand over")

    def control(self, gateway, method, *values):
        if not self.sim.running:
            return
        band = self.random.choice(self.bands)
        path = "/org/bandferry/simulator/dev_" + band.replace(":", "_")
        subprocess.run(
            ["dbus-send", f"--bus={gateway.bus_address}", "--dest=org.bandferry.Simulator1", "--print-reply=literal", path,
             f"org.bandferry.Simulator1.{method}", *values], check=True, timeout=DEADLINE, stdout=subprocess.DEVNULL)

    def check_acks(self, gateway):
        """What a gateway let the band free lies in its database, or was confirmed by the server."""
        acks = [line for line in self.acks() if line["host"] == gateway.index]
        if acks:
            self.problems += [f"gateway {gateway.name}: {text}" for text in ledger.acks_ahead(acks, gateway.state / "gateway.db")]

    def acks(self):
        if not self.ack_log.exists():
            return []
        return [json.loads(line) for line in self.ack_log.read_text().splitlines() if line.endswith("}")]

    # the end

    def come_to_rest(self):
        self.note("rest")
        self.bring_back(everything=True)
        for asked in self.asked:
            asked.wait(DEADLINE)
        self.proxy.clear_up()
        self.proxy.lies = self.lies
        for gateway in self.gateways:
            gateway.set_clock(0)
        last, problems = None, []
        for number in range(ROUNDS):
            # A start looks at all that another gateway may have said; it also ends every wait after a failure.
            for gateway in self.gateways:
                status = gateway.daemon.stop(DEADLINE)
                # One that was started a moment ago does not listen to signals yet.
                if status not in (0, -signal.SIGTERM):
                    self.problems.append(f"gateway {gateway.name} ended with {status}")
                self.check_acks(gateway)
            for gateway in self.gateways:
                gateway.start()
            self.wait_until_quiet()
            now = self.sides()
            problems = self.compare(now)
            self.note(f"round {number + 1}: {len(problems)} problems, {'as before' if now == last else 'changed'}")
            if now == last:
                break
            if last is not None:
                self.note(self.changes(last, now))
            last = now
        else:
            problems.append(f"the sides go on changing after {ROUNDS} restarts")
        self.problems += judge.some(problems)

    def wait_until_quiet(self):
        heard = dict(self.proxy.heard)

        def is_quiet():
            """Both have asked the servers and read the bands to their ends since their start, and nobody asks any more."""
            return (self.proxy.quiet_for() > 3 and all(self.proxy.heard[gateway.name] > heard[gateway.name] for gateway in self.gateways)
                    and all(gateway.has_read_all() and gateway.is_calm() for gateway in self.gateways))

        try:
            Stack.wait(is_quiet, "everything to be synced and uploaded", deadline=240, pause=0.5)
        except AssertionError as error:
            states = [(gateway.name, gateway.waiting(), gateway.status()) for gateway in self.gateways]
            raise AssertionError(f"{error}: {states}") from None

    def sides(self):
        """What everybody has: (samples, gaps, devices) of each node, samples and gaps of each gateway."""
        devices = [device_id(band) for band in self.bands]
        nodes = [([sample for device in devices for sample in node.samples(device)],
                  [{"device_id": device, **gap} for device in devices for gap in node.gaps(device)],
                 # Each start brings a new status.
                 {device: {**state, "status": None} for device, state in node.devices().items()})
                for node in self.cluster.nodes]
        return nodes, {gateway.name: (gateway.samples(), gateway.gaps()) for gateway in self.gateways}

    @staticmethod
    def changes(before, after):
        """Where two looks differ, in a line."""
        def parts(sides):
            nodes, gateways = sides
            named = {f"node {index + 1}": node for index, node in enumerate(nodes)}
            return {(name, index): part for name, side in {**named, **gateways}.items() for index, part in enumerate(side)}

        left, right = parts(before), parts(after)
        lines = []
        for place in left:
            if left[place] == right[place]:
                continue
            rows = [row for row in right[place] if row not in left[place]] if isinstance(left[place], list) else [right[place]]
            gone = [row for row in left[place] if row not in right[place]] if isinstance(left[place], list) else [left[place]]
            lines.append(f"{place}: {len(rows)} changed, {rows[:1]} instead of {gone[:1]}")
        return "; ".join(lines)

    def compare(self, sides):
        nodes, gateways = sides
        problems = []
        if nodes[0] != nodes[1]:
            problems.append("the nodes say different things")
        samples, gaps, states = nodes[0]
        for band in self.bands:
            own = [sample for sample in samples if sample["device_id"] == device_id(band)]
            problems += judge.pages(own, device_id(band))
            counts = states.get(device_id(band), {}).get("counts")
            if counts != judge.counts(own):
                problems.append(f"{device_id(band)}: counts {counts}, stored {judge.counts(own)}")
        beside = self.cluster.database.query("ingest", "SELECT count(*) FROM conflicts")
        if beside != [["0"]]:
            problems.append(f"{beside} samples are kept beside others")
        truth = self.truth()
        line = judge.Line(
            truth, device_id, {"server": samples, **{name: rows for name, (rows, _) in gateways.items()}},
            {"server": [judge.api_gap(gap) for gap in gaps], **{name: rows for name, (_, rows) in gateways.items()}},
            UNDELIVERABLE.get(self.fault, ()), self.causes)
        problems += line.problems()
        problems += self.complete_through(states, line)
        self.outcome = (f"{len(line.records)} records, {len(samples)} on the server, {line.shared()} on all sides, "
                        f"{len(gaps)} gaps, {len(line.lost)} lost by the band")
        return problems

    def complete_through(self, states, line):
        """Whoever is new to the band may let it free what the server says that it has."""
        problems = []
        newest = {}
        for device, ring, seq in line.records:
            newest[device, ring] = max(newest.get((device, ring), 0), seq)
        named = line.named("server")
        for device, state in states.items():
            for ring in state["rings"]:
                through = ring["complete_through"] or 0
                problems += [f"{place}: the server says that it is complete through {through}" for place in line.records
                             if place[:2] == (device, ring["ring"]) and place[2] <= through
                             and place not in line.server and place not in named]
        return problems

    def truth(self):
        output = subprocess.run(
            [str(BINARIES / "bandsim"), "truth", "--state", str(self.band_state)], capture_output=True, text=True,
            timeout=DEADLINE, check=True).stdout
        return [json.loads(line) for line in output.splitlines()]

    # afterwards

    def close(self):
        for process in [*(gateway.daemon for gateway in self.gateways), self.sim, *(gateway.bus for gateway in self.gateways)]:
            try:
                process.stop(DEADLINE)
            except AssertionError as error:
                self.problems.append(str(error))
        self.proxy.close()
        self.problems += self.cluster.close()

    def tails(self):
        processes = [*(gateway.daemon for gateway in self.gateways), *(node.process for node in self.cluster.nodes), self.sim]
        return [f"--- {process.name}\n{process.text()[-1500:]}" for process in processes]
