"""The page's pure modules, in the browser that runs them, against Python."""

import datetime
import os
import random
import zoneinfo

from bed import PageCase
from history import UTC

ZONES = ["Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Apia", "America/St_Johns", "UTC",
         "Asia/Kathmandu", "America/Sao_Paulo", "Africa/Casablanca"]


class ModuleCase(PageCase):
    def setUp(self):
        super().setUp()
        # They need the page's address only, not its state.
        if self.browser.driver.current_url != self.site.server.url:
            self.open(token=None)

    def module(self, name, expression, *arguments):
        """The value of an expression over the module `m` and the arguments `a`."""
        done = self.call(f"const a = arguments; const m = await import('/dashboard/{name}.js'); return ({expression});", *arguments)
        self.assertNotIn("error", done, expression)
        return done["value"]


class TimeTests(ModuleCase):
    def test_dates_and_offsets_of_zones_are_those_of_the_database(self):
        seed = int(os.environ.get("BANDFERRY_SEED") or random.randrange(1 << 31))
        print(f"seed {seed}", flush=True)
        choice = random.Random(seed)
        cases = []
        for _ in range(400):
            zone = choice.choice(ZONES)
            value = choice.randrange(1_000_000_000, 1_790_000_000)
            local = datetime.datetime.fromtimestamp(value, UTC).astimezone(zoneinfo.ZoneInfo(zone))
            cases.append([value * 1000, zone, local.strftime("%Y-%m-%d"), int(local.utcoffset().total_seconds() // 60)])
        found = self.module("time", "a[0].map(([value, zone]) => [m.civilDate(value, zone), m.offsetMinutes(value, zone)])", cases)
        for (value, zone, date, offset), answer in zip(cases, found):
            self.assertEqual(answer, [date, offset], f"{value} in {zone}, seed {seed}")

    def test_hours_of_days_whose_clocks_change(self):
        for zone, date, hours in [("Europe/Berlin", "2025-10-26", 25), ("Europe/Berlin", "2025-03-30", 23), ("Asia/Kolkata", "2025-10-26", 24)]:
            start = datetime.datetime.fromisoformat(date).replace(tzinfo=zoneinfo.ZoneInfo(zone))
            end = (datetime.datetime.fromisoformat(date) + datetime.timedelta(days=1)).replace(tzinfo=zoneinfo.ZoneInfo(zone))
            expected = [datetime.datetime.fromtimestamp(start.timestamp() + hour * 3600, UTC).astimezone(start.tzinfo).hour
                        for hour in range(hours)]
            found = self.module("time", "m.fullHours(a[0], a[1], a[2]).map(({ hour }) => hour)", start.timestamp() * 1000, end.timestamp() * 1000, zone)
            self.assertEqual(found, expected, zone)

    def test_dates_are_checked_and_counted(self):
        good = ["2024-02-29", "2025-12-31", "1999-01-01"]
        bad = ["2025-02-29", "2025-13-01", "2025-00-10", "2025-1-1", "", "today", "2025-10-26T00:00:00Z", None]
        self.assertEqual(self.module("time", "a[0].map(m.isDate)", good + bad), [True] * 3 + [False] * 8)
        self.assertEqual(self.module("time", "[m.addDays('2024-02-28', 2), m.addDays('2025-01-01', -1), m.daysBetween('2025-10-01', '2025-11-03')]"),
                         ["2024-03-01", "2024-12-31", 33])

    def test_the_zone_that_holds(self):
        zones = [{"zone": "Asia/Tokyo", "from": "2025-06-01T00:00:00Z"}, {"zone": "Europe/Berlin", "from": "2020-01-01T00:00:00Z"}]
        at = "a[0], Date.parse(a[1])"
        self.assertEqual(self.module("time", f"m.zoneAt({at})", zones, "2025-05-31T23:59:59Z"), "Europe/Berlin")
        self.assertEqual(self.module("time", f"m.zoneAt({at})", zones, "2025-06-01T00:00:00Z"), "Asia/Tokyo")
        self.assertIsNone(self.module("time", f"m.zoneAt({at})", zones, "2019-12-31T00:00:00Z"))
        self.assertEqual(self.module("time", "['Europe/Berlin', 'Nowhere/City', '', null].map(m.isZone)"), [True, False, False, False])
        self.assertEqual(self.module("time", "[330, -210, 0, 60].map(m.offsetText)"), ["UTC+05:30", "UTC−03:30", "UTC", "UTC+01:00"])

    def test_days_are_counted_in_the_persons_zone_and_nobodys_is_made_up(self):
        zones = [{"zone": "Nowhere/City", "from": "2020-01-01T00:00:00Z"}]
        self.assertEqual(self.module("data", "m.zoneFor([], 1e12)"), {"name": "Europe/London", "source": "browser"})
        self.assertEqual(self.module("data", "m.zoneFor(a[0], 1.7e12)", zones),
                         {"name": "Europe/London", "source": "unknown", "wanted": "Nowhere/City"})


class FormatTests(ModuleCase):
    def formats(self, locale, expression):
        return self.module("format", f"((f) => {expression})(new m.Formats({locale!r}))")

    def test_numbers_and_dates_are_those_of_the_readers_region(self):
        value = int(datetime.datetime(2025, 10, 3, 14, 5, tzinfo=UTC).timestamp() * 1000)
        expression = f"[f.number(8432), f.tenths(67.2), f.tenths(67), f.moment({value}, 'UTC'), f.day('2025-10-03'), f.hour({value}, 'UTC')]"
        self.assertEqual(self.formats("en-GB", expression), ["8,432", "67.2", "67", "3 Oct 14:05", "3 Oct", "14:05"])
        # A narrow space may stand before pm.
        american = [text.replace("\u202f", " ") for text in self.formats("en-US", expression)]
        self.assertEqual(american, ["8,432", "67.2", "67", "Oct 3 2:05 PM", "Oct 3", "2 PM"])
        german = self.formats("de-DE", expression)
        self.assertEqual(german[:3], ["8.432", "67,2", "67"])
        self.assertIn("14:05", german[3])
        # The words stay those of the page.
        self.assertIn("Oct", german[3])
        self.assertEqual(self.formats("xx-nonsense", "f.number(1.5, 1)"), "1.5")

    def test_spans(self):
        def span(start, end, zone="Europe/Berlin"):
            return self.module("format", "new m.Formats('en-GB').span(Date.parse(a[0]), Date.parse(a[1]), a[2])", start, end, zone)
        self.assertEqual(span("2025-10-03T12:00:00Z", "2025-10-04T07:10:00Z"), "3 Oct 14:00 to 4 Oct 09:10")
        self.assertEqual(span("2025-10-03T12:00:00Z", "2025-10-03T13:00:00Z"), "3 Oct 14:00 to 15:00")
        self.assertEqual(span("2024-10-03T12:00:00Z", "2025-10-03T13:00:00Z"), "3 Oct 14:00 to 3 Oct 15:00")

    def test_lengths(self):
        minute = 60_000
        cases = {0: "less than a minute", 59_999: "less than a minute", 45 * minute: "45 min", 60 * minute: "1 h", 192 * minute: "3 h 12 min",
                 1440 * minute: "1 day", 5 * 1440 * minute + 18 * 60 * minute + 30 * minute: "5 days 18 h"}
        self.assertEqual(self.module("format", "a[0].map(m.length)", list(cases)), list(cases.values()))
        self.assertEqual(self.module("format", "[0, 12.4, 59.5, 60, 432.5].map(m.duration)"), ["0 min", "12 min", "1 h 0 min", "1 h 0 min", "7 h 13 min"])

    def test_how_long_ago(self):
        second = 1000
        cases = {0: "just now", 59 * second: "just now", 60 * second: "1 minute ago", 8 * 60 * second: "8 minutes ago", 3600 * second: "1 hour ago",
                 47 * 3600 * second: "47 hours ago", 48 * 3600 * second: "2 days ago", -60 * second: "just now",
                 -3 * 3600 * second: "3 h ahead of this device's clock"}
        self.assertEqual(self.module("format", "a[0].map((passed) => m.ago(1e12 - passed, 1e12))", list(cases)), list(cases.values()))

    def test_names_of_bands(self):
        self.assertEqual(self.module("format", "['band_F0F1F2F3F4F5', 'ward-7', 'band_xyz'].map(m.bandName)"), ["F0:F1:F2:F3:F4:F5", "ward-7", "band_xyz"])


class GapTests(ModuleCase):
    def sentence(self, **gap):
        gap = {"first_seq": 1, "last_seq": None, "after": None, "before": None, "cause": "overwritten", "healed_at": None} | gap
        return self.call("""const [{ Formats }, m] = [await import('/dashboard/format.js'), await import('/dashboard/gaps.js')];
            return m.sentence(arguments[0], new Formats('en-GB'), 'Europe/Berlin');""", gap)["value"]

    def test_a_gap_is_named_in_words(self):
        after, before = "2025-10-03T12:00:00.000Z", "2025-10-04T07:10:00.000Z"
        self.assertEqual(self.sentence(after=after, before=before), "No data from 3 Oct 14:00 to 4 Oct 09:10: the band overwrote it before it was read.")
        self.assertTrue(self.sentence(after=after).startswith("No data after 3 Oct 14:00; until when is not known: "))
        self.assertTrue(self.sentence(before=before).startswith("No data before 4 Oct 09:10; since when is not known: "))
        self.assertTrue(self.sentence().startswith("Data is missing; when it was measured is not known: "))
        self.assertTrue(self.sentence(after=before, before=after).startswith("Data is missing at about 3 Oct 14:00; "))

    def test_every_cause_has_words(self):
        causes = ["overwritten", "freed_elsewhere", "reformatted", "storage_lost", "lost_by_band", "unreadable"]
        said = {self.sentence(cause=cause) for cause in causes}
        self.assertEqual(len(said), 6)
        self.assertFalse([text for text in said if any(cause in text for cause in causes)])
        self.assertIn("(eaten_by_dog)", self.sentence(cause="eaten_by_dog"))

    def test_the_part_of_a_gap_that_is_drawn(self):
        gap = {"after": "1970-01-01T00:00:10.000Z", "before": "1970-01-01T00:00:20.000Z"}
        part = "m.within(a[0], a[1], a[2])"
        self.assertEqual(self.module("gaps", part, gap, 0, 15_000), {"start": 10_000, "end": 15_000})
        self.assertEqual(self.module("gaps", part, gap, 12_000, 90_000), {"start": 12_000, "end": 20_000})
        for start, end in [(0, 10_000), (20_000, 30_000)]:
            self.assertIsNone(self.module("gaps", part, gap, start, end))
        self.assertIsNone(self.module("gaps", part, gap | {"before": None}, 0, 30_000))
        self.assertTrue(self.module("gaps", "m.mayTouch(a[0], 90000, 99000)", gap | {"before": None}))


class CurveTests(ModuleCase):
    def points(self, minutes, gaps=()):
        samples = [{"recorded_at": f"1970-01-01T{minute // 60:02}:{minute % 60:02}:00.000Z", "value": 70} for minute in minutes]
        return self.module("plots", "m.pointsOf(a[0], a[1]).map(({ x, y }) => (Number.isNaN(y) ? null : x / 60000))", samples, list(gaps))

    def test_a_line_breaks_where_nothing_was_measured(self):
        self.assertEqual(self.points([0, 1, 2, 9, 10]), [0, 1, 2, None, 9, 10])
        # Measured every ten minutes, a pause of half an hour is none.
        self.assertEqual(self.points([0, 10, 20, 50, 60, 130]), [0, 10, 20, 50, 60, None, 130])
        self.assertEqual(self.points([0]), [0])
        self.assertEqual(self.points([]), [])

    def test_a_line_breaks_at_a_gap_however_short(self):
        self.assertEqual(self.points([0, 1, 2, 3], [{"start": 60_000, "end": 120_000}]), [0, 1, None, 2, 3])


class NightTests(ModuleCase):
    def sleeps(self, records, gaps=(), now=10_000):
        """Records are `(minute, stage)`; sleeps come as lists of `[from, to, stage]`."""
        def time(minute):
            return f"1970-01-0{1 + minute // 1440}T{minute // 60 % 24:02}:{minute % 60:02}:00.000Z"
        samples = [{"recorded_at": time(minute), "value": stage} for minute, stage in records]
        lost = [{"after": time(after), "before": time(before), "healed_at": None} for after, before in gaps]
        return self.module(
            "nights", "m.sleeps(m.stretches(a[0], a[1], a[2])).map(({ parts }) => parts.map(({ start, end, stage }) => [start / 60000, end / 60000, stage]))",
            samples, lost, now * 60_000)

    def test_a_stage_lasts_to_the_next_a_gap_or_four_hours(self):
        self.assertEqual(self.sleeps([(0, 1), (30, 2), (90, 4)]), [[[0, 30, "light"], [30, 90, "deep"]]])
        self.assertEqual(self.sleeps([(0, 1)]), [[[0, 240, "light"]]])
        self.assertEqual(self.sleeps([(0, 1)], now=30), [[[0, 30, "light"]]])
        self.assertEqual(self.sleeps([(0, 1), (200, 2), (260, 4)], [(50, 190)]), [[[0, 50, "light"]], [[200, 260, "deep"]]])

    def test_a_sleep_ends_out_of_bed_or_after_an_hour_awake_or_unknown(self):
        self.assertEqual(len(self.sleeps([(0, 1), (60, 4), (70, 1), (90, 4)])), 2)
        self.assertEqual(len(self.sleeps([(0, 1), (60, 0), (119, 1), (150, 4)])), 1)
        self.assertEqual(len(self.sleeps([(0, 1), (60, 0), (120, 1), (150, 4)])), 2)
        self.assertEqual(self.sleeps([(0, 0), (30, 4)]), [])


class StateTests(ModuleCase):
    def test_an_address_says_where_the_page_is(self):
        for hash, place in {
            "": {"view": "today", "subject": None, "days": 30, "date": None},
            "#/trends?person=a%26b&days=90": {"view": "trends", "subject": {"kind": "person", "id": "a&b"}, "days": 90, "date": None},
            "#/intraday?band=x&date=2025-10-26": {"view": "intraday", "subject": {"kind": "band", "id": "x"}, "days": 30, "date": "2025-10-26"},
            "#/nonsense?days=31&date=2025-02-30": {"view": "today", "subject": None, "days": 30, "date": None},
        }.items():
            self.assertEqual(self.module("state", "m.parse(a[0])", hash), place, hash)
        for hash in ["#/trends?person=a%26b&days=90", "#/intraday?band=x&date=2025-10-26", "#/bands?person=p"]:
            self.assertEqual(self.module("state", "m.address(m.parse(a[0]))", hash), hash)

    def test_who_is_first(self):
        band = {"device_id": "band_1"}
        empty, filled, unknown = ({"person": person} | rest for person, rest in [
            ("p_empty", {"devices": []}), ("p_filled", {"devices": ["band_1"]}), ("p_unknown", {})])
        ids = "m.subjects(a[0], a[1]).map(({ id }) => id)"
        self.assertEqual(self.module("state", ids, [empty, filled, unknown], [band]), ["p_filled", "p_empty", "p_unknown", "band_1"])
        first = "m.firstOf(m.subjects(a[0], a[1]))?.id ?? null"
        self.assertEqual(self.module("state", first, [empty, filled], [band]), "p_filled")
        self.assertEqual(self.module("state", first, [empty, unknown], [band]), "band_1")
        self.assertEqual(self.module("state", first, [empty], []), "p_empty")
        self.assertIsNone(self.module("state", first, [], []))

    def test_a_token_is_cleaned_and_never_sent_broken(self):
        cases = {"abc": "abc", "  abc\n": "abc", "Bearer abc": "abc", "": None, "a b": None, "a\u00e9": None, "a\nb": None}
        self.assertEqual(self.module("session", "a[0].map(m.cleaned)", list(cases)), list(cases.values()))


class ApiTests(ModuleCase):
    def failure(self, status, body, headers=()):
        """What becomes of an answer: kind, text and the seconds to wait."""
        return self.call("""const { Api } = await import('/dashboard/api.js');
            const [status, body, headers] = arguments;
            const real = globalThis.fetch;
            globalThis.fetch = async () => (status === 0 ? Promise.reject(new TypeError('x')) : new Response(body, { status, headers }));
            try { return [null, JSON.stringify(await new Api('t').get('devices')), null]; }
            catch (error) { return [error.kind, error.text, error.retryAfter]; }
            finally { globalThis.fetch = real; }""", status, body, dict(headers))["value"]

    def test_what_an_answer_means(self):
        def error(code, message="m"):
            return '{"error": {"code": "%s", "message": "%s"}}' % (code, message)
        self.assertEqual(self.failure(200, '{"a": 1}'), [None, '{"a":1}', None])
        for status, body, kind in [
            (401, error("authentication_failed"), "refused"), (403, error("forbidden"), "refused"), (400, error("malformed"), "rejected"),
            (404, error("unknown_device"), "rejected"), (503, error("server_error"), "failing"), (502, "<html>", "failing"),
            (200, "<html>sign in to the network</html>", "odd"), (200, "7", "odd"), (404, "<html>", "odd"), (0, None, "unreachable"),
        ]:
            self.assertEqual(self.failure(status, body)[0], kind, f"{status} {body}")

    def test_how_long_to_wait(self):
        self.assertEqual(self.failure(429, "{}", {"Retry-After": "7"}), ["limited", "The server asks to wait 7 seconds: there were too many requests.", 7])
        self.assertEqual(self.failure(503, "{}", {"Retry-After": "99999"})[2], 300)
        self.assertIsNone(self.failure(503, "{}", {"Retry-After": "Fri, 07 Nov 2025 23:59:59 GMT"})[2])
