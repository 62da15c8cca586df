import IngestAPI

/// Reads what is known of devices.
struct DeviceReads {
    let session: any SQLSession

    /// Devices that are read with one call: a round trip for each of them would take too long where the database is far away.
    static let together = 256
    /// Rings that are read with one call, unless they are one device's: what is in hand is bounded.
    static let ringsTogether = 8192

    /// `together` devices of the account at most, those whose names come after `name`. `.full` when they and their rings are
    /// more than `room`.
    func page(of account: String, after name: String, room: Int) throws(StorageFailure) -> DevicePage {
        let names = try session.rows(
            SQLCall(AccountStatement.devices, .text(account), .text(name), .int(Self.together))
        ).map { row throws(StorageFailure) in try row.text(0) }
        let keys = names.map { DeviceKey(account: account, name: $0) }
        let rows = try session.run(keys.map { SQLCall(DeviceStatement.shown, $0.value) }).map(\.rows.first)
        var page = DevicePage(room: room, next: names.count < Self.together ? nil : names.last)
        var devices: [ShownDevice] = []
        for (key, row) in zip(keys, rows) {
            guard let row else { continue }
            let device = try ShownDevice(row, key)
            page.room -= 1 + device.rings
            devices.append(device)
        }
        // Before their rings are read.
        guard page.room >= 0 else { throw .longList }
        for places in Self.groups(devices.map(\.rings), limit: Self.ringsTogether) {
            let group = devices[places]
            let rings = try session.run(group.map { SQLCall(DeviceStatement.rings, $0.key.value) })
            for (device, result) in zip(group, rings) { page.states.append(try device.state(result.rows)) }
        }
        return page
    }

    /// Neighbours whose counts come to `limit` at most, or one alone.
    static func groups(_ counts: [Int], limit: Int) -> [Range<Int>] {
        var groups: [Range<Int>] = []
        var (start, sum) = (0, 0)
        for (place, count) in counts.enumerated() {
            if place > start, sum + count > limit {
                groups.append(start..<place)
                (start, sum) = (place, 0)
            }
            sum += count
        }
        if start < counts.count { groups.append(start..<counts.count) }
        return groups
    }

    func state(_ key: DeviceKey) throws(StorageFailure) -> DeviceState? {
        let results = try session.run([
            SQLCall(DeviceStatement.shown, key.value), SQLCall(DeviceStatement.rings, key.value),
        ])
        guard let row = results.first?.rows.first else { return nil }
        return try ShownDevice(row, key).state(results.last?.rows ?? [])
    }
}

extension SQLSession {
    /// All rows of an account, where they are not more than an answer has room for.
    func list(_ statement: AccountStatement, _ account: String) throws(StorageFailure) -> [SQLRow] {
        let rows = try rows(SQLCall(statement, .text(account), .int(IngestAPI.maxListEntries + 1)))
        guard rows.count <= IngestAPI.maxListEntries else { throw .longList }
        return rows
    }
}
