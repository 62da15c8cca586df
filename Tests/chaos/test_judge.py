"""The judge of the chaos tests finds what it is there for."""

import copy
import unittest

import judge
from clients import raw, statement

DEVICE = "band_F0F1F2F3F4F0"
BAND = "F0:F1:F2:F3:F4:F0"


def stored(seq, **fields):
    sample = statement(DEVICE, seq, 0, 0, False)
    return {**sample, "device_id": DEVICE, "ring": "0000aaaa", "time_uncertain": False, "person": None, **fields}


def ordered(rows):
    return sorted(rows, key=lambda row: (row["recorded_at"], row["seq"]))


class Uploads(unittest.TestCase):
    """Between what clients said and what a node has."""

    def setUp(self):
        self.said = [statement(DEVICE, seq, client, 0, seq == 7) for client in (0, 1) for seq in range(1, 21)]
        best = {}
        for sample in self.said:
            if sample["seq"] == 7 and sample in self.said[20:]:
                continue
            known = best.get(sample["seq"])
            best[sample["seq"]] = sample if known is None else min(known, sample, key=judge.rank)
        self.rows = ordered({**sample, "device_id": DEVICE, "ring": "0000aaaa"} for sample in best.values())

    def problems(self, rows):
        return judge.device(self.said, rows, "d")

    def test_what_is_right_is_right(self):
        self.assertEqual(self.problems(self.rows), [])

    def test_a_lost_sample(self):
        self.assertRegex(self.problems(self.rows[1:])[0], "was answered and is not there")

    def test_a_sample_that_is_there_twice(self):
        self.assertRegex(self.problems([self.rows[0], *self.rows])[0], "is there 2 times")

    def test_one_that_nobody_sent(self):
        extra = {**raw(DEVICE, 99), **{name: self.rows[-1][name] for name in ("recorded_at", "version", "device_id", "ring")}}
        self.assertRegex(self.problems([*self.rows, extra])[0], "never sent")

    def test_another_value(self):
        self.rows[3]["value"] += 1
        self.assertRegex(self.problems(self.rows)[0], "nobody sent")

    def test_the_worse_statement(self):
        row = next(row for row in self.rows if row["seq"] == 5)
        worse = max((sample for sample in self.said if sample["seq"] == 5), key=judge.rank)
        row.update(worse)
        self.assertTrue(self.problems(ordered(self.rows)))

    def test_pages_out_of_order(self):
        self.assertRegex(self.problems(self.rows[::-1])[0], "not in order")

    def test_the_order_of_statements(self):
        ranked = [{"version": 2, "time_bound_ms": 90}, {"version": 1, "time_bound_ms": 5}, {"version": 1, "time_bound_ms": 6},
                  {"version": 1}, {"version": 1, "time_bound_ms": 1, "time_uncertain": True}]
        self.assertEqual(sorted(ranked[::-1], key=judge.rank), ranked)


class Sides(unittest.TestCase):
    """Between two gateways, the server and the band."""

    def setUp(self):
        rows = [stored(seq) for seq in range(1, 11)]
        self.sides = {name: copy.deepcopy(rows) for name in ("server", "a", "b")}
        self.ledgers = {"server": [], "a": [], "b": []}
        self.truth = [
            {"kind": "record", "band": BAND, "ring": "0000aaaa", "generation": 1, **raw(DEVICE, seq),
             "true_ms": judge.milliseconds(rows[seq - 1]["recorded_at"])} for seq in range(1, 11)]

    def loss(self, first, last):
        self.truth.append({"kind": "loss", "band": BAND, "ring": "0000aaaa", "first_seq": first, "last_seq": last, "cause": "overwritten"})
        for name in self.sides:
            self.sides[name] = [row for row in self.sides[name] if not first <= row["seq"] <= last]

    def gap(self, *names, cause="overwritten", first=4, last=5, healed=None):
        for name in names:
            self.ledgers[name].append({"device_id": DEVICE, "ring": "0000aaaa", "first_seq": first, "last_seq": last, "cause": cause,
                                       "after": 1, "before": 2, "healed_at": healed})

    def problems(self):
        return judge.Line(self.truth, lambda band: "band_" + band.replace(":", ""), self.sides, self.ledgers, (),
                          {"overwritten"}).problems()

    def assertFound(self, pattern):
        self.assertTrue(any(pattern in problem for problem in self.problems()), self.problems())

    def test_what_is_right_is_right(self):
        self.assertEqual(self.problems(), [])
        self.loss(4, 5)
        self.gap("server", "a")
        self.assertEqual(self.problems(), [])
        self.gap("b", "server", first=9, last=9, healed=3)
        self.assertEqual(self.problems(), [])
        # The server had it before that gateway came.
        del self.sides["b"][0]
        self.assertEqual(self.problems(), [])

    def test_a_record_that_is_nowhere(self):
        for name in self.sides:
            del self.sides[name][2]
        self.assertFound("neither on the server nor named in a gap")

    def test_a_record_that_never_reached_the_server(self):
        del self.sides["server"][2]
        self.assertFound("a has it, and not the server")

    def test_a_gap_for_what_the_band_could_give(self):
        for name in self.sides:
            del self.sides[name][3:5]
        self.gap("server", "a")
        self.assertFound("the band could give it")

    def test_a_gap_with_a_false_cause(self):
        self.loss(4, 5)
        self.gap("server", "a", cause="reformatted")
        self.assertFound("named reformatted, which did not happen")

    def test_a_gap_for_what_is_there(self):
        self.gap("server", "a")
        self.assertFound("server has it and says that it is overwritten")

    def test_a_gap_that_the_server_was_never_told(self):
        self.loss(4, 5)
        self.gap("server", "b")
        self.ledgers["server"][0]["last_seq"] = 4
        self.assertFound("the server has")
        self.ledgers["server"].clear()
        self.assertFound("b has it, and not the server")

    def test_each_field_that_differs(self):
        for field in judge.EVERY:
            with self.subTest(field=field):
                self.setUp()
                self.sides["b"][6][field] = "another"
                self.assertFound(f"(server, b) differ: {{'{field}'")

    def test_a_value_that_is_wrong_on_all_sides(self):
        for name in self.sides:
            self.sides[name][6]["value"] += 1
        self.assertFound("on the band")

    def test_a_record_that_was_never_measured(self):
        for name in self.sides:
            self.sides[name].append(stored(11))
        self.assertFound("never measured")

    def test_a_time_that_is_further_off_than_said(self):
        for name in self.sides:
            self.sides[name][6]["time_bound_ms"] = 5
        self.truth[6]["true_ms"] += 50
        self.assertFound("ms off, and said to be within 5")
