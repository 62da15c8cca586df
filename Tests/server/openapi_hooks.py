"""What a JSON schema can't say of a request of this API: mended in requests that are meant to be valid.

Loaded by schemathesis. Requests that are meant to be invalid stay as they are.
"""

import datetime

import schemathesis
from schemathesis import GenerationMode

ZONES = ["UTC", "Asia/Kolkata", "Europe/London", "America/St_Johns", "Etc/GMT+5"]


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.meta is None or case.meta.generation.mode != GenerationMode.POSITIVE:
        return
    mend_query(case.operation.path, case.query)
    if isinstance(case.body, dict):
        mend_body(case.operation.path, case.body)


def mend_query(path, query):
    if path not in ("/v1/samples", "/v1/aggregates") or query is None:
        return
    # Exactly one of the two.
    if "person" in query:
        query.pop("device_id", None)
    elif "device_id" not in query:
        query["person"] = "ann"
    # An opaque value of the server's own.
    if query.get("cursor") and query["cursor"].count("~") != 4:
        query.pop("cursor")
    # As schemathesis knows a date-time, a leap second may come at any minute.
    for name in ("from", "to"):
        if ":60" in str(query.get(name, "")):
            query.pop(name)
    if path == "/v1/aggregates":
        # In order, and not too far apart.
        first = datetime.date.fromisoformat(query["from"])
        first = min(first, datetime.date(9990, 1, 1))
        last = datetime.date.fromisoformat(query["to"])
        days = (last - first).days % (31 if query.get("bucket") == "hour" else 400)
        query["from"], query["to"] = first.isoformat(), (first + datetime.timedelta(days)).isoformat()
        if query.get("tz") not in (None, *ZONES):
            query["tz"] = ZONES[len(query["tz"]) % len(ZONES)]


def mend_body(path, body):
    if path == "/v1/samples:batch":
        body["sample_count"] = len(body["samples"])
    elif path.endswith("/gaps"):
        for gap in body["gaps"]:
            if gap.get("last_seq"):
                gap["last_seq"] = max(gap["last_seq"], gap["first_seq"])
