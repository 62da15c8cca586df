import GatewayModel

/// What people told the upload, as the upload's own thread sees it.
extension Outbox {
    public func record() throws(StoreError) -> UploadRecord {
        try storing("read how the upload went", path) { try UploadTable(database: database).read() }
    }

    /// Its time is over; one that was said meanwhile stays.
    public func endPause(_ pause: UploadPause) throws(StoreError) {
        try write("end a pause of the upload") { _ in try UploadTable(database: database).end(pause) }
    }

    /// The code of ingest API 1 by which the upload failed.
    public func noteError(_ code: String, at time: Timestamp) throws(StoreError) {
        try write("note a failure of the upload") { _ in
            try UploadTable(database: database).noteError(code, time)
        }
    }
}
