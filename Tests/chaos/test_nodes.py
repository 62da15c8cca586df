"""Two ingest nodes on one PostgreSQL: killed under load, one after the other, then the database; nothing is lost, nothing is there
twice, and both nodes say the same."""

import os
import random
import threading
import time
import types
import unittest

import judge
from clients import Balancer, Client
from nodes import DEADLINE, Cluster, Stack
from proxy import Proxy

# Two devices of one client each, and one that three clients send at the same time.
SHARED = "band_F0F1F2F3F4F9"
DEVICES = {"band_F0F1F2F3F4F0": ("0000aaaa", 1), "band_F0F1F2F3F4F1": ("0000bbbb", 1), SHARED: ("0000cccc", 3)}


class Nodes(unittest.TestCase):
    def setUp(self):
        self.seed = int(os.environ.get("BANDFERRY_CHAOS_SEED") or random.SystemRandom().randrange(1 << 30))
        self.count = int(os.environ.get("BANDFERRY_CHAOS_SAMPLES") or 6000)
        print(f"seed {self.seed}: {self.count} samples a device", flush=True)
        self.cluster = Cluster(2)
        self.addCleanup(self.close)
        self.balancer = Balancer(self.cluster.nodes)
        choice = random.Random(self.seed)
        disputed = frozenset(choice.sample(range(1, self.count + 1), self.count // 50))
        self.clients = []
        for device, (ring, clients) in DEVICES.items():
            for _ in range(clients):
                index = len(self.clients)
                self.clients.append(Client(
                    index, device, ring, self.count, 2, choice.random(), self.balancer, self.cluster.token,
                    disputed if device == SHARED else frozenset()))

    def close(self):
        for client in self.clients:
            client.stopped.set()
        self.assertEqual(self.cluster.close(), [])

    def share_done(self):
        return sum(len(client.said) for client in self.clients) / (self.count * 2 * len(self.clients))

    def until(self, share, in_hand=()):
        """So much is done, and these nodes have a request in hand: a kill then is one under load."""
        end = time.monotonic() + DEADLINE
        while True:
            failed = [client.failure for client in self.clients if client.failure]
            if failed:
                raise failed[0]
            if self.share_done() >= share and all(self.balancer.in_hand[node.name] for node in in_hand):
                return
            self.assertLess(time.monotonic(), end, f"{share} was not done in time; {self.share_done():.2f} is")
            self.assertTrue(any(client.is_alive() for client in self.clients), "the clients were done before the kills")
            time.sleep(0.001)

    def test_nothing_is_lost_and_nothing_is_there_twice(self):
        one, two = self.cluster.start().nodes
        for client in self.clients:
            client.start()
        for share, node in [(0.1, one), (0.3, two)]:
            self.until(share, in_hand=[node])
            node.kill()
            # The other one carries on.
            answered = sum(client.answered for client in self.clients)
            Stack.wait(lambda: sum(client.answered for client in self.clients) > answered + 3, "the node that is left", DEADLINE)
            node.start()
        self.until(0.5, in_hand=[one, two])
        self.cluster.database.kill()
        time.sleep(0.5)
        self.cluster.database.start()
        self.until(0.7, in_hand=[one, two])
        # Everything at once.
        one.kill()
        self.cluster.database.kill()
        self.cluster.database.start()
        one.start()
        for client in self.clients:
            client.join(DEADLINE)
            self.assertFalse(client.is_alive(), f"{client.name} did not end")
            if client.failure:
                raise client.failure
        for node in self.cluster.nodes:
            self.assertTrue(node.process.running, f"{node.name} ended: {node.process.text()[-1000:]}")
        self.report()
        self.assertEqual(self.problems()[:10], [])

    def report(self):
        sums = {name: sum(getattr(client, name) for client in self.clients)
                for name in ("requests", "answered", "unanswered", "refused")}
        samples = sum(len(client.said) for client in self.clients)
        print(f"    {len(DEVICES) * self.count} keys, {samples} samples answered, {sums}", flush=True)
        # Without that the test would prove nothing.
        self.assertGreater(sums["unanswered"], 0, "no kill hit a request")

    def problems(self):
        problems = []
        listed = [node.devices() for node in self.cluster.nodes]
        if listed[0] != listed[1]:
            problems.append("the nodes list different devices")
        for device, (ring, _) in DEVICES.items():
            clients = [client for client in self.clients if client.device == device]
            stored = [node.samples(device) for node in self.cluster.nodes]
            if stored[0] != stored[1]:
                problems.append(f"{device}: the nodes give different pages")
            problems += judge.device([sample for client in clients for sample in client.said], stored[0], device)
            problems += self.state_problems(device, ring, listed[0].get(device), stored[0])
            problems += self.count_problems(device, clients)
            problems += self.trend_problems(device, stored[0])
        return problems

    def state_problems(self, device, ring, state, stored):
        if state is None:
            return [f"{device} is not listed"]
        problems = []
        if state["counts"] != judge.counts(stored):
            problems.append(f"{device}: counts {state['counts']}, stored {judge.counts(stored)}")
        if [(entry["ring"], entry["complete_through"]) for entry in state["rings"]] != [(ring, self.count)]:
            problems.append(f"{device}: rings {state['rings']}")
        return problems

    def count_problems(self, device, clients):
        """What was new was new once; a request without an answer may have been the one that made it so."""
        accepted = sum(client.answers["accepted"] for client in clients)
        in_doubt = sum(client.in_doubt for client in clients)
        if accepted <= self.count <= accepted + in_doubt:
            return []
        return [f"{device}: {accepted} accepted, {in_doubt} in doubt, of {self.count} keys"]

    def trend_problems(self, device, stored):
        days = judge.step_days(stored)
        query = {"device_id": device, "type": "steps", "from": min(days), "to": max(days)}
        answers = [node.get("/v1/aggregates", **query) for node in self.cluster.nodes]
        if answers[0] != answers[1]:
            return [f"{device}: the nodes give different trends"]
        found = {bucket["local_date"]: (bucket["count"], bucket["sum"]) for bucket in answers[0]["buckets"] if bucket["count"]}
        return [] if found == days else [f"{device}: steps by day {found}, not {days}"]


class NodesThatStop(unittest.TestCase):
    """SIGTERM instead of a kill: who is told 503 tries the other one."""

    def test_a_node_that_is_replaced_costs_nobody_an_answer(self):
        cluster = Cluster(2).start()
        self.addCleanup(lambda: self.assertEqual(cluster.close(), []))
        balancer = Balancer(cluster.nodes)
        client = Client(0, SHARED, "0000cccc", 3000, 1, 7, balancer, cluster.token, frozenset())
        client.start()
        for node in cluster.nodes:
            answered = client.answered
            Stack.wait(lambda: client.answered > answered or client.failure, "an answer", DEADLINE)
            self.assertEqual(node.process.stop(), 0)
            node.start()
        client.join(DEADLINE)
        self.assertIsNone(client.failure)
        self.assertEqual(client.unanswered, 0)
        self.assertEqual(judge.device(client.said, cluster.nodes[0].samples(SHARED), SHARED), [])
        self.assertEqual(client.answers["accepted"], 3000)


class ANodeThatLies(unittest.TestCase):
    """A test of these tests: answers without a commit are found out."""

    def test_it_is_found_out(self):
        cluster = Cluster(1).start()
        self.addCleanup(lambda: self.assertEqual(cluster.close(), []))
        proxy = Proxy(cluster.nodes, ["liar"], 1).start()
        self.addCleanup(proxy.close)
        front = types.SimpleNamespace(name="liar", port=proxy.ports["liar"])
        client = Client(0, SHARED, "0000cccc", 3000, 1, 7, Balancer([front]), cluster.token, frozenset())
        client.start()
        Stack.wait(lambda: client.answered > 2 or client.failure, "an answer", DEADLINE)
        proxy.lies = True
        client.join(DEADLINE)
        self.assertIsNone(client.failure)
        found = judge.device(client.said, cluster.nodes[0].samples(SHARED), SHARED)
        self.assertIn("was answered and is not there", found[0])


class OneNodeMigrates(unittest.TestCase):
    """Two nodes that start at once on an empty database."""

    def test_both_come_up(self):
        cluster = Cluster(2)
        self.addCleanup(lambda: self.assertEqual(cluster.close(), []))
        # The account's commands made the tables: begin again.
        cluster.store = cluster.database.database("another")
        nodes = [type(cluster.nodes[0])(cluster, index) for index in (0, 1)]
        token_file = cluster.directory / "tokens"
        token_file.write_text(f"{cluster.token} home\n{cluster.reader} home read\n")
        token_file.chmod(0o600)
        for node in nodes:
            node.process.command += ["--token-file", str(token_file)]
        cluster.nodes = nodes
        starts = [threading.Thread(target=node.start) for node in nodes]
        for start in starts:
            start.start()
        for start in starts:
            start.join(DEADLINE)
        self.assertTrue(all(node.process.running for node in nodes))
        self.assertEqual([node.get("/v1/devices") for node in nodes], [{"devices": []}] * 2)


if __name__ == "__main__":
    unittest.main()
