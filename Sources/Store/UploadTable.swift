import GatewayModel
import SQLite

/// What people told the upload, and how it last went, over restarts.
struct UploadTable {
    let database: Database
    private let meta: MetaTable

    /// The row of `problems` that keeps the last failure; what is wrong now is only known while the daemon runs.
    private static let problemRow: Int64 = -1

    init(database: Database) {
        self.database = database
        meta = MetaTable(database: database)
    }

    func read() throws -> UploadRecord {
        func time(_ key: MetaTable.Key) throws -> Timestamp? {
            try meta.read(key).map { Timestamp(milliseconds: $0) }
        }
        let until = try time(.uploadPausedUntil)
        let failure = try BandTable(database: database).problem(band: Self.problemRow)
        return UploadRecord(
            pause: try time(.uploadPausedAt).map { UploadPause(since: $0, until: until) },
            lastSuccess: try time(.lastUpload), lastErrorCode: failure?.code, lastErrorAt: failure?.since)
    }

    func set(_ pause: UploadPause?) throws(SQLiteError) {
        try meta.write(.uploadPausedAt, pause?.since.milliseconds)
        try meta.write(.uploadPausedUntil, pause?.until?.milliseconds)
    }

    /// Only this pause: a person may have paused it anew meanwhile.
    func end(_ pause: UploadPause) throws {
        if try read().pause == pause { try set(nil) }
    }

    func noteSuccess(_ time: Timestamp) throws(SQLiteError) {
        try meta.write(.lastUpload, time.milliseconds)
    }

    func noteError(_ code: String, _ time: Timestamp) throws(SQLiteError) {
        let bands = BandTable(database: database)
        // The row keeps the time of a code that stays the same.
        try bands.setProblem(nil, band: Self.problemRow, now: time)
        try bands.setProblem(
            Problem(code: code, text: "", remedy: "", since: time), band: Self.problemRow, now: time)
    }
}

/// What is kept of the upload over restarts.
public struct UploadRecord: Equatable, Sendable {
    public var pause: UploadPause?
    public var lastSuccess: Timestamp?
    public var lastErrorCode: String?
    public var lastErrorAt: Timestamp?

    public init(
        pause: UploadPause? = nil, lastSuccess: Timestamp? = nil, lastErrorCode: String? = nil,
        lastErrorAt: Timestamp? = nil
    ) {
        self.pause = pause
        self.lastSuccess = lastSuccess
        self.lastErrorCode = lastErrorCode
        self.lastErrorAt = lastErrorAt
    }
}
