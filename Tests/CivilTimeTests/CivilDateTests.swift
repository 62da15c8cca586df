import CivilTime
import Testing

@Suite struct CivilDateTests {
    static let texts: [(String, Int)] = [
        ("1970-01-01", 0), ("1969-12-31", -1), ("2000-02-29", 11_016), ("2026-10-27", 20_753),
        ("0000-01-01", -719_528), ("9999-12-31", 2_932_896),
    ]

    @Test("a date is a number of days, and its text both ways", arguments: texts)
    func text(text: String, days: Int) {
        #expect(CivilDate(text)?.days == days)
        #expect(CivilDate(days: days).description == text)
    }

    static let noDates: [String] = [
        "", "2026-10-2", "2026-10-271", "26-10-27", "2026-1-27", "2026/10/27", "2026-13-01", "2026-00-10",
        "2026-02-29", "2026-04-31", "2026-10-00", "2026-10-27T", " 026-10-27", "+026-10-27", "2026-1a-27",
        "٢٠٢٦-10-27",
    ]

    @Test("anything else is no date", arguments: noDates)
    func noDate(text: String) { #expect(CivilDate(text) == nil) }

    @Test("days follow each other as months and leap years have it") func calendar() {
        let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        var date = CivilDate(year: 1899, month: 1, day: 1)
        for year in 1899...2101 {
            let isLeap = year % 4 == 0 && year != 1900 && year != 2100
            for month in 1...12 {
                for day in 1...(lengths[month - 1] + (month == 2 && isLeap ? 1 : 0)) {
                    #expect((date.year, date.month, date.day) == (year, month, day))
                    #expect(CivilDate(year: year, month: month, day: day) == date)
                    #expect(CivilDate(date.description) == date)
                    date = date.advanced(by: 1)
                }
            }
        }
    }

    @Test("what is beyond four digits is the nearest that can be written") func bounds() {
        #expect(CivilDate(days: .max).description == "9999-12-31")
        #expect(CivilDate(days: .min).description == "0000-01-01")
    }

    @Test("an instant falls on the day that the clock shows") func instants() {
        let midnight = CivilDate(year: 2026, month: 10, day: 27).midnight(offsetMinutes: 330)
        #expect(midnight == 1_793_039_400_000)
        #expect(CivilDate(milliseconds: midnight, offsetMinutes: 330).description == "2026-10-27")
        #expect(CivilDate(milliseconds: midnight - 1, offsetMinutes: 330).description == "2026-10-26")
        #expect(CivilDate(milliseconds: midnight, offsetMinutes: 329).description == "2026-10-26")
        #expect(CivilDate(milliseconds: -1, offsetMinutes: 0).description == "1969-12-31")
    }
}
