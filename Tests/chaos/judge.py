"""What must hold between what was said and what is stored. Values in, sentences about what is wrong out."""

import collections
import datetime

RAW = ("value", "band_time_ms", "clock_id", "flags")
DERIVED = ("recorded_at", "tz_offset_min", "version", "time_bound_ms", "time_uncertain", "person")


def key(sample):
    return sample["ring"], sample["type"], sample["seq"]


def raw(sample):
    return tuple(sample[name] for name in RAW)


def pages(samples, where):
    """In order, and nothing twice."""
    problems = []
    order = [(sample["recorded_at"], sample["device_id"], sample["ring"], sample["seq"], sample["type"]) for sample in samples]
    if any(left[:4] > right[:4] for left, right in zip(order, order[1:])):
        problems.append(f"{where}: the pages are not in order")
    for known, count in collections.Counter(key(sample) for sample in samples).items():
        if count > 1:
            problems.append(f"{where}: {known} is there {count} times")
    return problems


def rank(said):
    """Ingest API 1: the higher version, then the smaller bound; no bound is the largest but one, no trust the largest."""
    if said.get("time_uncertain"):
        bound = float("inf")
    else:
        bound = said.get("time_bound_ms")
        bound = 1e18 if bound is None else bound
    return -said["version"], bound


def device(said, stored, where):
    """Each sample that was said is stored once, with the raw fields of somebody and the best of what was said beside them."""
    problems = pages(stored, where)
    statements = collections.defaultdict(list)
    for sample in said:
        statements[sample["type"], sample["seq"]].append(sample)
    rows = {(sample["type"], sample["seq"]): sample for sample in stored}
    for known in sorted(statements.keys() - rows.keys())[:20]:
        problems.append(f"{where}: {known} was answered and is not there")
    for known in sorted(rows.keys() - statements.keys())[:20]:
        problems.append(f"{where}: {known} is there and was never sent")
    for known in sorted(statements.keys() & rows.keys()):
        row = rows[known]
        same = [sample for sample in statements[known] if raw(sample) == raw(row)]
        if not same:
            problems.append(f"{where}: {known} has raw fields that nobody sent: {raw(row)}")
            continue
        best = min(same, key=rank)
        for name in ("recorded_at", "version", "time_bound_ms", "tz_offset_min"):
            if row.get(name) != best.get(name):
                problems.append(f"{where}: {known}: {name} is {row.get(name)}, not {best.get(name)}")
    return problems


def counts(samples):
    """As `counts` of a device."""
    return dict(collections.Counter(sample["type"] for sample in samples))


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def step_days(samples):
    """Steps by civil day, from the samples alone: (count, sum)."""
    days = collections.defaultdict(lambda: [0, 0])
    for sample in samples:
        if sample["type"] == "steps" and not sample.get("time_uncertain"):
            local = moment(sample["recorded_at"]) + datetime.timedelta(minutes=sample["tz_offset_min"] or 0)
            day = days[local.date().isoformat()]
            day[0] += 1
            day[1] += sample["value"]
    return {day: tuple(numbers) for day, numbers in days.items()}
