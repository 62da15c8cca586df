"""docs/openapi.yaml beside the running server, by schemathesis with all of its checks, and beside docs/ingest-api.md."""

import os
import pathlib
import re
import subprocess
import sys
import unittest

import yaml

from bed import DEVICE, ROOT, ServerTest, sample

HERE = pathlib.Path(__file__).resolve().parent
DOCUMENT = ROOT / "docs" / "openapi.yaml"
EXAMPLES = 25
# Random unless it is given, so that many runs see more than one; the output has it.
SEED = os.environ.get("BANDFERRY_OPENAPI_SEED")


class OpenAPI(ServerTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # Something of everything, under the names of the document's examples.
        samples = [sample(seq, type=kind, value=3, person="ann", recorded_at=f"2026-10-27T{seq % 24:02}:31:00.000Z")
                   for at, kind in enumerate(("heart_rate", "steps", "spo2", "sleep_stage"))
                   for seq in range(1 + at * 100, 61 + at * 100)]
        assert cls.server.post(samples, cls.a).status == 200
        for path, body in [
            ("gaps", {"gaps": [{"ring": "b5e5d00d", "first_seq": 70, "last_seq": 90, "cause": "overwritten"}]}),
            ("status", {"last_contact": "2026-10-27T05:31:00Z", "battery_percent": 80, "firmware": "1.2", "unsent": 0}),
        ]:
            assert cls.server.ask("PUT", f"/v1/devices/{DEVICE}/{path}", cls.a, body).status == 200

    def check_role(self, token):
        environment = {**os.environ, "SCHEMATHESIS_HOOKS": "openapi_hooks", "PYTHONDONTWRITEBYTECODE": "1",
                       "PYTHONPATH": str(HERE)}
        done = subprocess.run(
            [str(pathlib.Path(sys.executable).with_name("schemathesis")), "--config-file", str(HERE / "schemathesis.toml"),
             "run", str(DOCUMENT), "--url", f"http://127.0.0.1:{self.server.port}", "-H", f"Authorization: Bearer {token}",
             "--checks", "all", "--max-examples", str(EXAMPLES), "--workers", "1", "--request-timeout", "30",
             *(["--seed", SEED] if SEED else [])],
            cwd=self.server.directory, env=environment, capture_output=True, text=True, timeout=110)
        self.assertEqual(done.returncode, 0, done.stdout[-8000:] + done.stderr[-2000:])
        # It saw the server, and not only refusals.
        generated = re.search(r"(\d+) generated, (\d+) passed", done.stdout)
        self.assertIsNotNone(generated, done.stdout[-3000:])
        self.assertGreater(int(generated.group(2)), 700, done.stdout[-3000:])
        print(f"\n  {generated.group(0)}, {re.search('Seed: .*', done.stdout).group(0)}")
        self.assertHealthy()
        return done.stdout

    def test_a_gateway_sees_what_the_document_says(self):
        self.assertNotIn("returned only 401/403", self.check_role(self.a))
        metrics = self.server.ask("GET", "/metrics").body.decode()
        for route in ("samples_batch", "samples", "aggregates", "devices", "device", "ranges", "gaps", "put_gaps",
                      "put_status", "put_lease", "delete_lease", "persons", "person", "put_person"):
            self.assertRegex(metrics, rf'requests_total{{route="{route}",status="200"}} \d')
        self.assertNotIn('status="500"', metrics)

    def test_a_reader_sees_what_the_document_says(self):
        before = self.server.ask("GET", f"/v1/devices/{DEVICE}", self.a).body
        self.check_role(self.reader)
        self.assertEqual(self.server.ask("GET", f"/v1/devices/{DEVICE}", self.a).body, before)


class Text(unittest.TestCase):
    def test_both_documents_name_the_same_routes(self):
        document = yaml.safe_load(DOCUMENT.read_text())
        described = {(method.upper(), path) for path, item in document["paths"].items()
                     for method in item if method != "parameters"}
        told = set()
        for heading in re.findall(r"^##+ (.*/.*)$", (ROOT / "docs" / "ingest-api.md").read_text(), re.M):
            methods = re.findall(r"GET|PUT|POST|DELETE", heading)
            for path in re.findall(r"/[a-z0-9_/:{}]+", heading):
                told |= {(method, path) for method in methods}
        self.assertEqual(described, told)

    def test_every_answer_is_described(self):
        document = yaml.safe_load(DOCUMENT.read_text())
        for path, item in document["paths"].items():
            for method, operation in item.items():
                if method == "parameters":
                    continue
                answers = operation["responses"]
                self.assertIn("200", answers)
                self.assertIn("default", answers)
                if path.startswith("/v1/"):
                    self.assertIn("401", answers, path)
                    self.assertIn("429", answers, path)
                if method in ("put", "post", "delete"):
                    self.assertIn("403", answers, path)
                if "requestBody" in operation:
                    self.assertLessEqual({"400", "413", "415"}, set(answers), path)
