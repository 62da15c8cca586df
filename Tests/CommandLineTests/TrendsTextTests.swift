import CivilTime
import CommandLineText
import IngestAPI
import Testing

private let wide = Terminal(width: 120)
private let first = CivilDate(year: 2026, month: 10, day: 24)

private func bucket(_ day: Int, _ hour: Int? = nil, minutes: Int = 1440, count: Int = 0) -> AggregateBucket {
    let date = first.advanced(by: day)
    let start = date.midnight(offsetMinutes: 60) + Int64(hour ?? 0) * 3_600_000
    return AggregateBucket(
        localDate: date, localHour: hour, start: APITime(milliseconds: start), offsetMinutes: 60,
        minutesInDay: minutes, count: count)
}

private func heart(_ day: Int, _ mean: Int, hour: Int? = nil, minutes: Int = 1440) -> AggregateBucket {
    var bucket = bucket(day, hour, minutes: minutes, count: 1440)
    (bucket.min, bucket.mean, bucket.max) = (mean - 15, Tenths(tenths: mean * 10 + 2), mean + 60)
    bucket.resting = Tenths(tenths: mean * 10 - 87)
    return bucket
}

private func steps(_ day: Int, _ sum: Int?) -> AggregateBucket {
    var bucket = bucket(day, count: sum == nil ? 0 : 3)
    bucket.sum = sum ?? 0
    return bucket
}

private func sleep(_ day: Int, _ tenths: [Int], count: Int = 9) -> AggregateBucket {
    var bucket = bucket(day, count: count)
    let minutes = tenths.map { Tenths(tenths: $0) }
    bucket.minutes = SleepMinutes(
        awake: minutes[0], light: minutes[1], deep: minutes[2], rem: minutes[3], outOfBed: minutes[4])
    return bucket
}

private func text(
    _ type: APISampleType, _ buckets: [AggregateBucket], by bucket: AggregateBucketSize = .day,
    title: String = "Anna", terminal: Terminal = wide
) -> String {
    TrendsText(title: title, list: AggregateList(type: type, bucket: bucket, buckets: buckets)).rendered(
        for: terminal)
}

@Suite struct TrendsTextTests {
    @Test("a line a day, a block a day, and a gap where there is nothing") func heartRate() {
        let text = text(.heartRate, [heart(0, 60), heart(1, 67), bucket(2), heart(3, 81)])
        #expect(
            text == """
                Anna: heart rate, beats per minute
                ▁▃·█
                DATE        RESTING  LOWEST  MEAN  HIGHEST  SAMPLES
                2026-10-24     51.3      45  60.2      120    1,440
                2026-10-25     58.3      52  67.2      127    1,440
                2026-10-26        ·
                2026-10-27     72.3      66  81.2      141    1,440

                """)
    }

    @Test("steps stand on zero") func stepsFromZero() {
        let text = text(.steps, [steps(0, 0), steps(1, 12_345), steps(2, nil), steps(3, 6000)])
        #expect(
            text == """
                Anna: steps
                ▁█·▄
                DATE         STEPS  SAMPLES
                2026-10-24       0        3
                2026-10-25  12,345        3
                2026-10-26       ·
                2026-10-27   6,000        3

                """)
    }

    @Test("half as many steps are half as high; none are lowest, and one kind of day is neither high nor low")
    func heights() {
        #expect(text(.steps, [steps(0, 3000), steps(1, 6000)]).contains("\n▅█\n"))
        #expect(text(.steps, [steps(0, 0), steps(1, 0)]).contains("\n▁▁\n"))
        #expect(text(.heartRate, [heart(0, 60), heart(1, 60)]).contains("\n▄▄\n"))
    }

    @Test("oxygen in percent") func oxygen() {
        var bucket = bucket(0, count: 1)
        (bucket.min, bucket.mean, bucket.max) = (940, Tenths(tenths: 9735), 990)
        let text = text(.spo2, [bucket])
        #expect(text.contains("oxygen saturation, percent\n▄\n"))
        #expect(text.contains("2026-10-24    94.0  97.4     99.0        1\n"))
    }

    @Test("sleep in hours and minutes, also on a day on which only a stage went on") func sleepStages() {
        let text = text(
            .sleepStage,
            [
                sleep(0, [305, 2400, 900, 1000, 100]), sleep(1, [0, 0, 0, 0, 0], count: 0),
                sleep(2, [0, 4, 0, 0, 0], count: 0),
            ])
        #expect(
            text == """
                Anna: sleep, hours and minutes
                █·▁
                DATE        ASLEEP  LIGHT  DEEP   REM  AWAKE  OUT OF BED
                2026-10-24    7:10   4:00  1:30  1:40   0:31        0:10
                2026-10-25       ·
                2026-10-26    0:00   0:00  0:00  0:00   0:00        0:00

                """)
    }

    @Test("the length of a day is shown when one is not as always") func length() {
        let text = text(.heartRate, [heart(0, 60), heart(1, 67, minutes: 1500)])
        #expect(text.contains("DATE        LENGTH  RESTING"))
        #expect(text.contains("2026-10-24   24:00") && text.contains("2026-10-25   25:00"))
    }

    @Test("by hour: a line of blocks a day, and the hours that have data") func hours() {
        let day = (0...23).map {
            $0 == 7 ? heart(0, 60, hour: 7) : $0 == 8 ? heart(0, 70, hour: 8) : bucket(0, $0)
        }
        let empty = (0...23).map { bucket(1, $0) }
        let text = text(.heartRate, day + empty, by: .hour)
        #expect(
            text == """
                Anna: heart rate, beats per minute
                2026-10-24  ·······▁█···············
                2026-10-25  ························
                HOUR              RESTING  LOWEST  MEAN  HIGHEST  SAMPLES
                2026-10-24 07:00     51.3      45  60.2      120    1,440
                2026-10-24 08:00     61.3      55  70.2      130    1,440

                """)
    }

    @Test("the zone's own empty hours are no holes between hours of another offset") func otherGrid() {
        // Samples of UTC+5:30, shown in a zone of whole hours: both grids are there.
        let ours = (0...23).map { bucket(0, $0) }
        let theirs = (6...8).map { hour -> AggregateBucket in
            var bucket = heart(0, 60, hour: hour)
            bucket.offsetMinutes = 90
            bucket.start = APITime(milliseconds: bucket.start.milliseconds - 1_800_000)
            return bucket
        }
        let all = (ours + theirs).sorted { $0.start < $1.start }
        // 05:30 to 08:30 are lived through: 05:00, 06:00, 07:00 and 08:00 reach into that.
        #expect(text(.heartRate, all, by: .hour).contains("2026-10-24  ·····▄▄▄···············\n"))
    }

    @Test("an hour that was lived twice says which") func repeated() {
        var second = heart(1, 61, hour: 1)
        second.offsetMinutes = -210
        let text = text(.heartRate, [heart(1, 60, hour: 1), second], by: .hour)
        #expect(text.contains("2026-10-25 01:00 +01:00 ") && text.contains("2026-10-25 01:00 -03:30 "))
    }

    @Test("nothing is said, not drawn") func nothing() {
        #expect(
            text(.steps, [steps(0, nil), steps(1, nil)])
                == "Anna: steps\nNothing from 2026-10-24 to 2026-10-25.\n")
        #expect(text(.steps, [steps(0, nil)]) == "Anna: steps\nNothing on 2026-10-24.\n")
        #expect(text(.steps, []) == "Anna: steps\nNo days.\n")
    }

    static let widths: [Int] = [20, 30, 40, 60, 120]

    @Test("no line is wider than the terminal", arguments: widths)
    func narrow(width: Int) {
        let terminal = Terminal(width: width)
        let days = (0..<45).map { heart($0, 60 + $0) }
        let byDay = text(.heartRate, days, title: "Anna Maria of the long name", terminal: terminal)
        let hours = (0..<30).map { heart(0, 60 + $0, hour: $0 % 24) }
        let byHour = text(.heartRate, hours, by: .hour, terminal: terminal)
        for line in (byDay + byHour).split(separator: "\n") { #expect(line.count <= width, "\(line)") }
        let blocks = Set("▁▂▃▄▅▆▇█")
        #expect(byDay.filter { blocks.contains($0) }.count == 45)
        #expect(byHour.filter { blocks.contains($0) }.count == 30)
    }

    @Test("no colour and no control characters but for a terminal that has them") func colour() {
        let plain = text(.steps, [steps(0, 5)], title: "An\u{1b}[31mna\n")
        #expect(!plain.contains("\u{1b}") && plain.hasPrefix("An?[31mna?: steps\n"))
        let coloured = text(
            .steps, [steps(0, 5)], terminal: Terminal(width: 80, isInteractive: true, hasColour: true))
        #expect(coloured.hasPrefix("\u{1b}[1mAnna: steps\u{1b}[0m\n"))
    }

    @Test("JSON is as the API's") func json() throws {
        let lists = [
            AggregateList(type: .heartRate, bucket: .day, buckets: [heart(0, 60), bucket(1)]),
            AggregateList(type: .heartRate, bucket: .hour, buckets: [heart(0, 60, hour: 5)]),
            AggregateList(type: .steps, bucket: .day, buckets: [steps(0, 5)]),
            AggregateList(type: .sleepStage, bucket: .day, buckets: [sleep(0, [5, 10, 15, 20, 25])]),
        ]
        for list in lists {
            let text = TrendsText.json(list).text
            #expect(try APIJSON.decode(AggregateList.self, from: Array(text.utf8)) == list)
            // Nothing but what the API has, and nothing that is null.
            let encoded = try APIJSON.encode(list)
            #expect(text.count == encoded.count)
        }
        let text = TrendsText.json(
            AggregateList(type: .steps, bucket: .day, buckets: []), subject: [("device_id", .string("a"))]
        ).text
        #expect(text == #"{"device_id":"a","type":"steps","bucket":"day","buckets":[]}"#)
    }
}
