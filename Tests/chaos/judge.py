"""What must hold between what was said and what is stored. Values in, sentences about what is wrong out."""

import collections
import datetime
import re

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


# Two gateways, the server and what the band had

EVERY = ("value", "recorded_at", "tz_offset_min", "version", "provenance", "band_time_ms", "clock_id", "flags", "time_bound_ms",
         "time_uncertain", "person")


def everything(sample):
    """All fields that two sides have to agree on; what is absent has its default."""
    row = {name: sample.get(name) for name in EVERY}
    row["time_uncertain"] = bool(row["time_uncertain"])
    return row


class Line:
    """One life of the line, once it is quiet. `truth`: what the simulator says that it measured and lost; `sides`: samples by the
    name of who has them, among them "server"; `ledgers`: gaps, likewise."""

    def __init__(self, truth, device_id, sides, ledgers, undeliverable=(), allowed=()):
        self.records, self.lost = {}, set()
        for line in truth:
            device = device_id(line["band"])
            if line["kind"] == "record":
                self.records[device, line["ring"], line["seq"]] = line
            else:
                self.lost.update((device, line["ring"], seq) for seq in range(line["first_seq"], line["last_seq"] + 1))
        # What the script never sends, or never readably.
        self.lost.update(place for place in self.records if place[2] in undeliverable)
        self.allowed = set(allowed)
        self.sides = {name: {(row["device_id"], row["ring"], row["seq"]): row for row in rows} for name, rows in sides.items()}
        self.ledgers = ledgers

    def problems(self):
        return [*self.against_truth(), *self.gaps(), *self.between_sides(), *self.times()]

    @property
    def server(self):
        return self.sides["server"]

    def named(self, ledger):
        """{place: cause} of what is said to be missing."""
        places = {}
        for gap in self.ledgers[ledger]:
            if gap["healed_at"] is not None:
                continue
            known = [place for place in self.records if place[:2] == (gap["device_id"], gap["ring"])
                     and place[2] >= gap["first_seq"] and (gap["last_seq"] is None or place[2] <= gap["last_seq"])]
            places.update((place, gap["cause"]) for place in known)
        return places

    def against_truth(self):
        """Each record once with what the band gave, or a gap that is true."""
        problems = []
        named = self.named("server")
        for place, record in self.records.items():
            row = self.server.get(place)
            if row is None:
                if place not in named:
                    problems.append(f"{place}: neither on the server nor named in a gap")
                elif place not in self.lost:
                    problems.append(f"{place}: lost as {named[place]}, and the band could give it")
                elif named[place] not in self.allowed:
                    problems.append(f"{place}: named {named[place]}, which did not happen")
                continue
            if row["type"] != record["type"] or raw(row) != raw(record):
                problems.append(f"{place}: {row['type']} {raw(row)} on the server, {record['type']} {raw(record)} on the band")
        problems += [f"{place}: on the server, and never measured" for place in self.server if place not in self.records]
        return problems

    def unhealed(self):
        """{place: cause} of what one gateway missed, and said so, before another brought it."""
        return {place: cause for place, cause in self.named("server").items() if place in self.server}

    def gaps(self):
        problems = []
        for name in self.sides:
            problems += [f"{place}: {name} has it and says that it is {cause}" for place, cause in self.named(name).items()
                         if place in self.sides[name]]
        gateways = [name for name in self.sides if name != "server"]
        by_key = {name: {(gap["device_id"], gap["ring"], gap["first_seq"]): gap for gap in rows}
                  for name, rows in self.ledgers.items()}
        for place, gap in by_key["server"].items():
            said = [by_key[name][place] for name in gateways if place in by_key[name]]
            if gap not in said:
                problems.append(f"gap {place}: the server has {gap}, the gateways {said}")
        for name in gateways:
            problems += [f"gap {place}: {name} has it, and not the server" for place in by_key[name] if place not in by_key["server"]]
        return problems

    def between_sides(self):
        """Row by row. A gateway need not have what another let the band free, or what the server had before it came."""
        problems = []
        gateways = {name: rows for name, rows in self.sides.items() if name != "server"}
        for place, row in self.server.items():
            holders = [name for name in gateways if place in gateways[name]]
            if not holders:
                problems.append(f"{place}: on the server, and no gateway has it")
            for name in holders:
                other = everything(gateways[name][place])
                wrong = {field: (value, other[field]) for field, value in everything(row).items() if value != other[field]}
                if wrong:
                    problems.append(f"{place}: (server, {name}) differ: {wrong}")
        for name, rows in gateways.items():
            problems += [f"{place}: {name} has it, and not the server" for place in rows if place not in self.server]
        return problems

    def times(self):
        """What is said to be within a bound is."""
        problems = []
        for place, row in self.server.items():
            record, bound = self.records.get(place), row.get("time_bound_ms")
            if record is None or bound is None or row.get("time_uncertain"):
                continue
            off = moment(row["recorded_at"]).timestamp() * 1000 - record["true_ms"]
            if abs(off) > bound + 1:
                problems.append(f"{place}: {off:.0f} ms off, and said to be within {bound}")
        return problems

    def shared(self):
        """Rows that all sides have."""
        return len(set.intersection(*(set(rows) for rows in self.sides.values())))


def some(problems, each=4):
    """A few of each kind, and how many there are."""
    kinds = collections.defaultdict(list)
    for problem in problems:
        kinds[re.sub(r"'[^']*'|[0-9a-f]{8}|[0-9]+|\{.*", "", problem)].append(problem)
    return [line for kind in kinds.values() for line in
            [*kind[:each], *([f"    and {len(kind) - each} more like the last one"] if len(kind) > each else [])]]


def milliseconds(text):
    return None if text is None else round(moment(text).timestamp() * 1000)


def api_gap(gap):
    """With its times as numbers."""
    return {**gap, **{name: milliseconds(gap[name]) for name in ("after", "before", "healed_at")}}
