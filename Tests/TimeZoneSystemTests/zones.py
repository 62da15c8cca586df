#!/usr/bin/env python3
"""What Python's zoneinfo says of civil days, one JSON line a zone: the other opinion beside ours.

    zones.py days STEP ZONE FROM TO [ZONE FROM TO]...   civil days between two dates, by looking at every STEP minutes
    zones.py offsets                                    every zone: its offset every 41 days, 1970 to 2037

A line of "days" has:
    changes  [at, minutes before, minutes after]: found hour by hour, then to the second
    days     [date, start, offset at the start, minutes]
    hours    date -> [hour, offset, start, minutes], of the days with a change and of those beside them
Times are seconds since 1970 UTC, offsets minutes.
"""
import datetime
import json
import os
import sys
import zoneinfo

DAY = 86400
zoneinfo.reset_tzpath(to=[os.environ.get("TZDIR") or "/usr/share/zoneinfo"])


def offset(zone, at):
    seconds = datetime.datetime.fromtimestamp(at, zone).utcoffset().total_seconds()
    return int(seconds // 60)


def changes(zone, start, end):
    result = []
    for hour in range(start, end, 3600):
        low, high = hour, hour + 3600
        if offset(zone, low) == offset(zone, high):
            continue
        while high - low > 1:
            middle = (low + high) // 2
            if offset(zone, middle) == offset(zone, hour):
                low = middle
            else:
                high = middle
        result.append([high, offset(zone, low), offset(zone, high)])
    return result


def days(step, name, first, last):
    zone = zoneinfo.ZoneInfo(name)
    epoch = datetime.date(1970, 1, 1)
    start = (datetime.date.fromisoformat(first) - epoch).days * DAY - 2 * DAY
    end = (datetime.date.fromisoformat(last) - epoch).days * DAY + 3 * DAY
    found = changes(zone, start, end)
    dates, hours = {}, {}
    for at in range(start, end, step * 60):
        local = datetime.datetime.fromtimestamp(at, zone)
        date = local.date()
        if date not in dates:
            dates[date] = [at, int(local.utcoffset().total_seconds() // 60), 0]
        dates[date][2] += step
        if any(abs(at - change[0]) < 3 * DAY for change in found):
            key = (date, local.hour, int(local.utcoffset().total_seconds() // 60))
            hours.setdefault(key, [at, 0])[1] += step
    wanted = set()
    for at, before, after in found:
        day = datetime.datetime.fromtimestamp(at, zone).date()
        wanted |= {day + datetime.timedelta(days=n) for n in (-1, 0, 1)}
    asked = [day for day in sorted(dates) if first <= day.isoformat() <= last]
    return {
        "zone": name,
        "changes": [change for change in found if start + 2 * DAY <= change[0] < end - 2 * DAY],
        "days": [[day.isoformat()] + dates[day] for day in asked],
        "hours": {
            day.isoformat(): [
                [hour, minutes] + hours[(date, hour, minutes)]
                for date, hour, minutes in sorted(hours, key=lambda key: hours[key][0])
                if date == day
            ]
            for day in asked
            if day in wanted
        },
    }


def main():
    if sys.argv[1] == "offsets":
        for name in sorted(zoneinfo.available_timezones()):
            if name == "localtime":
                continue
            zone = zoneinfo.ZoneInfo(name)
            instants = range(0, 2**31 - 1, 41 * DAY + 3600)
            print(json.dumps({"zone": name, "offsets": [[at, offset(zone, at)] for at in instants]}))
        return
    step, words = int(sys.argv[2]), sys.argv[3:]
    for name, first, last in zip(words[0::3], words[1::3], words[2::3]):
        print(json.dumps(days(step, name, first, last)))


main()
