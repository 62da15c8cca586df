import GatewayModel
import SQLite

/// A band's pause after failures, as it outlives a restart.
public struct StoredPause: Equatable, Sendable {
    /// In a row.
    public var failures: Int
    /// From the last failure to the next try.
    public var milliseconds: Int64
    /// By the wall clock, which may have been stepped since: it may only ever shorten the pause.
    public var failedAt: Timestamp

    public init(failures: Int, milliseconds: Int64, failedAt: Timestamp) {
        self.failures = failures
        self.milliseconds = milliseconds
        self.failedAt = failedAt
    }
}

struct PauseTable {
    let database: Database

    func read(band: Int64) throws -> StoredPause? {
        try database.first(
            "SELECT failures, pause, failed_at FROM band_pauses WHERE band = ?", .integer(band)
        ) {
            StoredPause(
                failures: $0.int(0), milliseconds: $0.int64(1), failedAt: Timestamp(milliseconds: $0.int64(2))
            )
        }
    }

    func write(_ pause: StoredPause?, band: Int64) throws(SQLiteError) {
        guard let pause else {
            return try database.run("DELETE FROM band_pauses WHERE band = ?", .integer(band))
        }
        try database.run(
            """
            INSERT INTO band_pauses VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET failures = excluded.failures,
                pause = excluded.pause, failed_at = excluded.failed_at
            """, .integer(band), .int(pause.failures), .integer(pause.milliseconds),
            .integer(pause.failedAt.milliseconds))
    }
}

extension Store {
    /// Nil = its last connection did not fail, or only once.
    public func pause(of device: DeviceID) throws(StoreError) -> StoredPause? {
        try read("look up a pause") { engine in
            try PauseTable(database: engine.database).read(band: try engine.bands.require(device))
        }
    }

    public func setPause(_ pause: StoredPause?, of device: DeviceID) throws(StoreError) {
        try write("note a pause") { engine, _ in
            try PauseTable(database: engine.database).write(pause, band: try engine.bands.require(device))
        }
    }
}
