import CivilTime

/// The stored days of one device, a row each.
struct TrendTable {
    let device: DeviceKey

    func contents(
        _ dates: ClosedRange<CivilDate>, in session: any SQLSession
    ) throws(StorageFailure) -> [CivilDate: [UInt8]] {
        let rows = try session.rows(
            SQLCall(
                DeviceStatement.trendDays, device.value, .int(dates.lowerBound.days),
                .int(dates.upperBound.days)))
        var contents: [CivilDate: [UInt8]] = [:]
        for row in rows { contents[CivilDate(days: try row.int(0))] = try row.bytes(1) }
        return contents
    }

    /// Nil: nothing is left of the day.
    func put(_ content: [UInt8]?, on date: CivilDate) -> SQLCall {
        guard let content else {
            return SQLCall(DeviceStatement.dropTrendDay, device.value, .int(date.days))
        }
        return SQLCall(DeviceStatement.putTrendDay, device.value, .int(date.days), .bytes(content))
    }
}
