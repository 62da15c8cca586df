import IngestAPI

/// What is shown of a device, its rings aside: a row of `DeviceStatement.shown`.
struct ShownDevice: Sendable {
    let key: DeviceKey
    /// How many it has.
    let rings: Int
    private let maxVersion: Int
    private let times: ClosedRange<Int64>?
    /// JSON, as the gateway put it.
    private let report: String?

    init(_ row: SQLRow, _ key: DeviceKey) throws(StorageFailure) {
        try key.check(account: try row.text(0), name: try row.text(1))
        self.key = key
        maxVersion = try row.int(2)
        times = DeviceRow.span([
            try row.optionalInt64(3), try row.optionalInt64(4), try row.optionalInt64(5),
            try row.optionalInt64(6),
        ])
        report = try row.optionalText(7)
        rings = try row.int(8)
    }

    /// With the rows of its rings.
    func state(_ rows: [SQLRow]) throws(StorageFailure) -> DeviceState {
        let rings = try rows.map { row throws(StorageFailure) in try RingLedger(row) }
        var counts: [String: Int] = [:]
        for (type, keys) in rings.flatMap(\.keys) { counts[type.rawValue, default: 0] += keys.count }
        return DeviceState(
            deviceID: key.name, rings: rings.map(\.state), maxVersion: maxVersion,
            firstRecordedAt: (times?.lowerBound).map(APITime.init(milliseconds:)),
            lastRecordedAt: (times?.upperBound).map(APITime.init(milliseconds:)), counts: counts,
            status: try report.map { text throws(StorageFailure) in try JSONColumn.value(text) })
    }
}

/// A part of an account's devices, in the order of their names.
struct DevicePage: Sendable {
    var states: [DeviceState] = []
    /// Devices and rings that the list has room for after it.
    var room: Int
    /// The others come after this name; nil = there are none.
    var next: String?
}
