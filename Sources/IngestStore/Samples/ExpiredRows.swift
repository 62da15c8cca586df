import SampleChunks

/// Keys of expired samples in their table. The rows of a ring never overlap in seqs.
enum ExpiredRows {
    static func around(_ seqs: ClosedRange<UInt32>, ring: Int64, _ device: DeviceKey) -> SQLCall {
        SQLCall(
            DeviceStatement.expiredAround, device.value, .int(ring), .int(seqs.lowerBound),
            .int(seqs.upperBound))
    }

    static func keys(_ results: some Sequence<SQLResult>) throws(StorageFailure) -> ExpiredKeys {
        var keys = ExpiredKeys()
        for result in results { for row in result.rows { keys.formUnion(try self.keys(row)) } }
        return keys
    }

    private static func keys(_ row: SQLRow) throws(StorageFailure) -> ExpiredKeys {
        do {
            return try ExpiredKeys(bytes: try row.bytes(2))
        } catch {
            throw StorageFailure(.damaged, "the keys of expired samples can't be read")
        }
    }

    /// A row joins the one before it while that has fewer bytes.
    private static let enoughBytes = 4096

    /// Adds keys to what a lookup of their span found.
    static func add(
        _ new: ExpiredKeys, to found: SQLResult, ring: Int64, _ device: DeviceKey
    ) throws(StorageFailure) -> [SQLCall] {
        guard let span = new.span else { return [] }
        var keys = new
        var writes: [SQLCall] = []
        for row in found.rows {
            let (first, last, old) = (try row.seq(0), try row.seq(1), try self.keys(row))
            guard last >= span.lowerBound || old.bytes.count < enoughBytes else { continue }
            keys.formUnion(old)
            writes.append(SQLCall(DeviceStatement.dropExpired, device.value, .int(ring), .int(first)))
        }
        guard let whole = keys.span else { return writes }
        return writes + [
            SQLCall(
                DeviceStatement.putExpired, device.value, .int(ring), .int(whole.lowerBound),
                .int(whole.upperBound),
                .bytes(keys.bytes))
        ]
    }
}
