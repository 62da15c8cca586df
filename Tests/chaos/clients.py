"""Clients that upload by ingest API 1 through whichever node is there, as gateways behind a plain load balancer do."""

import gzip
import http.client
import json
import random
import threading
import time
import uuid

RAW = ("value", "band_time_ms", "clock_id", "flags")
TYPES = ("heart_rate", "steps", "spo2", "sleep_stage")
START_MS = 1_793_079_060_000


def time_text(milliseconds):
    seconds, rest = divmod(milliseconds, 1000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{rest:03d}Z"


def raw(device, seq, twist=0):
    """What a band gave: nothing else than its number decides it. `twist`: what differs in a conflict."""
    choice = random.Random(f"{device} {seq}")
    kind = TYPES[choice.choices(range(4), (12, 6, 1, 1))[0]]
    value = {"heart_rate": 50 + choice.randrange(100), "steps": choice.randrange(200),
             "spo2": 900 + choice.randrange(90), "sleep_stage": choice.randrange(4)}[kind]
    return {"type": kind, "seq": seq, "value": value, "band_time_ms": START_MS + seq * 20_000 + twist, "clock_id": 3,
            "flags": choice.choice([1, 1, 1, 0]), "provenance": "device", "tz_offset_min": choice.choice([330, 330, 60])}


def statement(device, seq, client, round_number, disputed):
    """What one client says of a sample. Of two clients one is better, so that it never matters who was first; but in
    what the band gave, where the first one stays."""
    choice = random.Random(f"{device} {seq} {client} {round_number}")
    sample = raw(device, seq, twist=client if disputed else 0)
    bound = 10 * choice.randrange(1, 1000) + client
    moment = sample["band_time_ms"] + choice.randrange(-2000, 2000)
    return {**sample, "recorded_at": time_text(moment), "time_bound_ms": bound, "version": 1 + 2 * round_number + choice.randrange(2)}


class Balancer:
    """Round-robin over the nodes, with who has a request in hand."""

    def __init__(self, nodes):
        self.nodes, self.turn, self.lock = nodes, 0, threading.Lock()
        self.in_hand = {node.name: 0 for node in nodes}

    def take(self):
        with self.lock:
            node = self.nodes[self.turn % len(self.nodes)]
            self.turn += 1
            self.in_hand[node.name] += 1
            return node

    def give(self, node):
        with self.lock:
            self.in_hand[node.name] -= 1


class Client(threading.Thread):
    """Sends all of a device's samples, `rounds` times, each batch again until it is answered."""

    def __init__(self, index, device, ring, count, rounds, seed, balancer, token, disputed):
        super().__init__(name=f"client {index}", daemon=True)
        self.index, self.device, self.ring, self.count, self.rounds = index, device, ring, count, rounds
        self.random, self.balancer, self.token, self.disputed = random.Random(seed), balancer, token, disputed
        self.said = []
        self.answers = {"accepted": 0, "duplicates": 0, "corrected": 0, "conflicts": 0}
        self.requests = self.unanswered = self.answered = self.refused = 0
        # Samples of requests whose answer never came: nobody can tell whether they were new.
        self.in_doubt = 0
        self.failure = None
        self.stopped = threading.Event()

    def run(self):
        try:
            for round_number in range(self.rounds):
                seq = 1
                while seq <= self.count and not self.stopped.is_set():
                    last = min(self.count, seq + self.random.choice([1, 40, 300, 500]) - 1)
                    samples = [statement(self.device, number, self.index, round_number, number in self.disputed)
                               for number in range(seq, last + 1)]
                    self.send(samples, last)
                    seq = last + 1
        except BaseException as failure:  # the test raises it
            self.failure = failure

    def send(self, samples, through):
        batch = {"device_id": self.device, "ring": self.ring, "sync_id": str(uuid.uuid4()), "sample_count": len(samples),
                 "complete_through": through, "samples": samples}
        body = gzip.compress(json.dumps(batch).encode(), 1)
        while not self.stopped.is_set():
            answer = self.attempt(body, len(samples))
            if answer is None:
                time.sleep(self.random.uniform(0.01, 0.15))
                continue
            self.judge(answer, batch)
            self.said += samples
            return

    def attempt(self, body, count):
        """The answer; None when there is none or the server says that it can't."""
        node = self.balancer.take()
        self.requests += 1
        connection = http.client.HTTPConnection("127.0.0.1", node.port, timeout=30)
        try:
            connection.request("POST", "/v1/samples:batch", body, {
                "Authorization": f"Bearer {self.token}", "Content-Type": "application/json", "Content-Encoding": "gzip"})
            answer = connection.getresponse()
            text = answer.read()
        except ConnectionRefusedError:
            self.refused += 1
            return None
        except (OSError, http.client.HTTPException):
            self.unanswered += 1
            self.in_doubt += count
            return None
        finally:
            connection.close()
            self.balancer.give(node)
        if answer.status == 503:
            # "It can't be stored now" may come after a commit whose outcome the node could not learn.
            assert json.loads(text)["error"]["code"] == "server_error", text
            assert answer.getheader("Retry-After"), "503 without Retry-After"
            self.refused += 1
            self.in_doubt += count
            return None
        assert answer.status == 200, f"{node.name}: {answer.status} {text[:300]!r}"
        self.answered += 1
        return json.loads(text)

    def judge(self, answer, batch):
        counts = [answer["accepted"], answer["duplicates"], answer["corrected"], len(answer["conflicts"]), len(answer["rejected"])]
        assert answer["sync_id"] == batch["sync_id"], "an answer to another batch"
        assert sum(counts) == batch["sample_count"], f"the counts {counts} are not {batch['sample_count']}"
        assert not answer["rejected"], answer["rejected"][:2]
        for sample in batch["samples"]:
            assert answer["ack_seq"].get(sample["type"], 0) >= sample["seq"], f"seq {sample['seq']} is not confirmed"
        for name, number in zip(self.answers, counts):
            self.answers[name] += number
