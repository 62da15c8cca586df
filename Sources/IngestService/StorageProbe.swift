import Glibc
import SQLite

extension SQLiteIngestStorage {
    /// A success younger than this answers for the next one: anybody may ask, and each answer costs a sync.
    private static let freshness = Duration.milliseconds(250)
    /// Room for one full batch in the write-ahead log.
    private static let leastFreeBytes: UInt64 = 1 << 20

    public func probe() async throws(StorageFailure) {
        // The log may have room that was taken before the disk filled up: a small write alone proves little.
        if let free = freeBytes, free < Self.leastFreeBytes {
            throw StorageFailure(.unavailable, "under 1 MiB is free where \(path) lies")
        }
        guard await !writer.roomIsInDoubt else {
            try await write(padding: Self.leastFreeBytes)
            try await write(padding: nil)
            return
        }
        if let age = await writer.sinceLastSuccess(), age < Self.freshness { return }
        try await write(padding: nil)
    }

    private func write(padding: UInt64?) async throws(StorageFailure) {
        try await writer.perform(provesRoom: padding != nil) { [now] database in
            try database.run(
                """
                INSERT INTO probe (id, written_ms, padding) VALUES (1, ?1, zeroblob(?2))
                ON CONFLICT DO UPDATE SET written_ms = excluded.written_ms, padding = excluded.padding
                """, .integer(now().milliseconds), .int(padding ?? 0))
        }
    }

    /// Nil when the file system does not say.
    private var freeBytes: UInt64? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        return UInt64(status.f_bavail) * UInt64(status.f_frsize)
    }
}
