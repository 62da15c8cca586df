"""What a running server tells of everything that it holds, in the form that the ledger of the fault tests compares.

The API tells no conflicts: where there are some, the ledger will miss them.
"""

import collections


class Answers:
    """`samples` by (device, ring, type, seq): value, band_time_ms, clock_id, flags, tz_offset_min; `gaps` that have not healed."""

    def __init__(self, client, devices):
        # Keys that came more than once.
        self.twice = collections.Counter()
        self.samples, self.conflicts, self.gaps = {}, collections.defaultdict(set), collections.defaultdict(list)
        for device in devices:
            cursor = ""
            while cursor is not None:
                page = client.get("/v1/samples", device_id=device, limit=1000, **({"cursor": cursor} if cursor else {}))
                for sample in page["samples"]:
                    key = (device, sample["ring"], sample["type"], sample["seq"])
                    self.twice[device] += key in self.samples
                    self.samples[key] = tuple(
                        sample[name] for name in ("value", "band_time_ms", "clock_id", "flags", "tz_offset_min"))
                cursor = page["next_cursor"]
            for gap in client.get(f"/v1/devices/{device}/gaps")["gaps"]:
                if gap["healed_at"] is None:
                    last = gap["last_seq"] if gap["last_seq"] is not None else 2**32
                    self.gaps[(device, gap["ring"])].append((gap["first_seq"], last, gap["cause"]))

    def cause(self, device, ring, seq):
        return next((cause for first, last, cause in self.gaps[(device, ring)] if first <= seq <= last), None)
