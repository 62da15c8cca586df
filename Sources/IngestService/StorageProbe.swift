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
        if let age = await writer.sinceLastSuccess(), age < Self.freshness { return }
        try await writer.perform { [now] database in
            try database.run(
                """
                INSERT INTO probe (id, written_ms) VALUES (1, ?)
                ON CONFLICT DO UPDATE SET written_ms = excluded.written_ms
                """, .integer(now().milliseconds))
        }
    }

    /// Nil when the file system does not say.
    private var freeBytes: UInt64? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        return UInt64(status.f_bavail) * UInt64(status.f_frsize)
    }
}
