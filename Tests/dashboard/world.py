"""What the dashboard is shown in tests: two persons, two bands that change hands, gaps, a clock change, and a fixed moment that is now."""

import datetime
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lab"))

from history import UTC, WORN, History, Wearer, rfc3339  # noqa: E402


def at(text):
    """`2025-10-26 01:00`, in UTC."""
    return datetime.datetime.strptime(text, "%Y-%m-%d %H:%M").replace(tzinfo=UTC)


NOW = at("2025-11-03 14:21")
BEGIN = at("2025-10-03 22:00")
# Anna lives in Berlin, where 26 October had 25 hours. Of Ben no zone is known, so the browser's own is shown.
ANNA_ZONE, BROWSER_ZONE = "Europe/Berlin", "Europe/London"
ANNA, BEN, MARKUP = "p_anna", "p_ben", "p_markup"
FIRST, SECOND = "band_F0F1F2F3F4F0", "band_F0F1F2F3F4F1"
# Of this one the server has less than its gateway.
LATE = "band_AABBCCDDEEFF"
# Anna wears the first band until they swap, Ben the second.
SWAP = at("2025-10-20 10:00")

LOST = {
    FIRST: [(at("2025-10-12 13:00"), at("2025-10-13 07:30"), "overwritten"),
            (at("2025-10-30 08:00"), at("2025-10-30 20:00"), "reformatted")],
    SECOND: [(at("2025-10-08 10:00"), at("2025-10-08 16:00"), "lost_by_band"),
             (at("2025-10-28 21:30"), at("2025-10-29 03:00"), "freed_elsewhere"),
             (at("2025-11-03 08:30"), at("2025-11-03 10:10"), "overwritten")],
}
# A whole day on which Anna wore nothing: empty, and no gap.
OFF = {FIRST: [(at("2025-10-15 21:00"), at("2025-10-17 04:00"))], SECOND: [(at("2025-11-01 18:00"), at("2025-11-01 19:00"))]}


def histories():
    """The histories of both bands, with some samples that must not count."""
    anna = Wearer(ANNA, ANNA_ZONE, 11, resting=54, pace=9)
    ben = Wearer(BEN, BROWSER_ZONE, 23, resting=61, pace=6, bedtime=23.9, night=7.0)
    last = NOW - datetime.timedelta(minutes=8)
    first = History(FIRST, "0000000a", [(BEGIN, SWAP, anna), (SWAP, last, ben)], LOST[FIRST], OFF[FIRST], seed=5)
    second = History(SECOND, "0000000b", [(BEGIN, SWAP, ben), (SWAP, last, anna)], LOST[SECOND], OFF[SECOND], seed=6)
    spoil(second)
    # One gap that came back.
    second.gaps.append({"ring": "0000000b", "first_seq": 1_000_000, "last_seq": 1_000_009, "after": rfc3339(at("2025-10-10 10:00")),
                        "before": rfc3339(at("2025-10-10 10:20")), "cause": "freed_elsewhere", "healed_at": rfc3339(at("2025-10-11 09:00"))})
    return [first, second]


def spoil(history):
    """On 2 November some heart rates are of nobody's wrist, and some have a time that can't be trusted."""
    day = [sample for sample in history.samples if sample["type"] == "heart_rate" and sample["recorded_at"].startswith("2025-11-02T1")]
    for sample in day[20:26]:
        sample["flags"] &= ~WORN
        sample["value"] = 199
    for sample in day[60:64]:
        sample["time_uncertain"] = True
        sample["value"] = 33


def upload(client):
    """Puts the whole world; the histories."""
    known = histories()
    for history in known:
        client.upload(history)
    client.request("PUT", f"/v1/persons/{ANNA}", {"label": "Anna Bell", "zones": [
        {"zone": "America/New_York", "from": "2019-01-01T00:00:00Z"}, {"zone": ANNA_ZONE, "from": "2020-01-01T00:00:00Z"}]})
    client.request("PUT", f"/v1/persons/{BEN}", {"label": "Ben", "zones": []})
    # A label is a text, whatever it looks like.
    client.request("PUT", f"/v1/persons/{MARKUP}", {"label": "<img src=x onerror=alert(1)>", "zones": []})
    first, second = known
    client.request("PUT", f"/v1/devices/{FIRST}/status", first.status(at("2025-11-03 14:15"), 14, "2.4.1", unsent=47))
    report = second.status(at("2025-11-03 11:21"), 78, "2.4.1")
    client.request("PUT", f"/v1/devices/{SECOND}/status", report)
    client.request("PUT", f"/v1/devices/{LATE}/status", {
        "last_contact": "2025-11-03T14:20:00Z", "battery_percent": 50, "firmware": None, "newest_seq": 10,
        "newest_recorded_at": "2025-11-03T14:00:00Z", "unsent": 1})
    client.request("POST", "/v1/samples:batch", {"device_id": LATE, "ring": "000000ff", "sync_id": "late", "sample_count": 1, "samples": [
        {"type": "steps", "seq": 9, "value": 1, "recorded_at": "2025-11-03T11:45:00Z", "tz_offset_min": 0, "band_time_ms": 0,
         "clock_id": 1, "flags": WORN}]})
    # A band of which nothing is known but that a lease was asked for it.
    client.request("PUT", "/v1/devices/spare/lease", {"gateway_id": "g", "ttl_s": 60})
    return known
