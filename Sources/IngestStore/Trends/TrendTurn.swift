import CivilTime
import IngestAPI
import Trends

/// Touched days of one device, computed on one snapshot.
struct TrendTurn: Sendable {
    private let device: DeviceKey
    /// What `touches` was then: another number means that something was touched since.
    private let touches: Int64
    private let type: APISampleType
    private let marks: ClosedRange<CivilDate>
    private let writes: [SQLCall]
    /// More is touched than this turn does.
    let isLast: Bool

    /// Nil when nothing of the device is touched. Takes up to `limit` days.
    init?(_ device: DeviceKey, days limit: Int, in session: any SQLSession) throws(StorageFailure) {
        guard let row = try DeviceRow.read(device, in: session), let type = row.touched.types.first,
            let range = row.touched.ranges(type).first
        else { return nil }
        let last = min(range.upperBound, range.lowerBound.advanced(by: limit - 1))
        let marks = range.lowerBound...last
        var rest = row.touched
        rest.subtract(type, marks)
        var writes: [SQLCall] = []
        let persons = try Self.persons(near: marks, type, row, device, in: session)
        for person in [nil] + persons.map(Optional.some) {
            let subject = TrendSubject(device: device, person: person, type: type)
            let source = TrendSource(session: session, subject: subject, offsets: row.offsets)
            // Days that share sleeps go together.
            let reached = type == .sleepStage ? try SleepWalk(source: source).dates(touchedOn: marks) : marks
            let dates = reached.filter { day in row.frozenThrough.map { day > $0 } ?? true }
            let days = try source.days(dates)
            writes += dates.map { TrendTable(subject: subject).put(days[$0], on: $0) }
        }
        self.device = device
        self.type = type
        self.marks = marks
        self.writes = writes
        touches = row.touches
        isLast = rest.isEmpty
    }

    /// Whoever has anything stored or recorded around these days: a bedside band has had many, few of them then.
    private static func persons(
        near marks: ClosedRange<CivilDate>, _ type: APISampleType, _ row: DeviceRow, _ device: DeviceKey,
        in session: any SQLSession
    ) throws(StorageFailure) -> [OpaqueID] {
        guard row.persons.count > 2 else { return row.persons }
        let near = marks.lowerBound.advanced(by: -reach)...marks.upperBound.advanced(by: reach)
        let everybody = TrendSubject(device: device, person: nil, type: type)
        let instants = TrendSource(session: session, subject: everybody, offsets: row.offsets).instants(
            of: near)
        let results = try session.run([
            SQLCall(
                DeviceStatement.trendPersons, device.value, .int(type.code), .int(near.lowerBound.days),
                .int(near.upperBound.days)),
            SQLCall(
                DeviceStatement.chunksBetween, device.value, .int(instants.lowerBound),
                .int(instants.upperBound)),
        ])
        var persons: Set<OpaqueID> = []
        for row in results[0].rows { persons.insert(OpaqueID(try row.text(0))) }
        for row in results[1].rows {
            for sample in try ChunkRows.samples(try row.bytes(1)) {
                if case .assigned(let person) = sample.person { persons.insert(person) }
            }
        }
        return persons.subtracting([""]).sorted()
    }

    /// Days that a sleep reaches at most, hardly ever more than one.
    private static let reach = 3

    /// What was touched since stays touched, and nothing is stored for it.
    var job: WriteJob<Bool> {
        WriteJob(device: device) { row, _ in
            guard var touched = row?.touched, row?.touches == touches else { return Decision(value: false) }
            touched.subtract(type, marks)
            let note = SQLCall(
                DeviceStatement.noteTouched, device.value, .text(touched.text), .int(touches &+ 1))
            return Decision(value: true, writes: writes + [note])
        }
    }
}
