"""What the views show, compared with what was uploaded."""

import zoneinfo

import world
from bed import WRITE, PageCase, wait
from expected import clock, dates, duration, moment, number, short, spo2, weekday
from history import Client

BERLIN, LONDON = zoneinfo.ZoneInfo("Europe/Berlin"), zoneinfo.ZoneInfo("Europe/London")
ANNA, BEN = f"person={world.ANNA}", f"person={world.BEN}"
TODAY = "2025-11-03"
NOON_GAP = "No data from 3 Nov 09:28 to 11:10: the band overwrote it before it was read."


def minutes_ago(text):
    passed = int((world.NOW - moment(text)).total_seconds() // 60)
    return f"{passed} minute{'' if passed == 1 else 's'} ago"


class ServerTests(PageCase):
    """The page shows the server's numbers; these say that the server's are right, so that the two are not wrong together."""

    def test_the_server_comes_to_the_same(self):
        for person, zone in [(world.ANNA, "Europe/Berlin"), (world.BEN, "Europe/London")]:
            for kind in ["heart_rate", "steps", "spo2", "sleep_stage"]:
                answer = self.site.reader.get("/v1/aggregates", person=person, type=kind, **{"from": "2025-10-04", "to": TODAY}, tz=zone)
                for bucket in answer["buckets"]:
                    date = bucket["local_date"]
                    for key, value in self.site.truth[person].day(kind, date).items():
                        if bucket["count"] or key == "count":
                            self.assertEqual(bucket.get(key), value, f"{person} {kind} {date} {key}")


class TodayTests(PageCase):
    def setUp(self):
        super().setUp()
        self.truth = self.site.truth[world.ANNA]
        self.open(f"#/today?{ANNA}")

    def test_the_day_is_that_of_the_persons_zone_and_says_so(self):
        self.assertEqual(self.text("#view h1"), "Anna Bell")
        self.assertEqual(self.text(".when"), "Monday, 3 November 2025")
        self.assertEqual(self.text(".zone"), "Times and days are those of Anna Bell: Europe/Berlin (UTC+01:00).")
        self.assertEqual(self.browser.driver.title, "Anna Bell, today · Bandferry")

    def test_the_latest_heart_rate_and_when_it_was(self):
        sample, day = self.truth.latest("heart_rate"), self.truth.day("heart_rate", TODAY)
        self.assertEqual(self.text(".heart .value"), f"{sample['value']} bpm")
        self.assertEqual(self.text(".heart .note"), f"{clock(sample['recorded_at'], BERLIN)}, {minutes_ago(sample['recorded_at'])}")
        self.assertEqual(self.facts(".heart"), {
            "Lowest and highest today": f"{day['min']} to {day['max']} bpm", "Mean today": f"{short(day['mean'])} bpm",
            "Resting today": f"{short(day['resting'])} bpm"})

    def test_the_minutes_go_on_while_the_page_stands(self):
        self.run_script("const passed = Date.now() + 3 * 60000; Date.now = () => passed; document.dispatchEvent(new Event('visibilitychange'));")
        later = int(minutes_ago(self.truth.latest("heart_rate")["recorded_at"]).split()[0]) + 3
        wait(lambda: self.text(".heart .note").endswith(f", {later} minutes ago"), "the minutes")

    def test_steps_so_far(self):
        self.assertEqual(self.text(".steps .value"), f"{number(self.truth.day('steps', TODAY)['sum'])} steps")
        # 28 and 29 October have a gap: a mean with them would be too low.
        whole = [self.truth.day("steps", date)["sum"] for date in dates("2025-11-02", 7) if date not in ("2025-10-28", "2025-10-29")]
        self.assertEqual(self.facts(".steps"), {
            "Yesterday": number(self.truth.day("steps", "2025-11-02")["sum"]), "Mean of the last week’s whole days": number(sum(whole) / len(whole))})
        rows = self.rows("steps-by-hour")
        self.assertEqual(len(rows), 24)
        shown = sum(int(row[1].replace(",", "")) for row in rows if row[1] != "no data")
        self.assertEqual(shown, self.truth.day("steps", TODAY)["sum"])
        # Hours to come are empty, not zero, and so is one that lies wholly in a gap.
        self.assertEqual([row[1] for row in rows[16:]], ["no data"] * 8)
        self.assertEqual(rows[10][1], "no data")

    def test_last_night(self):
        night = self.truth.day("sleep_stage", TODAY)["minutes"]
        self.assertEqual(self.text(".night h2"), "Last night")
        self.assertEqual(self.text(".night .value"), f"{duration(night['light'] + night['deep'] + night['rem'])} asleep")
        stages = dict(self.run_script("return [...document.querySelectorAll('.stage-list > div')].map((part) => [...part.children].map((cell) => cell.textContent))"))
        self.assertEqual(stages, {"Deep": duration(night["deep"]), "Light": duration(night["light"]), "REM": duration(night["rem"]),
                                  "Awake": duration(night["awake"])})
        # It began on the day before.
        parts = [part for part in self.truth.stretches(world.SECOND) if moment("2025-11-02T18:00:00Z") < part["start"] < moment("2025-11-03T09:00:00Z")]
        first, last = parts[0]["start"].astimezone(BERLIN), parts[-1]["start"].astimezone(BERLIN)
        self.assertEqual(first.day, 2)
        self.assertEqual(self.text(".night .note"), f"{first:%H:%M} to {last:%H:%M}")
        self.assertEqual(len(self.rows("stages-through-the-night")), len(parts) - 1)

    def test_spo2(self):
        sample, day = self.truth.latest("spo2"), self.truth.day("spo2", TODAY)
        self.assertEqual(self.text(".spo2 .value"), f"{spo2(sample['value'])} %")
        self.assertEqual(self.facts(".spo2"), {
            "Range today": f"{spo2(day['min'])} to {spo2(day['max'])} %", "Mean today": f"{spo2(day['mean'])} %"})

    def test_gaps_are_named_and_drawn(self):
        self.assertEqual(self.texts(".gaps li p:first-child"), [
            "No data from 28 Oct 22:28 to 29 Oct 04:00: another gateway or an app read it and let the band erase it.", NOON_GAP])
        self.expected_complaints = ["willReadFrequently"]
        self.assertTrue(all(self.drawn_gaps()))

    def drawn_gaps(self):
        """Whether each chart by hour has colour where the gap is, down to its foot."""
        return self.run_script("""
            return [...document.querySelectorAll('.heart canvas, .steps canvas')].map((canvas) => {
                const chart = Chart.getChart(canvas), [gap] = chart.config.options.plugins.underlay.gaps;
                const x = chart.scales.x.getPixelForValue((gap.start + gap.end) / 2);
                const alpha = (left) => canvas.getContext('2d').getImageData(left * devicePixelRatio, (chart.chartArea.bottom - 6) * devicePixelRatio, 1, 1).data[3];
                return alpha(x) > 0 && alpha(chart.scales.x.getPixelForValue(gap.start - 8 * 3600000)) === 0;
            })""")

    def test_of_somebody_without_a_zone_the_browsers_is_shown_and_named(self):
        self.go(f"#/today?{BEN}")
        truth = self.site.truth[world.BEN]
        sample = truth.latest("heart_rate")
        self.assertEqual(self.text(".zone"), "No zone is known for Ben: times are this browser’s, Europe/London (UTC).")
        self.assertEqual(self.text(".heart .note"), f"{clock(sample['recorded_at'], LONDON)}, {minutes_ago(sample['recorded_at'])}")
        self.assertEqual(self.text(".steps .value"), f"{number(truth.day('steps', TODAY)['sum'])} steps")
        # The gap of 28 October was in Anna's night, the one of 30 October in Ben's day; they had swapped by then.
        self.assertEqual(self.texts(".gaps li p:first-child"), ["No data from 30 Oct 07:58 to 20:00: the band erased its whole memory before it was read."])

    def test_of_a_band_everything_is_shown_that_it_sent(self):
        self.go(f"#/today?band={world.SECOND}")
        self.assertEqual(self.text("#view h1"), "Band F0:F1:F2:F3:F4:F1")
        self.assertIn("A band has no zone of its own", self.text(".zone"))
        self.assertEqual(self.text(".heart .value"), f"{self.truth.latest('heart_rate')['value']} bpm")

    def test_of_whom_nothing_is_known_nothing_is_made_up(self):
        self.go(f"#/today?person={world.MARKUP}")
        # A label is a text, whatever it looks like.
        self.assertEqual(self.text("#view h1"), "<img src=x onerror=alert(1)>")
        self.assertEqual(self.run_script("return document.querySelectorAll('#view img').length"), 0)
        self.assertEqual(self.text(".heart .value"), "No heart rate in the last 30 days")
        self.assertEqual(self.text(".steps .value"), "No steps have arrived today")
        self.assertEqual(self.text(".night .value"), "No night in the last 30 days")
        self.assertNotIn("0 ", self.text(".steps .value"))
        self.assertIn("no band is assigned to this person yet", self.text(".grid > .wide"))
        self.go(f"#/trends?person={world.MARKUP}")
        self.assertEqual(self.texts(".plot .empty"), [f"No {what} in these days." for what in ("heart rate", "steps", "sleep", "SpO₂")])
        self.assertIn("no band is assigned to this person yet", self.text(".grid > .wide"))
        self.go(f"#/today?{ANNA}")
        self.assertIsNone(self.text(".grid > .wide"))

    def test_a_low_battery_is_said_where_the_day_is_shown(self):
        self.assertEqual(self.texts(".band-list .low"), ["battery low, 14 %"])
        self.assertIn(", battery 78 %", self.text(".band-list"))


class TrendTests(PageCase):
    def check(self, person, days, zone_today):
        truth = self.site.truth[person]
        self.open(f"#/trends?person={person}&days={days}")
        columns = {
            "heart-rate-by-day": ("heart_rate", lambda day: [number(day["min"]), short(day["mean"]), number(day["max"]),
                                                             short(day["resting"]) if "resting" in day else "not known", number(day["count"])]),
            "steps-by-day": ("steps", lambda day: [number(day["sum"])]),
            "sleep-by-day": ("sleep_stage", lambda day: [duration(sum(day["minutes"][stage] for stage in ("light", "deep", "rem"))),
                                                         *(duration(day["minutes"][stage]) for stage in ("deep", "rem", "light", "awake", "out_of_bed"))]),
            "spo-by-day": ("spo2", lambda day: [f"{spo2(day[key])} %" for key in ("min", "mean", "max")] + [number(day["count"])]),
        }
        for table, (kind, cells) in columns.items():
            rows = self.rows(table)
            self.assertEqual([row[0] for row in rows], [weekday(date) for date in reversed(dates(zone_today, days))], table)
            for row, date in zip(rows, reversed(dates(zone_today, days))):
                day = truth.day(kind, date)
                wanted = cells(day) if day["count"] else ["no data"] + [""] * (len(row) - 3)
                self.assertEqual(row[1:-1], wanted, f"{table} {date}")
        return truth

    def test_ninety_days(self):
        self.check(world.ANNA, 90, TODAY)
        self.assertIn("30 of 90 days have data.", self.text(".heart figcaption"))

    def test_thirty_days(self):
        truth = self.check(world.ANNA, 30, TODAY)
        # The day that goes on, those with a gap and those without data are no whole days.
        lost = ["2025-10-12", "2025-10-13", "2025-10-28", "2025-10-29", TODAY]
        sums = [truth.day("steps", date)["sum"] for date in dates(TODAY, 30) if date not in lost and truth.day("steps", date)["count"]]
        self.assertEqual(self.text(".steps .key-figure"), f"{number(sum(sums) / len(sums))} a day, mean of {len(sums)} whole days")
        resting = [truth.day("heart_rate", date)["resting"] for date in dates(TODAY, 30) if "resting" in truth.day("heart_rate", date)]
        self.assertEqual(self.text(".heart .key-figure"), f"Resting {sum(resting) / len(resting):.1f} bpm on average")
        notes = {row[0]: row[-1] for row in self.rows("steps-by-day")}
        # The page knows of the gap of today as well.
        self.assertEqual(notes["Mon 3 Nov"], "so far, part of it is in a gap")
        self.assertEqual(notes["Sun 12 Oct"], "part of it is in a gap")
        self.assertEqual(notes["Sun 26 Oct"], "a day of 25 hours")
        self.assertEqual(notes["Thu 16 Oct"], "")

    def test_seven_days_of_somebody_else(self):
        self.check(world.BEN, 7, TODAY)

    def test_the_choice_of_days_is_kept_in_the_address(self):
        self.open(f"#/trends?{ANNA}")
        self.assertEqual(self.run_script("return document.querySelector('[name=days]:checked').value"), "30")
        self.click("#days-7")
        wait(lambda: len(self.rows("steps-by-day")) == 7, "seven days")
        self.assertIn("days=7", self.browser.driver.current_url)
        self.assertEqual(self.run_script("return document.activeElement.id"), "days-7")

    def test_a_day_without_data_breaks_the_line_and_a_gap_is_drawn(self):
        self.open(f"#/trends?{ANNA}&days=30")
        mean, gaps = self.run_script("""const chart = Chart.getChart(document.querySelector('.heart canvas'));
            return [chart.data.datasets[1].data.map(({ y }) => Number.isFinite(y)), chart.config.options.plugins.underlay.gaps];""")
        # 16 October: nobody wore the band, and that is no gap.
        empty = dates(TODAY, 30).index("2025-10-16")
        self.assertEqual(mean, [index != empty for index in range(30)])
        # From 14:58 on the 8th day to 09:30 on the 9th, the first being -0.5 to 0.5.
        self.assertEqual(len(gaps), 3)
        self.assertAlmostEqual(gaps[0]["start"], 7 - 0.5 + (14 + 58 / 60) / 24, 6)
        self.assertAlmostEqual(gaps[0]["end"], 8 - 0.5 + 9.5 / 24, 6)
        self.assertEqual(len(self.texts(".gaps li")), 3)
        self.assertIn("gap", self.text(".heart .legend"))
        # The gap of a band on a wrist that is not Anna's is none of hers.
        self.assertNotIn("never sends it", self.text(".gaps"))


class OneDayTests(PageCase):
    def points(self, panel):
        return self.run_script("""return Chart.getChart(document.querySelector(`.${arguments[0]} canvas`)).data.datasets
            .map(({ data }) => data.map(({ x, y }) => [x, Number.isFinite(y) ? y : null]))""", panel)

    def test_every_sample_of_the_day_is_drawn_and_a_gap_is_a_break(self):
        self.open(f"#/intraday?{ANNA}")
        samples = self.site.truth[world.ANNA].of("heart_rate", TODAY)
        curve, uncertain = self.points("heart")
        self.assertEqual([y for _, y in curve if y is not None], [sample["value"] for sample in samples])
        self.assertEqual(uncertain, [])
        times = [x for x, y in curve]
        start, end = (moment(text).timestamp() * 1000 for text in ("2025-11-03T08:28:00Z", "2025-11-03T10:10:00Z"))
        self.assertEqual([y for x, y in curve if start < x < end], [None])
        self.assertEqual(times, sorted(times))
        gaps = self.run_script("return Chart.getChart(document.querySelector('.heart canvas')).config.options.plugins.underlay.gaps")
        self.assertEqual([(gap["start"], gap["end"], gap["label"]) for gap in gaps], [(start, end, "gap")])
        self.assertEqual(self.texts(".gaps li p:first-child"), [NOON_GAP])
        parts = self.site.truth[world.ANNA].of("spo2", TODAY)
        self.assertEqual([y for _, y in self.points("spo2")[0] if y is not None], [sample["value"] / 10 for sample in parts])

    def test_what_does_not_count_is_said(self):
        self.open(f"#/intraday?{ANNA}&date=2025-11-02")
        curve, uncertain = self.points("heart")
        self.assertEqual([y for _, y in uncertain], [33] * 4)
        self.assertNotIn(199, [y for _, y in curve])
        self.assertEqual(self.texts(".notes li"), [
            "4 samples have a time that can’t be trusted: drawn as rings, not counted.",
            "6 heart rates were measured while nobody wore the band: not shown."])
        day = self.site.truth[world.ANNA].day("heart_rate", "2025-11-02")
        self.assertEqual(self.text(".heart .key-figure"), f"{day['min']} to {day['max']} bpm, mean {short(day['mean'])}")

    def test_the_day_on_which_the_clocks_changed(self):
        self.open(f"#/intraday?{ANNA}&date=2025-10-26")
        self.assertEqual(self.texts(".notes li"), ["The clocks changed: this day has 25 hours, and began at UTC+02:00."])
        names = [row[0] for row in self.rows("steps-by-hour")]
        self.assertEqual(len(names), 25)
        self.assertEqual(names[2:4], ["02:00 (UTC+02:00)", "02:00 (UTC+01:00)"])
        self.assertEqual(len([y for _, y in self.points("heart")[0] if y is not None]), len(self.site.truth[world.ANNA].of("heart_rate", "2025-10-26")))
        extent = self.run_script("const { x } = Chart.getChart(document.querySelector('.heart canvas')).scales; return (x.max - x.min) / 3600000")
        self.assertEqual(extent, 25)

    def test_a_zone_that_was_told_just_now_is_that_of_today(self):
        def tell(zones):
            client = Client(self.site.server.url, WRITE)
            client.request("PUT", f"/v1/persons/{world.MARKUP}", {"label": "<img src=x onerror=alert(1)>", "zones": zones})
            client.close()
        # After noon, and a minute ago.
        tell([{"zone": "Europe/Berlin", "from": "2025-11-03T14:20:00Z"}])
        self.addCleanup(tell, [])
        for view in ("today", "intraday", f"intraday?date={TODAY}"):
            self.open(f"#/{view}{'&' if '?' in view else '?'}person={world.MARKUP}")
            self.assertIn(": Europe/Berlin (UTC+01:00).", self.text(".zone"), view)
        # Of the day before nobody knows.
        self.go(f"#/intraday?person={world.MARKUP}&date=2025-11-02")
        self.assertIn("No zone is known", self.text(".zone"))
        # What was told in the afternoon of a day that is over counts for that day.
        tell([{"zone": "Europe/Berlin", "from": "2025-11-02T17:00:00Z"}])
        self.open(f"#/intraday?person={world.MARKUP}&date=2025-11-02")
        self.assertIn(": Europe/Berlin (UTC+01:00).", self.text(".zone"))
        # A journey that began after noon is one of today.
        tell([{"zone": "Europe/Berlin", "from": "2020-01-01T00:00:00Z"}, {"zone": "Asia/Tokyo", "from": "2025-11-02T17:00:00Z"}])
        self.open(f"#/intraday?person={world.MARKUP}&date=2025-11-02")
        self.assertIn(": Europe/Berlin (UTC+01:00).", self.text(".zone"))
        self.open(f"#/intraday?person={world.MARKUP}")
        self.assertIn(": Asia/Tokyo (UTC+09:00).", self.text(".zone"))

    def test_a_night_that_a_gap_cuts(self):
        self.open(f"#/intraday?{ANNA}&date=2025-10-29")
        parts = self.run_script("return Chart.getChart(document.querySelector('.sleep canvas')).data.datasets.slice(1).flatMap(({ data }) => data).filter(({ part }) => part).map(({ part }) => part.start)")
        self.assertTrue(parts and min(parts) >= moment("2025-10-29T03:00:00Z").timestamp() * 1000)

    def test_days_are_changed_by_buttons_keys_and_the_calendar(self):
        from selenium.webdriver.common.keys import Keys
        self.open(f"#/intraday?{ANNA}")
        self.assertTrue(self.run_script("return document.getElementById('day-after').disabled"))
        self.click("#day-before")
        wait(lambda: self.text(".when") == "Sunday, 2 November 2025", "the day before")
        self.assertEqual(self.run_script("return document.activeElement.id"), "day-before")
        self.press(Keys.ARROW_LEFT)
        wait(lambda: self.text(".when") == "Saturday, 1 November 2025", "the key")
        self.press(Keys.ARROW_RIGHT)
        wait(lambda: self.text(".when") == "Sunday, 2 November 2025", "the other key")
        self.run_script("const day = document.getElementById('day'); day.value = '2025-10-16'; day.dispatchEvent(new Event('change'))")
        wait(lambda: self.text(".when") == "Thursday, 16 October 2025", "the calendar")
        self.assertEqual(self.texts(".plot .empty"), ["No heart rate on this day.", "No steps on this day.", "No sleep on this day.", "No SpO₂ on this day."])
        self.assertEqual(self.text(".gaps .quiet"), "No gap is known.")
        self.click("#day-today")
        wait(lambda: self.text(".when") == "Monday, 3 November 2025", "today")
        # Nobody goes into the future, and the browser's own way back works.
        self.press(Keys.ARROW_RIGHT)
        self.assertEqual(self.text(".when"), "Monday, 3 November 2025")
        self.browser.driver.back()
        wait(lambda: self.text(".when") == "Thursday, 16 October 2025", "back")


class BandTests(PageCase):
    def card(self, device):
        pairs = self.run_script(
            "return [...document.querySelectorAll(`[data-device=\"${arguments[0]}\"] .rows > div`)].map((row) => [...row.children].map((cell) => cell.textContent))", device)
        return dict(pairs), self.text(f'[data-device="{device}"]')

    def test_what_is_known_of_each_band(self):
        self.open(f"#/bands?{ANNA}")
        self.assertEqual(self.text(".when"), "4 bands of this account, 2 with data of Anna Bell")
        first, second = self.site.histories
        newest = first.samples[-1]["recorded_at"]
        card, text = self.card(world.FIRST)
        self.assertEqual(card, {
            "Last contact": "3 Nov 15:15, 6 minutes ago",
            "Newest here": f"3 Nov {clock(newest, BERLIN)}, {minutes_ago(newest)}", "Upload": "47 records wait at the gateway", "Firmware": "2.4.1",
            "Worn by": "Anna Bell, Ben", "Records here": number(len(first.samples))})
        self.assertIn("low, 14 %", text)
        card, text = self.card(world.SECOND)
        self.assertEqual(card["Last contact"], "3 Nov 12:21, 3 hours ago")
        self.assertEqual(card["Upload"], "up to date, nothing waits")
        self.assertIn("1 gap healed: the records came after all.", text)
        self.assertEqual(len(self.texts(f'[data-device="{world.SECOND}"] .band-gaps li')), 3)
        card, text = self.card("spare")
        self.assertIn("No gateway has reported this band yet.", text)
        self.assertEqual(card["Worn by"], "nobody who is known")

    def test_how_far_the_server_is_behind(self):
        self.open(f"#/bands?{ANNA}")
        self.assertEqual(self.card(world.LATE)[0]["Upload"], "1 record waits at the gateway, 2 h 15 min behind the gateway")
        self.assertEqual(self.card(world.LATE)[0]["Firmware"], "not known")
