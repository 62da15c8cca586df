"""Trends that the gateway computes offline and the server computes from what was uploaded: bucket by bucket the same."""

import json
import os
import random
import urllib.parse
import urllib.request

from bed import GatewayCase, device_id

TYPES = ["heart_rate", "steps", "spo2", "sleep_stage"]


class Trends(GatewayCase):
    def server_trends(self, stack, **query):
        url = f"http://127.0.0.1:{stack.port}/v1/aggregates?" + urllib.parse.urlencode(query)
        request = urllib.request.Request(url, headers={"Authorization": f"Bearer {stack.token}"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def check_agreement(self, stack, days, bucket, zone, subject):
        hours = ["--hours"] if bucket == "hour" else []
        option, api = {"band": ("--device", "device_id"), "person": ("--person", "person")}[subject[0]]
        filled = 0
        for kind in TYPES:
            local = json.loads(stack.command(
                "--json", "trends", "--days", str(days), "--type", kind, "--tz", zone, option, subject[1], *hours))
            local = local[0] if isinstance(local, list) else local
            first, last = local["buckets"][0]["local_date"], local["buckets"][-1]["local_date"]
            remote = self.server_trends(
                stack, **{api: subject[1], "type": kind, "from": first, "to": last, "bucket": bucket, "tz": zone})
            what = f"seed {self.seed}: {kind} by {bucket} in {zone} of {subject[1]}"
            self.assertEqual(len(local["buckets"]), len(remote["buckets"]), what)
            for here, there in zip(local["buckets"], remote["buckets"]):
                self.assertEqual(here, there, what)
            filled += sum(1 for one in local["buckets"] if one["count"])
        return filled

    def test_the_gateway_and_the_server_agree_bucket_by_bucket(self):
        self.seed = int(os.environ.get("BANDFERRY_SEED") or random.randrange(1, 1 << 31))
        print(f"seed {self.seed}", flush=True)
        choice = random.Random(self.seed)
        lost = sorted(choice.sample(range(100, 3_900), 5))
        offset = choice.choice(["unknown", "330", "-300", "765"])
        stack = self.stack(
            bands=2,
            band_options=[
                "--records", "4000", "--seed", str(self.seed), "--interval", "300000", "--time-scale", "20",
                "--clock-steps", str(choice.randrange(2)), "--drift", "40", "--utc-offset", offset,
                "--faults", ",".join(f"absent={seq}" for seq in lost)],
            gateway_options=["sync_interval = 1", "[time]", "trust = always"])
        stack.start()
        self.wait_until_calm(stack)
        anna = json.loads(stack.command("--json", "person", "add", "Anna"))["id"]
        times = sorted(row[0] for row in stack.gateway("SELECT recorded_at FROM samples WHERE NOT time_uncertain"))
        middle = times[len(times) // 2]
        stamp = stack.gateway("SELECT strftime('%Y-%m-%dT%H:%M:%SZ', ? / 1000, 'unixepoch')", middle)[0][0]
        stack.command("assign", stack.bands[0], "Anna", "--from", stamp)
        stack.command("assign", stack.bands[1], "Anna", "--from", "2020-01-01T00:00Z", "--to", stamp)
        stack.wait(lambda: stack.gateway("SELECT count(*) FROM stale") == [(0,)], "the assignments", pause=0.3)
        self.wait_until_calm(stack)
        zone = choice.choice(["Europe/London", "Asia/Kolkata", "America/St_Johns", "Australia/Lord_Howe"])
        filled = 0
        for bucket, days in [("day", 20), ("hour", 4)]:
            for subject in [("band", device_id(stack.bands[0])), ("band", device_id(stack.bands[1])), ("person", anna)]:
                filled += self.check_agreement(stack, days, bucket, zone, subject)
        self.assertGreater(filled, 100)
