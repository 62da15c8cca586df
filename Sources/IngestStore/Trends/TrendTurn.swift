import CivilTime
import IngestAPI
import Trends

/// Touched days of one device, of all types, computed on one snapshot.
struct TrendTurn: Sendable {
    private let device: DeviceKey
    /// What `touches` was then: another number means that something was touched since.
    private let touches: Int64
    private let marks: [Mark]
    private let writes: [SQLCall]
    /// More is touched than this turn does.
    let isLast: Bool

    private struct Mark: Sendable {
        let type: APISampleType
        let days: ClosedRange<CivilDate>
    }

    /// Nil when nothing of the device is touched. Takes up to `limit` days of each type.
    init?(_ device: DeviceKey, days limit: Int, in session: any SQLSession) throws(StorageFailure) {
        guard let row = try DeviceRow.read(device, in: session), !row.touched.isEmpty else { return nil }
        var rest = row.touched
        var marks: [Mark] = []
        for type in row.touched.types {
            guard let range = row.touched.ranges(type).first else { continue }
            let last = min(range.upperBound, range.lowerBound.advanced(by: limit - 1))
            marks.append(Mark(type: type, days: range.lowerBound...last))
            rest.subtract(type, range.lowerBound...last)
        }
        var days = ChangedDays(device, row, session)
        for mark in marks { try days.compute(mark.type, mark.days) }
        try days.computeUnreadable()
        self.device = device
        self.marks = marks
        writes = days.writes
        touches = row.touches
        isLast = rest.isEmpty
    }

    /// What was touched since stays touched, and nothing is stored for it.
    var job: WriteJob<Bool> {
        WriteJob(device: device) { row, _ in
            guard var touched = row?.touched, row?.touches == touches else { return Decision(value: false) }
            for mark in marks { touched.subtract(mark.type, mark.days) }
            let note = SQLCall(
                DeviceStatement.noteTouched, device.value, .text(touched.text), .int(touches &+ 1))
            return Decision(value: true, writes: writes + [note])
        }
    }
}

/// Days of one device while they are computed anew.
private struct ChangedDays {
    private let row: DeviceRow
    private let samples: DeviceSamples
    private var stored: StoredDays

    /// Days that a sleep reaches at most, hardly ever more than one.
    private static let reach = 3

    init(_ device: DeviceKey, _ row: DeviceRow, _ session: any SQLSession) {
        self.row = row
        samples = DeviceSamples(device, session)
        stored = StoredDays(device, session)
    }

    var writes: [SQLCall] { stored.writes }

    /// What changes with samples of these days.
    mutating func compute(_ type: APISampleType, _ touched: ClosedRange<CivilDate>) throws(StorageFailure) {
        for person in [nil] + (try persons(near: touched, type)).map(Optional.some) {
            let source = source(type, person)
            // Days that share sleeps go together.
            let reached =
                type == .sleepStage ? try SleepWalk(source: source).dates(touchedOn: touched) : touched
            try compute(Array(reached), source)
        }
    }

    /// A day that can't be read is stored anew as a whole, or what it had of other types would be gone.
    mutating func computeUnreadable() throws(StorageFailure) {
        for date in stored.unreadable.sorted() {
            for type in APISampleType.allCases {
                for person in [nil] + (try persons(near: date...date, type)).map(Optional.some) {
                    try compute([date], source(type, person))
                }
            }
        }
    }

    private mutating func compute(_ dates: [CivilDate], _ source: TrendSource) throws(StorageFailure) {
        let (type, person) = (source.subject.type, source.subject.person)
        let dates = dates.filter { day in row.frozenThrough.map { day > $0 } ?? true }
        try stored.load(dates)
        // Most bands have one wearer: what all samples come to is what that one's do.
        if person != nil, samples.onlyWearer(type) == person {
            for date in dates { stored.set(stored[date][type, nil], type, person, on: date) }
            return
        }
        let days = try source.days(dates)
        for date in dates { stored.set(days[date], type, person, on: date) }
    }

    private func source(_ type: APISampleType, _ person: OpaqueID?) -> TrendSource {
        TrendSource(
            kept: samples, subject: TrendSubject(person: person, type: type), offsets: row.offsets)
    }

    /// Whoever has anything stored or recorded around these days: a bedside band has had many, few of them then.
    private mutating func persons(
        near days: ClosedRange<CivilDate>, _ type: APISampleType
    ) throws(StorageFailure) -> [OpaqueID] {
        guard row.persons.count > 2 else { return row.persons }
        let near = days.lowerBound.advanced(by: -Self.reach)...days.upperBound.advanced(by: Self.reach)
        try stored.load(near)
        let recorded = try samples.persons(type, source(type, nil).instants(of: near))
        return recorded.union(stored.persons).sorted()
    }
}
