import CivilTime
import IngestAPI
import SampleChunks
import Trends

/// The stored days of one subject.
struct TrendTable {
    let subject: TrendSubject

    struct Stored {
        /// Nil when another version of this program wrote it in a way that this one can't read.
        var day: TrendDay?
        /// A zone could move some of its samples to another day.
        var floats: Bool
    }

    func stored(
        _ dates: ClosedRange<CivilDate>, in session: any SQLSession
    ) throws(StorageFailure) -> [CivilDate: Stored] {
        let rows = try session.rows(
            SQLCall(
                DeviceStatement.trendDays, subject.device.value, subject.personValue, .int(subject.type.code),
                .int(dates.lowerBound.days), .int(dates.upperBound.days)))
        var days: [CivilDate: Stored] = [:]
        for row in rows {
            let date = CivilDate(days: try row.int(0))
            days[date] = Stored(
                day: TrendCode.day(try row.text(2), type: subject.type, date: date),
                floats: try row.int(1) > 0)
        }
        return days
    }

    /// Nil: nothing is left of the day.
    func put(_ day: TrendDay?, on date: CivilDate) -> SQLCall {
        guard let day else {
            return SQLCall(
                DeviceStatement.dropTrendDay, subject.device.value, subject.personValue,
                .int(subject.type.code), .int(date.days))
        }
        return SQLCall(
            DeviceStatement.putTrendDay, subject.device.value, subject.personValue, .int(subject.type.code),
            .int(date.days), .int(day.withoutOffset), .text(TrendCode.text(day)))
    }
}
