import CivilTime

/// A line of `zones.py days`. Times in milliseconds since 1970 UTC here.
struct PythonZone: Decodable {
    struct Change: Equatable {
        var at: Int64
        var before: Int
        var after: Int
    }

    struct Day: Equatable {
        var date: CivilDate
        var start: Int64
        var offset: Int
        var minutes: Int
    }

    struct Hour: Equatable {
        var hour: Int
        var offset: Int
        var start: Int64
        /// Less than 60 where the clocks change within the hour.
        var minutes: Int
    }

    var zone: String
    var changes: [Change]
    var days: [Day]
    /// Of the days with a change and those beside them.
    var hours: [CivilDate: [Hour]]

    private enum Key: String, CodingKey {
        case zone, changes, days, hours
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        zone = try container.decode(String.self, forKey: .zone)
        changes = try container.decode([[Int64]].self, forKey: .changes).map {
            Change(at: $0[0] * 1000, before: Int($0[1]), after: Int($0[2]))
        }
        days = try container.decode([PythonDay].self, forKey: .days).map(\.day)
        hours = [:]
        for (text, hours) in try container.decode([String: [[Int64]]].self, forKey: .hours) {
            guard let date = CivilDate(text) else { continue }
            self.hours[date] = hours.map {
                Hour(hour: Int($0[0]), offset: Int($0[1]), start: $0[2] * 1000, minutes: Int($0[3]))
            }
        }
    }
}

/// `[date, start, offset, minutes]`.
private struct PythonDay: Decodable {
    var day: PythonZone.Day

    init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        let date = try container.decode(CivilDate.self)
        let start = try container.decode(Int64.self) * 1000
        let offset = try container.decode(Int.self)
        day = PythonZone.Day(
            date: date, start: start, offset: offset, minutes: try container.decode(Int.self))
    }
}
