import GatewayModel
import SQLite
import Timekeeping

/// Rows of samples beside the server's statements.
extension Adoption {
    struct Row {
        var fields: DerivedFields
        var version: Int64
        var person: PersonID?
        /// The value of `samples.person`.
        var column: Int64?
    }

    /// What is stored under the key; nil when nothing is, or when the band gave something else there.
    func row(_ key: SampleKey, of sample: Sample) throws -> Row? {
        try database.first(
            """
            SELECT recorded_at, time_bound, time_uncertain, tz_offset, offset_source, person, version FROM samples
            WHERE key = ? AND value = ? AND band_time = ? AND clock_id = ? AND flags = ?
            """, .integer(key.packed), .int(sample.value), .integer(sample.bandTimeMilliseconds),
            .int(sample.clockID), .int(sample.flags)
        ) { row in
            let column = row.optionalInt64(5)
            return Row(
                fields: DerivedFields(
                    recordedAt: row.int64(0), bound: row.optionalInt64(1), isUncertain: row.bool(2),
                    offsetQuarterHours: row.optionalInt(3),
                    offsetSource: row.optionalInt(4).flatMap {
                        OffsetSource(rawValue: UInt8(truncatingIfNeeded: $0))
                    }),
                version: row.int64(6), person: try column.flatMap { try persons.person($0) }, column: column)
        }
    }

    /// What to write instead of `row`; nil when the server has the same, or something that gives way.
    func better(_ sample: Sample, than row: Row) throws -> Row? {
        var theirs = row
        theirs.version = Int64(sample.version)
        theirs.fields.recordedAt = sample.recordedAt.milliseconds
        theirs.fields.bound = sample.timeBoundMilliseconds.map(Int64.init)
        theirs.fields.isUncertain = sample.timeUncertain
        adoptOffset(sample.offsetMinutes, into: &theirs.fields)
        if case .person(let person) = sample.wearer { theirs.person = person } else { theirs.person = nil }
        guard
            Standing(version: theirs.version, fields: theirs.fields)
                >= Standing(version: row.version, fields: row.fields),
            theirs.fields != row.fields || theirs.version != row.version || theirs.person != row.person
        else { return nil }
        if theirs.person != row.person {
            theirs.column = try theirs.person.map { try persons.id(of: $0) } ?? PersonColumn.nobody
        }
        return theirs
    }

    /// What the band knew stays. An offset that is none of whole quarter hours can't be kept here.
    private func adoptOffset(_ minutes: Int?, into fields: inout DerivedFields) {
        guard fields.offsetSource != .band, minutes.map({ $0 % 15 == 0 }) ?? true else { return }
        let quarterHours = minutes.map { $0 / 15 }
        guard quarterHours != fields.offsetQuarterHours else { return }
        fields.offsetQuarterHours = quarterHours
        fields.offsetSource = quarterHours == nil ? nil : .elsewhere
    }
}
