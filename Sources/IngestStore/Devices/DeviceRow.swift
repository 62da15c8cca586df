import CivilTime
import IngestAPI

/// What is known of a device beside its rings, samples and gaps.
struct DeviceRow: Equatable, Sendable {
    let account: String
    let name: String
    var maxVersion: Int
    /// Offsets that its samples ever had, and 0: they bound the instants of a civil day.
    var offsets: ClosedRange<Int>
    /// Whoever ever wore it.
    var persons: [OpaqueID]
    var touched: TouchedDays
    /// Rises with each change of `touched`.
    var touches: Int64
    /// Trends up to here are as they were: the samples may have expired.
    var frozenThrough: CivilDate?
    /// The earliest and the latest time of its samples; milliseconds since 1970. Some may have expired since.
    var firstTime: Int64?
    var lastTime: Int64?
    /// The same of samples that have expired.
    var expiredFirst: Int64?
    var expiredLast: Int64?
    /// JSON, as the gateway put it.
    var report: String?
    var leaseHolder: OpaqueID?
    var leaseExpires: Int64?

    init(_ row: SQLRow) throws(StorageFailure) {
        account = try row.text(0)
        name = try row.text(1)
        maxVersion = try row.int(2)
        let (least, greatest) = (try row.int(3), try row.int(4))
        offsets = min(least, greatest)...max(least, greatest)
        persons = try row.text(5).split(separator: "\n").map { OpaqueID(String($0)) }
        touched = TouchedDays(text: try row.text(6))
        touches = try row.int64(7)
        frozenThrough = try row.optionalInt(8).map { CivilDate(days: $0) }
        expiredFirst = try row.optionalInt64(9)
        report = try row.optionalText(10)
        leaseHolder = try row.optionalText(11).map { OpaqueID($0) }
        leaseExpires = try row.optionalInt64(12)
        firstTime = try row.optionalInt64(13)
        lastTime = try row.optionalInt64(14)
        expiredLast = try row.optionalInt64(15)
    }

    /// From the first to the last time that any sample of it ever was recorded at, as far as is known.
    var times: ClosedRange<Int64>? {
        Self.span([firstTime, lastTime, expiredFirst, expiredLast])
    }

    /// From the first to the last of those that are known.
    static func span(_ times: [Int64?]) -> ClosedRange<Int64>? {
        let known = times.compactMap { $0 }
        guard let first = known.min(), let last = known.max() else { return nil }
        return first...last
    }

    func check(_ key: DeviceKey) throws(StorageFailure) { try key.check(account: account, name: name) }

    static func read(_ key: DeviceKey, in session: any SQLSession) throws(StorageFailure) -> DeviceRow? {
        guard let row = try session.first(SQLCall(DeviceStatement.read, key.value)) else { return nil }
        let device = try DeviceRow(row)
        try device.check(key)
        return device
    }

    /// An id of a person holds no control character.
    var personsText: String { persons.map(\.text).joined(separator: "\n") }
}
