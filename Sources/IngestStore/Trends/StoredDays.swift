import CivilTime
import IngestAPI
import Trends

/// Stored days of one device while some of them change.
struct StoredDays {
    private let table: TrendTable
    private let session: any SQLSession
    private var before: [CivilDate: [UInt8]] = [:]
    private var days: [CivilDate: DeviceDay] = [:]
    private var changed: Set<CivilDate> = []
    /// Another version of this program wrote them, or they are damaged: nothing of them is known.
    private(set) var unreadable: Set<CivilDate> = []

    init(_ device: DeviceKey, _ session: any SQLSession) {
        table = TrendTable(device: device)
        self.session = session
    }

    var persons: Set<OpaqueID> { days.values.reduce(into: []) { $0.formUnion($1.persons) } }

    mutating func load(_ dates: some Sequence<CivilDate>) throws(StorageFailure) {
        for run in dates.filter({ days[$0] == nil }).runs(longest: 64) {
            let contents = try table.contents(run, in: session)
            for date in run {
                days[date] = DeviceDay()
                guard let content = contents[date] else { continue }
                before[date] = content
                if let day = try? TrendCode.day(content, date: date) {
                    days[date] = day
                } else {
                    unreadable.insert(date)
                }
            }
        }
    }

    /// Of a date that was loaded.
    subscript(date: CivilDate) -> DeviceDay { days[date] ?? DeviceDay() }

    mutating func set(_ day: TrendDay?, _ type: APISampleType, _ person: OpaqueID?, on date: CivilDate) {
        days[date, default: DeviceDay()][type, person] = day
        changed.insert(date)
    }

    /// For the days that were set and are not as they were.
    var writes: [SQLCall] {
        changed.sorted().compactMap { date in
            let day = self[date]
            let content = day.isEmpty ? nil : TrendCode.bytes(day)
            return content == before[date] ? nil : table.put(content, on: date)
        }
    }
}
