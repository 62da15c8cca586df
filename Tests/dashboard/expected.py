"""What the numbers must be, computed from the samples that were uploaded: by docs/ingest-api.md, and by nothing of the product."""

import bisect
import datetime
import decimal
import fractions

from history import AWAKE, DEEP, LIGHT, OUT_OF_BED, REM, WORN

STAGES = {AWAKE: "awake", LIGHT: "light", DEEP: "deep", REM: "rem", OUT_OF_BED: "out_of_bed"}


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def tenths(value):
    """One decimal, half away from zero; all our values are positive."""
    value = fractions.Fraction(value)
    exact = decimal.Decimal(value.numerator * 10) / decimal.Decimal(value.denominator)
    return float(exact.quantize(decimal.Decimal(1), decimal.ROUND_HALF_UP) / 10)


def counts(sample):
    return not sample.get("time_uncertain") and (sample["type"] != "heart_rate" or sample["flags"] & WORN)


def own_date(sample):
    return (moment(sample["recorded_at"]) + datetime.timedelta(minutes=sample["tz_offset_min"])).strftime("%Y-%m-%d")


class Truth:
    """Everything of one person, from the histories of all bands."""

    def __init__(self, histories, person):
        self.samples = {history.device: [sample for sample in history.samples if sample["person"] == person] for history in histories}
        self.gaps = {history.device: [gap for gap in history.gaps if not gap["healed_at"]] for history in histories}

    def of(self, kind, date=None):
        """Samples of all bands that count, oldest first."""
        found = [sample for samples in self.samples.values() for sample in samples
                 if sample["type"] == kind and counts(sample) and date in (None, own_date(sample))]
        return sorted(found, key=lambda sample: sample["recorded_at"])

    def latest(self, kind):
        return self.of(kind)[-1]

    def day(self, kind, date):
        """A bucket as the API has it, without its times."""
        if kind == "sleep_stage":
            return self.sleep(date)
        samples = self.of(kind, date)
        if kind == "steps":
            # Each hour is that of the band with more; ours is worn by one person at a time.
            return {"count": len(samples), "sum": sum(sample["value"] for sample in samples)}
        if not samples:
            return {"count": 0}
        values = [sample["value"] for sample in samples]
        bucket = {"count": len(values), "min": min(values), "mean": tenths(fractions.Fraction(sum(values), len(values))), "max": max(values)}
        if kind == "heart_rate":
            resting = [self._resting([sample for sample in self.samples[device]
                                      if sample["type"] == kind and counts(sample) and own_date(sample) == date])
                       for device in self.samples]
            resting = [value for value in resting if value is not None]
            if resting:
                bucket["resting"] = tenths(min(resting))
        return bucket

    @staticmethod
    def _resting(samples):
        times = [moment(sample["recorded_at"]) for sample in samples]
        best = None
        for index, begin in enumerate(times):
            end = bisect.bisect_left(times, begin + datetime.timedelta(minutes=30))
            if end - index >= 10:
                mean = fractions.Fraction(sum(sample["value"] for sample in samples[index:end]), end - index)
                best = mean if best is None else min(best, mean)
        return best

    def sleep(self, date):
        """The band that saw most of the sleep which ended on a date."""
        best = None
        for device in sorted(self.samples):
            minutes = {name: fractions.Fraction(0) for name in STAGES.values()}
            count = 0
            for parts in self._sleeps(device):
                # A sleep that someone rose from ended when they rose; its last stage gives the offset.
                rising = parts[-1]["stage"] == OUT_OF_BED
                end = parts[-1]["start"] if rising else parts[-1]["end"]
                if (end + datetime.timedelta(minutes=parts[-1]["offset"])).strftime("%Y-%m-%d") != date:
                    continue
                count += len(parts)
                for part in parts:
                    minutes[STAGES[part["stage"]]] += fractions.Fraction(int((part["end"] - part["start"]).total_seconds()), 60)
            asleep = minutes["light"] + minutes["deep"] + minutes["rem"]
            if count and (best is None or asleep > best[0]):
                best = (asleep, {"count": count, "minutes": {name: tenths(value) for name, value in minutes.items()}})
        return best[1] if best else {"count": 0}

    def stretches(self, device):
        records = [sample for sample in self.samples[device] if sample["type"] == "sleep_stage"]
        lost = [moment(gap["after"]) for gap in self.gaps[device]]
        found = []
        for index, record in enumerate(records):
            start = moment(record["recorded_at"])
            ends = [start + datetime.timedelta(hours=4)] + [after for after in lost if after >= start]
            if index + 1 < len(records):
                ends.append(moment(records[index + 1]["recorded_at"]))
            found.append({"start": start, "end": min(ends), "stage": record["value"], "offset": record["tz_offset_min"]})
        return found

    def _sleeps(self, device):
        sleeps, current = [], []
        for part in self.stretches(device):
            assert part["stage"] != AWAKE or part["end"] - part["start"] < datetime.timedelta(hours=1), "not in this world"
            if current and part["start"] - current[-1]["end"] >= datetime.timedelta(hours=1):
                sleeps.append(current)
                current = []
            current.append(part)
            if part["stage"] == OUT_OF_BED:
                sleeps.append(current)
                current = []
        return sleeps + ([current] if current else [])


def dates(last, count):
    """The last days up to a date, it included, oldest first."""
    end = datetime.date.fromisoformat(last)
    return [(end - datetime.timedelta(days=back)).isoformat() for back in reversed(range(count))]


# As British readers write it.

def number(value, digits=0):
    return f"{value:,.{digits}f}"


def short(value):
    """One decimal, none for a whole number."""
    return number(value, 0 if value == int(value) else 1)


def spo2(value):
    """Of tenths of a percent, with one decimal."""
    return str((decimal.Decimal(str(value)) / 10).quantize(decimal.Decimal("0.1"), decimal.ROUND_HALF_UP))


def duration(minutes):
    whole = int(decimal.Decimal(str(minutes)).quantize(decimal.Decimal(1), decimal.ROUND_HALF_UP))
    return f"{whole // 60} h {whole % 60} min" if whole >= 60 else f"{whole} min"


def weekday(date):
    day = datetime.date.fromisoformat(date)
    return f"{day:%a} {day.day} {'Sept' if day.month == 9 else format(day, '%b')}"


def clock(text, zone):
    return moment(text).astimezone(zone).strftime("%H:%M")
