"""Servers that lie, refuse, lose answers, or are somebody else: each sample goes up once in the end."""

import gzip
import json

from front import LOSE_ANSWER, Front
from lab import FieldCase

JSON = {"Content-Type": "application/json"}


def refusal(status, code, **fields):
    """As the API writes one."""
    return status, {**JSON, **fields}, json.dumps({"error": {"code": code, "message": "why"}}).encode()


def samples(body):
    """Those of a batch."""
    text = gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body
    return json.loads(text).get("samples") or []


class Answers(FieldCase):
    def fronted(self, rule, **options):
        """A line whose batches the rule answers: it gets their body and how many there were before."""
        stack = self.line(records=1200, **options)
        stack.start_bus().start_server().start_sim()
        self.front = Front(stack.port)
        self.addCleanup(self.front.close)
        stack.port = self.front.port
        self.batches = 0

        def of_batches(method, path, body):
            if method != "POST":
                return None
            self.batches += 1
            return rule(body, self.batches)

        self.front.rule = of_batches
        stack.start_daemon()
        return stack

    def named_until_it_ends(self, answer, codes):
        stack = self.fronted(lambda body, count: answer)
        stack.wait(lambda: set(codes) & set(self.problems(stack)), f"one of {codes}", deadline=120, pause=0.3)
        # The bands go on meanwhile, and nothing of theirs is taken to be up.
        stack.wait(lambda: [band["pending"] for band in stack.status()["bands"]] == [1200], "what waits", pause=0.3)
        self.front.rule = lambda *_: None
        stack.command("upload", "now", check=False)
        self.comes_through(stack)

    def test_an_empty_list_confirms_nothing(self):
        self.named_until_it_ends((200, JSON, b"[]"), ["not_this_api", "answer_inconsistent", "nothing_confirmed"])

    def test_an_empty_object_confirms_nothing(self):
        self.named_until_it_ends((200, JSON, b"{}"), ["not_this_api", "answer_inconsistent", "nothing_confirmed"])

    def test_a_portal_confirms_nothing(self):
        self.named_until_it_ends(
            (200, {"Content-Type": "text/html"}, b"<!DOCTYPE html><title>Welcome</title>"), ["not_this_api", "captive_portal"])

    def test_a_redirect_is_not_followed(self):
        self.named_until_it_ends((302, {"Location": "http://127.0.0.1:9/"}, b""), ["not_this_api", "captive_portal"])

    def test_a_server_that_fails(self):
        self.named_until_it_ends(refusal(500, "internal"), ["server_error"])

    def test_one_that_wants_less_at_once_gets_less(self):
        most = 50

        def rule(body, _):
            return refusal(413, "batch_too_large") if len(samples(body)) > most else None

        stack = self.fronted(rule)
        self.comes_through(stack)

    def test_one_that_wants_fewer_requests_is_left_alone_for_so_long(self):
        stack = self.fronted(lambda body, count: refusal(429, "rate_limited", **{"Retry-After": "2"}) if count <= 2 else None)
        self.comes_through(stack)

    def test_answers_that_are_lost_count_once(self):
        stack = self.fronted(lambda body, count: LOSE_ANSWER if count % 2 else None)
        self.comes_through(stack)
