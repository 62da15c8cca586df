import CivilTime
import IngestAPI
import SQLite
import Trends

/// Computes the days of one subject from its samples.
struct TrendSource {
    let database: Database
    let subject: TrendSubject
    /// Offsets that a sample of the device may have, and 0.
    private let offsets: ClosedRange<Int>

    /// Days that are computed at once: bounds the samples in memory.
    private static let stride = 16

    init(database: Database, subject: TrendSubject) throws {
        self.database = database
        self.subject = subject
        let known = try database.first(
            "SELECT least_offset_min, greatest_offset_min FROM devices WHERE id = ?", .integer(subject.device)
        ) { $0.int(0)...$0.int(1) }
        offsets = known ?? 0...0
    }

    /// What the samples of each of `dates` come to; a date without any is absent.
    func days(_ dates: [CivilDate], zone: ZoneRules? = nil) throws -> [CivilDate: TrendDay] {
        var days: [CivilDate: TrendDay] = [:]
        for run in dates.runs(longest: Self.stride) {
            for (date, day) in try compute(run, zone: zone) where run.contains(date) { days[date] = day }
        }
        return days
    }

    private func compute(_ dates: ClosedRange<CivilDate>, zone: ZoneRules?) throws -> [CivilDate: TrendDay] {
        guard subject.type == .sleepStage else {
            let samples = try samples(instants(of: dates, zoned: zone != nil))
            return TrendDays.compute(type: subject.type, samples: samples, zone: zone)
        }
        let gaps = try GapTable(database: database).intervals(device: subject.device)
        let samples = try samples(SleepWalk(source: self).instants(of: dates, gaps: gaps))
        return TrendDays.compute(type: .sleepStage, samples: samples, gaps: gaps, zone: zone)
    }

    /// All instants that may fall on these dates, by the offset of a sample of this device or by any zone.
    func instants(of dates: ClosedRange<CivilDate>, zoned: Bool = false) -> Range<Int64> {
        let offsets = zoned ? APISample.validOffsets : offsets
        let first = dates.lowerBound.midnight(offsetMinutes: offsets.upperBound)
        let last = dates.upperBound.midnight(offsetMinutes: offsets.lowerBound)
        return first..<last + millisecondsPerDay
    }

    /// All dates on which these instants may fall.
    func dates(of instants: Range<Int64>) -> ClosedRange<CivilDate> {
        CivilDate(
            milliseconds: instants.lowerBound, offsetMinutes: offsets.lowerBound)...CivilDate(
                milliseconds: instants.upperBound, offsetMinutes: offsets.upperBound)
    }

    /// In the order that trends take them.
    func samples(_ instants: Range<Int64>) throws -> [TrendSample] {
        try database.all(
            Self.select, .integer(subject.device), .integer(instants.lowerBound),
            .integer(instants.upperBound), .int(subject.type.code), .integer(subject.person)
        ) { TrendSample(recordedAt: $0.int64(0), offsetMinutes: $0.optionalInt(1), value: $0.int(2)) }
    }

    /// What `TrendPlace` takes. The index by device and time has the type too, so only rows of it are looked up: in a
    /// table without rowids SQLite would else look up each row before it compares the type.
    private static let select = """
        SELECT s.recorded_at_ms, s.tz_offset_min, s.value
        FROM samples k INDEXED BY samples_by_time CROSS JOIN samples s
            ON s.device_id = k.device_id AND s.ring = k.ring AND s.type = k.type AND s.seq = k.seq
        WHERE k.device_id = ?1 AND k.recorded_at_ms >= ?2 AND k.recorded_at_ms < ?3 AND k.type = ?4
            AND NOT s.time_uncertain AND (k.type <> 1 OR s.flags & 1) AND (?5 = 0 OR s.person_id = ?5)
        ORDER BY k.recorded_at_ms, k.ring, k.seq
        """
}

extension [CivilDate] {
    /// Dates in order as ranges without holes, none of them longer than `longest` days.
    func runs(longest: Int) -> [ClosedRange<CivilDate>] {
        var runs: [ClosedRange<CivilDate>] = []
        for date in self {
            if let last = runs.last, last.upperBound.distance(to: date) <= 1,
                last.lowerBound.distance(to: date) < longest
            {
                runs[runs.count - 1] = last.lowerBound...date
            } else {
                runs.append(date...date)
            }
        }
        return runs
    }
}
