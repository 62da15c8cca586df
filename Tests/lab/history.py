"""A month of a simulated wearer: what a band would have recorded, from a seed. Used by the demonstration and by tests of the dashboard.

Nothing of it was measured on anybody. Nights have stages, hearts beat slower in them, and steps come when people walk.
"""

import datetime
import gzip
import http.client
import json
import math
import random
import urllib.parse
import zoneinfo

UTC = datetime.timezone.utc
AWAKE, LIGHT, DEEP, REM, OUT_OF_BED = range(5)
WORN = 1


class Wearer:
    """Somebody with habits: `resting` bpm, `pace` about the steps of a day in thousands, `bedtime` and `night` in hours."""

    def __init__(self, person, zone, seed, resting=54, pace=8.5, bedtime=23.2, night=7.6):
        self.person, self.zone = person, zoneinfo.ZoneInfo(zone)
        self.seed, self.resting, self.pace, self.bedtime, self.night = seed, resting, pace, bedtime, night

    def local(self, moment):
        return moment.astimezone(self.zone)

    def instant(self, date, hours):
        """The moment so many hours of wall clock after a date's midnight."""
        wall = datetime.datetime.combine(date, datetime.time()) + datetime.timedelta(hours=hours)
        return wall.replace(tzinfo=self.zone).astimezone(UTC)

    def sleep(self, date):
        """The night that ends on a date: `(moment, stage)`, the last of them out of bed."""
        choice = random.Random(f"{self.seed} night {date}")
        late = 0.8 if date.weekday() >= 5 else 0.0
        moment = self.instant(date, self.bedtime - 24 + choice.gauss(late, 0.45))
        end = moment + datetime.timedelta(hours=max(4.5, choice.gauss(self.night, 0.6)))
        stages, cycle = [(moment, AWAKE)], 0
        moment += datetime.timedelta(minutes=choice.randint(4, 22))
        while moment < end:
            deep, dream = max(4, 38 - 11 * cycle), 8 + 9 * cycle
            plan = [(LIGHT, choice.randint(14, 28)), (DEEP, deep + choice.randint(-4, 8)), (LIGHT, choice.randint(8, 22)),
                    (REM, dream + choice.randint(-3, 9))]
            if choice.random() < 0.55:
                plan.append((AWAKE, choice.randint(1, 8)))
            for stage, minutes in plan:
                if moment < end:
                    stages.append((moment, stage))
                    moment += datetime.timedelta(minutes=minutes)
            cycle += 1
        return stages + [(end, OUT_OF_BED)]

    def activity(self, date):
        """How lively each five minutes of a date are, 0 to 1, from its midnight on."""
        choice = random.Random(f"{self.seed} day {date}")
        weekend = date.weekday() >= 5
        peaks = [(10.8, 1.6, 0.42), (16.0, 1.3, 0.5)] if weekend else [(8.1, 0.45, 0.6), (12.6, 0.4, 0.4), (17.8, 0.6, 0.55)]
        if choice.random() < 0.35:
            peaks.append((choice.choice([6.9, 18.8, 19.4]), 0.35, 1.0))
        lively = []
        for slot in range(300):
            hours = slot / 12
            level = 0.1 + sum(height * math.exp(-(((hours - at) / width) ** 2)) for at, width, height in peaks)
            lively.append(min(1.0, level * choice.uniform(0.35, 1.5)))
        return lively


class History:
    """What one band recorded, oldest first. `worn` is `(from, to, Wearer)` in turn; in between nobody wore it.

    `lost` is `(from, to, cause)`: records that the band made and nobody can read. `off` is `(from, to)`: it lay on a table.
    """

    def __init__(self, device, ring, worn, lost=(), off=(), heart_every=2, steps_every=5, seed=1):
        self.device, self.ring = device, ring
        self.samples, self.gaps = [], []
        self.choice = random.Random(f"{seed} {device}")
        records = []
        for begin, end, wearer in worn:
            records += self._record(begin, end, wearer, off, heart_every, steps_every)
        # A band numbers what it records in the order of time.
        records.sort(key=lambda record: record[0])
        for seq, (moment, kind, value, wearer) in enumerate(records, 1):
            cause = next((cause for start, stop, cause in lost if start <= moment < stop), None)
            if cause is None:
                self.samples.append(self._sample(seq, moment, kind, value, wearer))
            else:
                self._lose(seq, cause)
        self._time_gaps()

    def _record(self, begin, end, wearer, off, heart_every, steps_every):
        records = []
        first, last = wearer.local(begin).date(), wearer.local(end).date() + datetime.timedelta(days=1)
        dates = [first + datetime.timedelta(days=day) for day in range((last - first).days + 1)]
        nights = {date: wearer.sleep(date) for date in dates}
        lively = {date: wearer.activity(date) for date in dates}
        asleep = [(night[0][0], night[-1][0]) for night in nights.values()]

        def stage_at(moment):
            night = next((date for date, (start, stop) in zip(dates, asleep) if start <= moment < stop), None)
            return None if night is None else [stage for start, stage in nights[night] if start <= moment][-1]

        def is_off(moment):
            return any(start <= moment < stop for start, stop in off)

        drift = 0.0
        moment = begin
        minute = 0
        while moment < end:
            if not is_off(moment):
                stage = stage_at(moment)
                local = wearer.local(moment)
                level = 0.0 if stage is not None else lively[local.date()][local.hour * 12 + local.minute // 5]
                drift = 0.9 * drift + self.choice.gauss(0, 1.6)
                if minute % heart_every == 0:
                    rest = {None: 15.0, AWAKE: 8.0, LIGHT: 3.0, DEEP: 0.0, REM: 6.0}[stage]
                    value = wearer.resting + rest + 62 * level ** 1.6 + drift + self.choice.gauss(0, 1.2)
                    records.append((moment, "heart_rate", round(min(185, max(42, value))), wearer))
                if minute % steps_every == 0:
                    walks = stage is None and level > 0.06 and self.choice.random() < 0.12 + level
                    steps = round(level * wearer.pace * self.choice.uniform(7, 15) * steps_every) if walks else 0
                    records.append((moment, "steps", steps, wearer))
                if minute % (10 if stage is not None else 60) == 0:
                    value = 974 - (7 if stage is not None else 0) + self.choice.gauss(0, 6)
                    if self.choice.random() < 0.02:
                        value -= self.choice.uniform(15, 45)
                    records.append((moment, "spo2", round(min(1000, max(880, value))), wearer))
            moment += datetime.timedelta(minutes=1)
            minute += 1
        for night in nights.values():
            # A second before the minute: a stage is told when it begins.
            records += [(start, "sleep_stage", stage, wearer) for start, stage in night
                        if begin <= start < end and not is_off(start)]
        return records

    def _sample(self, seq, moment, kind, value, wearer):
        milliseconds = round(moment.timestamp() * 1000)
        return {
            "type": kind, "seq": seq, "value": value, "recorded_at": rfc3339(moment),
            "tz_offset_min": int(wearer.local(moment).utcoffset().total_seconds()) // 60, "version": 1, "provenance": "device",
            "band_time_ms": milliseconds, "clock_id": 1, "flags": WORN, "time_bound_ms": 400, "person": wearer.person,
        }

    def _lose(self, seq, cause):
        last = self.gaps[-1] if self.gaps else None
        if last and last["last_seq"] == seq - 1 and last["cause"] == cause:
            last["last_seq"] = seq
        else:
            self.gaps.append({"ring": self.ring, "first_seq": seq, "last_seq": seq, "after": None, "before": None, "cause": cause,
                              "healed_at": None})

    def _time_gaps(self):
        for gap in self.gaps:
            before = [sample for sample in self.samples if sample["seq"] < gap["first_seq"]]
            after = next((sample for sample in self.samples if sample["seq"] > gap["last_seq"]), None)
            gap["after"] = before[-1]["recorded_at"] if before else None
            gap["before"] = after["recorded_at"] if after else None

    def status(self, contact, battery, firmware, unsent=0):
        newest = self.samples[-1] if self.samples else None
        return {
            "last_contact": rfc3339(contact), "battery_percent": battery, "firmware": firmware, "unsent": unsent,
            "newest_seq": newest and newest["seq"] + unsent, "newest_recorded_at": newest and newest["recorded_at"],
        }


def rfc3339(moment):
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Client:
    """Speaks the ingest API over one connection."""

    def __init__(self, url, token):
        self.address = urllib.parse.urlsplit(url)
        self.token = token
        self.connection = None

    def request(self, method, path, body=None):
        """The answer's JSON; an AssertionError for anything but success."""
        headers = {"Authorization": f"Bearer {self.token}"}
        data = None
        if body is not None:
            data = gzip.compress(json.dumps(body).encode(), 1)
            headers |= {"Content-Type": "application/json", "Content-Encoding": "gzip"}
        if self.connection is None:
            self.connection = http.client.HTTPConnection(self.address.hostname, self.address.port, timeout=60)
        self.connection.request(method, path, data, headers)
        answer = self.connection.getresponse()
        text = answer.read()
        assert answer.status == 200, f"{method} {path}: {answer.status} {text[:300]!r}"
        return json.loads(text)

    def get(self, path, **query):
        return self.request("GET", path + ("?" + urllib.parse.urlencode(query) if query else ""))

    def upload(self, history):
        """Everything of a band but its status; how many samples were new."""
        accepted = 0
        for start in range(0, len(history.samples), 500):
            part = history.samples[start:start + 500]
            answer = self.request("POST", "/v1/samples:batch", {
                "device_id": history.device, "ring": history.ring, "sync_id": f"{history.ring}-{start}", "sample_count": len(part),
                "samples": part})
            assert not answer["rejected"] and not answer["conflicts"], answer
            accepted += answer["accepted"]
        self.request("PUT", f"/v1/devices/{history.device}/gaps", {"gaps": history.gaps})
        return accepted

    def close(self):
        if self.connection is not None:
            self.connection.close()
            self.connection = None
